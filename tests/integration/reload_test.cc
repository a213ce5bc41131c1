// A new configuration is in force as a whole, or the old one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "os/owned_fd.h"
#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOk = 0;

// What a reload must not change if any part of it fails: HTTP at a port, and what is not recorded.
class DaemonReload : public ServiceTest {
 protected:
  void StartServing(const std::string& more = "") {
    StartDaemon(HttpSection(port_) + "[record]\nexclude_comms = [\"w_*\"]\n" + more);
    AwaitLog("HTTP at 127.0.0.1:");
  }
  static int StatusAt(int port) {
    httplib::Client client("127.0.0.1", port);
    const httplib::Result result = client.Get("/healthz");
    return result ? result->status : 0;
  }
  // Once more: a reload that fails like this.
  void ExpectRefused(const std::string& why) {
    const std::string line = "error: the old configuration stays in effect: " + why;
    const size_t before = CountInLog(line);
    daemon_->Signal(SIGHUP);
    AwaitLog(line, before + 1);
    EXPECT_EQ(CountInLog("the new configuration is in effect"), 0u) << ReadFile(Path("log"));
    EXPECT_EQ(StatusAt(port_), 200) << why;
  }
  void ExpectEnds() {
    daemon_->Signal(SIGTERM);
    EXPECT_EQ(daemon_->Wait(), kOk) << ReadFile(Path("log"));
  }
  // In place of what is there.
  void Replace(const std::string& path, const std::function<void(const char*)>& make) {
    std::filesystem::remove_all(path);
    make(path.c_str());
  }

  const int port_ = FreePort();
};

// Neither is an empty configuration, nor does it keep the service from anything.
TEST_F(DaemonReload, WhatIsNoFileIsNoConfiguration) {
  StartServing();
  const std::string config = Path("offcpud.toml");
  Replace(config, [](const char* path) { std::filesystem::create_directory(path); });
  ExpectRefused(config + " is a directory: must be a regular file");
  Replace(config, [](const char* path) { EXPECT_EQ(mkfifo(path, 0600), 0); });
  ExpectRefused(config + " is a FIFO: must be a regular file");
  Replace(config, [](const char* path) { std::filesystem::create_symlink("/dev/zero", path); });
  ExpectRefused(config + " is a device: must be a regular file");
  Replace(config, [](const char* path) { std::ofstream(path) << "#"; });
  std::filesystem::resize_file(config, 300u << 20);
  ExpectRefused(config + " is larger than 1 MiB");
  Replace(config, [](const char*) {});
  ExpectRefused(config + " cannot be read: No such file or directory");
  ExpectEnds();
}

TEST_F(DaemonReload, NeitherAreFilesThatItNames) {
  const std::string fifo = Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  StartServing();
  const std::string named = " = \"" + fifo + "\"\n";
  const std::string collector = "[export]\nspool = \"\"\nendpoint = \"https://127.0.0.1:1\"\n";
  for (const std::string& part :
       {"bearer_token_file" + named, "certificate" + named + "key" + named, "[idle]\npatterns = [\"" + fifo + "\"]\n",
        collector + "bearer_token_file" + named, collector + "ca_file" + named,
        collector + "client_certificate" + named + "client_key" + named}) {
    WriteConfig(HttpSection(port_) + part);
    ExpectRefused(fifo + " is a FIFO: must be a regular file");
  }
  ExpectEnds();
}

TEST_F(DaemonReload, APortInUseLeavesAllAsItWas) {
  StartServing();
  httplib::Server other;
  const int taken = FreePort();
  ASSERT_TRUE(other.bind_to_port("127.0.0.1", taken));
  WriteConfig("[windows]\nkeep = 7\n" + HttpSection(taken));
  ExpectRefused("cannot listen at 127.0.0.1:" + std::to_string(taken) + ": the port is in use");
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  EXPECT_THAT(output_, Not(HasSubstr("\"windows_limit\":7,")));
  // What fails later than the port takes it back.
  const int free = FreePort();
  WriteConfig(HttpSection(free) + "[record]\ncgroups = [\"/none/such\"]\n");
  ExpectRefused("no cgroup");
  EXPECT_EQ(StatusAt(free), 0);
  WriteConfig(HttpSection(port_) + "[files]\ndirectory = \"" + Path("none/files") + "\"\n");
  ExpectRefused("cannot make the directory " + Path("none/files"));
  ExpectEnds();
}

TEST_F(DaemonReload, AnotherPortIsHadAndTheSameIsKept) {
  StartServing();
  const OwnedFd connected(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = {.sin_family = AF_INET,
                               .sin_port = htons(static_cast<uint16_t>(port_)),
                               .sin_addr = {htonl(INADDR_LOOPBACK)},
                               .sin_zero = {}};
  ASSERT_EQ(connect(connected.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(send(connected.get(), "GET /debug/pprof/offcpu?seconds=2 HTTP/1.0\r\n\r\n", 46, 0), 46);
  WriteConfig(HttpSection(port_) + "[windows]\nkeep = 7\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in effect");
  std::string answer(12, '\0');
  EXPECT_EQ(recv(connected.get(), answer.data(), answer.size(), MSG_WAITALL), 12);
  EXPECT_EQ(answer, "HTTP/1.1 200") << "who was waiting is answered";
  const int next = FreePort();
  WriteConfig(HttpSection(next));
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in effect", 2);
  EXPECT_EQ(StatusAt(next), 200);
  EXPECT_EQ(StatusAt(port_), 0);
  WriteConfig("");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in effect", 3);
  EXPECT_EQ(StatusAt(next), 0);
}

}  // namespace
}  // namespace offcpu::integration

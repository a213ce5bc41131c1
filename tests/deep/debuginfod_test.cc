// Names and lines from a real server of debuginfod, on the loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "os/owned_fd.h"
#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSource[] =
    "#include <unistd.h>\n"
    "static inline __attribute__((always_inline)) void deep(int n) { usleep(20000 + n); }\n"
    "__attribute__((noinline)) void work(int n) { deep(n); asm volatile(\"\"); }\n"
    "int main() { for (int i = 0; i < 1000; ++i) work(i); }\n";

// A free port, most likely still free when the server takes it.
int FreePort() {
  const OwnedFd fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t length = sizeof(address);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return ntohs(address.sin_port);
}

class DebuginfodServer : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (RunWords({"sh", "-c", "command -v debuginfod g++ curl"}) != 0) GTEST_SKIP() << "needs debuginfod, g++ and curl";
    std::ofstream(Path("program.cc")) << kSource;
    std::filesystem::create_directory(Path("debug"));
    const std::string make = "cd " + Path("") +
                             " && g++ -O2 -g program.cc -Wl,--build-id=sha1 -o full && "
                             "objcopy --only-keep-debug full debug/program.debug && strip full -o program";
    ASSERT_EQ(RunWords({"sh", "-c", make}), 0) << errors_;
    setenv("no_proxy", "127.0.0.1", 1);
    setenv("DEBUGINFOD_CACHE_PATH", Path("cache").c_str(), 1);
    url_ = "http://127.0.0.1:" + std::to_string(port_);
    setenv("DEBUGINFOD_URLS", url_.c_str(), 1);
  }

  // It would ask itself for what it does not know.
  void StartServer() {
    server_ = Program::Start({"env", "-u", "DEBUGINFOD_URLS", "HOME=" + Path(""), "debuginfod", "-F", "-d",
                              ":memory:", "-p", std::to_string(port_), Path("debug")},
                             Path("server"));
    ASSERT_NE(server_, nullptr);
    // Until it has looked at the file.
    const std::string look = "id=$(readelf -n " + Path("full") + " | sed -n 's/.*Build ID: //p'); until curl -sf -o " +
                             Path("asked") + " " + url_ + "/buildid/$id/debuginfo; do sleep 0.1; done";
    ASSERT_EQ(RunWords({"timeout", "30", "sh", "-c", look}), 0) << ReadFile(Path("server"));
  }

  int RecordProgram(std::vector<std::string> words) {
    words.insert(words.begin(), {"record", "-o", Path("out.pb.gz"), "-o", Path("out.folded"), "--lines"});
    words.insert(words.end(), {"1", "--", "timeout", "2", Path("program")});
    Run(words);
    return std::filesystem::exists(Path("out.folded")) ? 0 : 1;
  }

  static constexpr char kNamed[] = "main program.cc:4;work program.cc:3;deep program.cc:2;";

  const int port_ = FreePort();
  std::string url_;
  std::unique_ptr<Program> server_;
};

TEST_F(DebuginfodServer, GivesNamesAndLinesOfAStrippedProgram) {
  StartServer();
  ASSERT_EQ(RecordProgram({"--debuginfod"}), 0) << errors_;
  EXPECT_THAT(ReadFile(Path("out.folded")), HasSubstr(kNamed));
  EXPECT_THAT(errors_, Not(HasSubstr("not fetched")));
}

TEST_F(DebuginfodServer, GivesThemAlsoLater) {
  StartServer();
  ASSERT_EQ(RecordProgram({}), 0) << errors_;
  EXPECT_THAT(ReadFile(Path("out.folded")), Not(HasSubstr("main program")));
  ASSERT_EQ(Run({"report", Path("out.pb.gz"), "--debuginfod", "--lines", "-o", Path("later.folded")}), 0) << errors_;
  EXPECT_THAT(ReadFile(Path("later.folded")), HasSubstr(kNamed));
}

TEST_F(DebuginfodServer, ThatIsGoneCostsNamesAndNothingElse) {
  ASSERT_EQ(RecordProgram({"--debuginfod"}), 0) << errors_;
  EXPECT_THAT(ReadFile(Path("out.folded")), HasSubstr("program+0x"));
  EXPECT_THAT(errors_, HasSubstr("offcpu: debuginfod: Connection refused; some files were not fetched\n"));
  EXPECT_THAT(output_, HasSubstr("debug file not fetched"));
}

TEST_F(DebuginfodServer, HasToBeNamed) {
  unsetenv("DEBUGINFOD_URLS");
  EXPECT_EQ(Run({"record", "--debuginfod", "1"}), 2);
  EXPECT_THAT(errors_, HasSubstr("--debuginfod: DEBUGINFOD_URLS names no server: set it, as in "));
}

}  // namespace
}  // namespace offcpu::integration

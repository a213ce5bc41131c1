// A server that waits for another one: Debian's nginx before one that takes 100 ms for each answer. nginx waits for it
// in the same function as for requests, and what it waits for work in is hidden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "tests/harness/cli.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;

// One worker. The server behind it answers one request after another, each 100 ms after it came.
constexpr char kNginxBeforeASlowServer[] = R"(cat >up.py <<'END'
import socket, time
server = socket.socket(socket.AF_UNIX)
server.bind("up")
server.listen()
while True:
    client = server.accept()[0]
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        request += client.recv(4096)
    time.sleep(0.1)
    client.sendall(b"HTTP/1.0 204 No Content\r\n\r\n")
    client.close()
END
cat >n.conf <<END
user root; worker_processes 1; pid $PWD/pid; error_log $PWD/errors; daemon off;
events { }
http { access_log off; server { listen unix:$PWD/socket; location / { proxy_pass http://unix:$PWD/up:/; } } }
END
/usr/bin/python3 up.py &
while [ ! -e up ]; do sleep 0.01; done
exec /usr/sbin/nginx -p $PWD -c $PWD/n.conf)";

const RealProgram kProgram = {"nginx", "/usr/sbin/nginx", kNginxBeforeASlowServer, 3};

// In seconds, as FormatDuration prints them; 0 if there is no such text.
double SecondsAfter(const std::string& text, const std::string& words) {
  const size_t at = text.find(words);
  if (at == std::string::npos) return 0;
  std::istringstream rest(text.substr(at + words.size()));
  double number = 0;
  std::string unit;
  rest >> number >> unit;
  if (unit.starts_with("ms")) return number / 1e3;
  return unit.starts_with("s") ? number : 0;
}

class Upstream : public CliTest {
 protected:
  // Twenty requests, one after the other: how long they took by curl's clock.
  double AskTwentyTimes(const RunningProgram& server) const {
    const auto curl =
        Program::Start({"curl", "--silent", "--output", "/dev/null", "--write-out", "%{time_total} %{http_code}\n",
                        "--unix-socket", server.directory() + "/socket", "http://x/[1-20]"});
    std::string text;
    EXPECT_EQ(curl->Wait(&text), 0);
    std::istringstream lines(text);
    double sum = 0;
    double seconds = 0;
    int code = 0;
    int answers = 0;
    for (; lines >> seconds >> code; sum += seconds, ++answers) EXPECT_EQ(code, 204);
    EXPECT_EQ(answers, 20) << text;
    EXPECT_GE(sum, 2.0);
    return sum;
  }

  // -p for each process of the server that has this name.
  static std::vector<std::string> Processes(const RunningProgram& server, const std::string& name) {
    std::vector<std::string> words;
    for (const pid_t pid : server.pids()) {
      if (ReadFile("/proc/" + std::to_string(pid) + "/comm") == name + "\n")
        words.insert(words.end(), {"-p", std::to_string(pid)});
    }
    return words;
  }

  // All of it waits for requests: the master, the worker and what is behind them.
  static bool AwaitStart(const RunningProgram& server) {
    return HoldsWithin(
               std::chrono::seconds(30),
               [&] { return Processes(server, "nginx").size() == 4 && Processes(server, "python3").size() == 2; }) &&
           server.AwaitBlocked(kProgram.threads);
  }

  // Records these processes of the server while it is asked; what is printed is in output_.
  double Record(const RunningProgram& server, const std::string& name) {
    std::vector<std::string> words = {BinDirectory() + "/offcpu", "record", "-o", Path("out.pb.gz")};
    const std::vector<std::string> processes = Processes(server, name);
    words.insert(words.end(), processes.begin(), processes.end());
    const std::unique_ptr<Program> recorder = Start(words);
    AwaitRecording(recorder->pid());
    const double seconds = AskTwentyTimes(server);
    recorder->Signal(SIGINT);
    output_.clear();
    EXPECT_EQ(recorder->Wait(&output_), 0) << ReadFile(Path("stderr"));
    return seconds;
  }

  // The requests waited for the server behind nginx for all but little of their time. As the recorder may begin while
  // the first request is on its way, a tenth may be missing. The master has waited as long as the worker or longer.
  void ExpectTheHeadlineNamesTheEventLoop(double seconds) const {
    EXPECT_THAT(output_, HasSubstr(" % waiting for work, hidden; the rest is "));
    EXPECT_THAT(output_, HasSubstr(": may include waits for other servers\n"));
    const double waited = SecondsAfter(output_, "\n  woken at    nginx: event loop, ");
    EXPECT_GE(waited, 0.9 * std::min(seconds, 2.0)) << output_;
    EXPECT_LE(waited, SecondsAfter(output_, "\nrecorded      ")) << output_;
  }
};

TEST_F(Upstream, TheHeadlineSaysWhereRequestsWait) {
  if (!kProgram.is_installed()) GTEST_SKIP() << "nginx is not installed";
  const RunningProgram server(kProgram);
  ASSERT_TRUE(AwaitStart(server)) << server.errors();
  const double seconds = Record(server, "nginx");
  ExpectTheHeadlineNamesTheEventLoop(seconds);
  // So do files that were stored.
  ASSERT_EQ(Run({"report", Path("out.pb.gz")}), 0) << errors_;
  ExpectTheHeadlineNamesTheEventLoop(seconds);
}

// Who records both sees what it is that requests wait for.
TEST_F(Upstream, TheServerThatIsWaitedForIsTheFirstStack) {
  if (!kProgram.is_installed()) GTEST_SKIP() << "nginx is not installed";
  const RunningProgram server(kProgram);
  ASSERT_TRUE(AwaitStart(server)) << server.errors();
  Record(server, "python3");
  const size_t at = output_.find("#1  ");
  ASSERT_NE(at, std::string::npos) << output_;
  EXPECT_THAT(output_.substr(at, output_.find("#2  ") - at), HasSubstr("clock_nanosleep"));
}

}  // namespace
}  // namespace offcpu::integration

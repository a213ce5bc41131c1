// A server that answers HTTP requests as a test wants it, byte by byte: a collector on a bad day. One request a
// connection.
#ifndef OFFCPU_TESTS_EXPORT_FAKE_COLLECTOR_H_
#define OFFCPU_TESTS_EXPORT_FAKE_COLLECTOR_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace offcpu {

struct FakeAnswer {
  std::string bytes;      // of the answer; then the connection is closed
  bool reads_all = true;  // false: closes after the first bytes of the request
  bool waits = false;     // until the client gives up, before it sends anything
};

// With Content-Length, as real servers send it. `headers`: lines that end in "\r\n".
FakeAnswer HttpReply(int status, std::string_view body, std::string_view headers = "");

struct FakeRequest {
  std::string head;  // as it came, up to the empty line
  std::string body;
  std::chrono::steady_clock::time_point at;

  bool Has(std::string_view line) const { return head.find(std::string(line) + "\r\n") != std::string::npos; }
};

// A port of loopback that no other program is given as one that is free: a collector may listen there, go, and come
// back.
class KeptPort {
 public:
  KeptPort();
  ~KeptPort();
  KeptPort(const KeptPort&) = delete;
  KeptPort& operator=(const KeptPort&) = delete;

  int number() const { return number_; }

 private:
  int socket_;
  int number_;
};

class FakeCollector {
 public:
  // Listens at once; `port` 0: any that is free.
  explicit FakeCollector(int port = 0);
  ~FakeCollector();
  FakeCollector(const FakeCollector&) = delete;
  FakeCollector& operator=(const FakeCollector&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1development/profiles"; }

  // The next requests get these answers; after them, all are taken as a real collector takes them.
  void Then(std::vector<FakeAnswer> answers);
  // Those that were read whole, with what they were answered. Waits for `least` of them, in all.
  std::vector<FakeRequest> Await(size_t least);
  // Those that were answered 200, whole.
  std::vector<FakeRequest> AwaitTaken(size_t least);

 private:
  void Serve();
  void ServeOne(int connection);
  std::optional<FakeRequest> Read(int connection) const;

  int listener_ = -1;
  int port_ = 0;
  int stop_[2] = {-1, -1};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FakeAnswer> answers_;  // guarded by mutex_, as what follows is
  std::vector<FakeRequest> requests_;
  std::vector<FakeRequest> taken_;
  std::thread thread_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_EXPORT_FAKE_COLLECTOR_H_

// A language runtime that is made up. Its code is that of the captures of made_up_events.h, unless a test puts it
// elsewhere. Changed by the test, read on reader threads.
#ifndef OFFCPU_TESTS_RECORDER_FAKE_RUNTIME_H_
#define OFFCPU_TESTS_RECORDER_FAKE_RUNTIME_H_

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "os/now.h"
#include "runtimes/runtime.h"
#include "tests/recorder/made_up_events.h"

namespace offcpu {

class FakeRuntime final : public Runtime {
 public:
  CodeRange bounds() const override { return {.begin = code, .end = code + 0x1000}; }
  bool Read(const Memory&, std::span<const uint64_t> words) override {
    std::shared_future<void> until;
    {
      const std::lock_guard lock(mutex_);
      readings_.emplace_back(words.begin(), words.end());
      until = until_;
    }
    if (until.valid()) until.wait();
    for (const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
         NowNs(CLOCK_THREAD_CPUTIME_ID) - began_ns < cpu_ns;) {
    }
    has_unread = leaves_unread.load();
    return can_be_read;
  }
  bool HasUnread() const override { return has_unread; }
  std::unique_ptr<MadeCode> CodeAt(uint64_t captured_ns) override {
    walked_ns = captured_ns;
    return nullptr;
  }
  std::unique_ptr<InterpreterReading> ReadInterpreter(const Memory& /*memory*/) override { return nullptr; }

  void Block(std::shared_future<void> until) {
    const std::lock_guard lock(mutex_);
    until_ = std::move(until);
  }
  // The words of each reading so far.
  std::vector<std::vector<uint64_t>> readings() {
    const std::lock_guard lock(mutex_);
    return readings_;
  }

  std::atomic<uint64_t> code = kCode;
  std::atomic<uint64_t> cpu_ns = 0;  // that a reading takes
  std::atomic<bool> has_unread = false, leaves_unread = false;
  std::atomic<bool> can_be_read = true;
  uint64_t walked_ns = 0;  // the moment of the last stack that was walked by it

 private:
  std::mutex mutex_;
  std::vector<std::vector<uint64_t>> readings_;
  std::shared_future<void> until_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_RECORDER_FAKE_RUNTIME_H_

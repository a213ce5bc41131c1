// Recordings of real programs in which the patterns that are shipped mark waits for work, and how much they hide. Needs
// root. Failures are reported to GoogleTest.
#ifndef OFFCPU_TESTS_DEEP_JUDGED_H_
#define OFFCPU_TESTS_DEEP_JUDGED_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {

using OneWait = std::function<bool(const StackRow&)>;

// A recording of a server and of what it starts, with its waits for work marked.
class Judged {
 public:
  static std::unique_ptr<Judged> Record(const RunningProgram& server, const std::function<void()>& meanwhile);

  // By other names than those that were found at first.
  void Name(SymbolizerOptions options);

  uint64_t HiddenNs(const OneWait& wanted) const { return WaitNs(wanted, true); }
  uint64_t ShownNs(const OneWait& wanted) const { return WaitNs(wanted, false); }
  // The time of all threads together, without what others kept them waiting for a CPU.
  uint64_t OwnNs() const;
  std::vector<std::string> Patterns() const;
  size_t Threads() const;

  // Nothing is there twice and nothing is missing.
  void ExpectItAddsUp() const;

  // The longest that is shown, for messages.
  std::string ShownText(const OneWait& wanted) const;

 private:
  uint64_t WaitNs(const OneWait& wanted, bool idle) const;

  Profile recorded_;
  Recording recording_;
};

bool Anything(const StackRow& row);
bool Nothing(const StackRow& row);
OneWait In(const std::string& function);
OneWait Of(pid_t pid);
OneWait OfIn(pid_t pid, const std::string& function);

// A program with nothing to do has all its waits hidden, but for those that wait for something else: how much that is
// does not matter.
void ExpectHiddenWithNothingToDo(const RealProgram& program, const OneWait& something_else);

// In the server's directory, to its end; what it prints.
std::string RunShell(const RunningProgram& server, const std::string& script);

constexpr uint64_t Ms(uint64_t ms) { return ms * 1'000'000; }

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_JUDGED_H_

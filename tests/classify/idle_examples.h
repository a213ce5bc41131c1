// Waits of real programs, and which of the shipped patterns they match.
#ifndef OFFCPU_TESTS_CLASSIFY_IDLE_EXAMPLES_H_
#define OFFCPU_TESTS_CLASSIFY_IDLE_EXAMPLES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace offcpu {

// What is shipped, by stacks as they were recorded of Debian 12's programs, which have no names of static functions.
struct IdleExample {
  std::string_view idle;  // "" for those that look much like it, and are not
  std::string_view process;
  std::string_view thread;
  int32_t syscall;
  std::string_view frames;  // from the leaf outwards
  bool of_pipe = false;     // what it reads is no socket
};

// Examples of servers that run scripts and tasks of others, and of sshd; others are in idle_defaults_test.cc.
std::span<const IdleExample> ScriptExamples();

// Pools and event loops of Java, Python, C++ and Rust.
std::span<const IdleExample> PoolExamples();

}  // namespace offcpu

#endif  // OFFCPU_TESTS_CLASSIFY_IDLE_EXAMPLES_H_

// Processes that nap once and end: for some seconds very many of them, which are named `one`, and then one at a time,
// which are named later0, later1 and so on. Where they are too few by then, it goes on for twenty seconds in all.
// Usage: crowd [--seconds S] [--least N] [--nap-ms MS] [--later N] [--pause-ms MS: between those]
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <string>

#include "target.h"

namespace {

constexpr int kAtOnce = 4;  // and a pause, so that the crowd leaves some of a CPU for others
constexpr uint64_t kBreathNs = 1'000'000;

constexpr uint64_t kPatienceNs = 20'000'000'000;

uint64_t nap_ns = 0;

}  // namespace

TARGET_FUNCTION void TakeNap() {
  target::SleepNs(nap_ns);
  TARGET_AFTER_CALL;
}

namespace {

void Make(const std::string& name) {
  const pid_t child = fork();
  target::Check(child >= 0, "fork");
  if (child != 0) return;
  prctl(PR_SET_NAME, name.c_str());
  TakeNap();
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  nap_ns = static_cast<uint64_t>(target::Option(argc, argv, "--nap-ms", 5) * 1e6);
  const auto least = static_cast<uint64_t>(target::Option(argc, argv, "--least", 0));
  const auto later = static_cast<uint64_t>(target::Option(argc, argv, "--later", 20));
  const auto pause_ns = static_cast<uint64_t>(target::Option(argc, argv, "--pause-ms", 150) * 1e6);
  signal(SIGCHLD, SIG_IGN);  // so that none that has ended takes up room

  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  const uint64_t began_ns = target::ClockNs(CLOCK_MONOTONIC);
  uint64_t made = 0;
  const auto is_too_small = [&] {
    return made < least && target::terminated == 0 && target::ClockNs(CLOCK_MONOTONIC) - began_ns < kPatienceNs;
  };
  for (; !target::Over() || is_too_small(); target::SleepNs(kBreathNs)) {
    for (int i = 0; i < kAtOnce; ++i, ++made) Make("one");
  }
  for (uint64_t i = 0; i < later; ++i) {
    Make("later" + std::to_string(i));
    target::SleepNs(pause_ns);
  }
  while (wait(nullptr) > 0) {  // for all of them, as none is left behind
  }
  target::Value("made", made);
  target::DoneAndStay();
}

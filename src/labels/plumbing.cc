#include "labels/plumbing.h"

#include <algorithm>
#include <iterator>

#include "classify/copy_suffix.h"
#include "classify/glob_match.h"

namespace offcpu {
namespace {

constexpr std::string_view kPlumbing[] = {"entry_*",
                                          "do_syscall_64",
                                          "x64_sys_call",
                                          "do_int80_*",
                                          "do_fast_syscall_32",
                                          "__do_fast_syscall_32",
                                          "do_SYSENTER_32",
                                          "asm_*",
                                          "el0_*",
                                          "el0t_*",
                                          "do_el0_svc*",
                                          "invoke_syscall*",
                                          "ret_from_fork*",
                                          "__schedule",
                                          "__schedule_loop",
                                          "schedule",
                                          "schedule_timeout",
                                          "schedule_idle",
                                          "schedule_tail",
                                          "schedule_preempt_disabled",
                                          "schedule_hrtimeout*",
                                          "preempt_schedule*",
                                          "__cond_resched",
                                          "io_schedule*",
                                          "__switch_to*",
                                          "context_switch",
                                          "finish_task_switch",
                                          "syscall_exit_*",
                                          "__syscall_exit_*",
                                          "irqentry_exit*",
                                          "raw_irqentry_exit*",
                                          "exit_to_user_mode_*"};

constexpr std::string_view kSchedulerCode[] = {
    "*schedule*", "__cond_resched", "do_nanosleep",  "*mutex_lock*",  "down_*",    "__down*",      "rwsem_down_*",
    "rt_mutex_*", "wait_for_*",     "*_for_common*", "*wait_on_bit*", "bit_wait*", "usleep_range*"};

template <size_t kCount>
bool IsOneOf(const std::string_view (&globs)[kCount], std::string_view name) {
  const std::string_view stem = WithoutCopySuffix(name);
  return std::any_of(std::begin(globs), std::end(globs), [stem](std::string_view glob) { return Matches(glob, stem); });
}

}  // namespace

bool IsPlumbing(std::string_view kernel_function) { return IsOneOf(kPlumbing, kernel_function); }

bool IsSchedulerCode(std::string_view kernel_function) { return IsOneOf(kSchedulerCode, kernel_function); }

}  // namespace offcpu

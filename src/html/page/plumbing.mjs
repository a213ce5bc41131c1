// Functions of the kernel that every wait goes through: how a system call is entered, and the scheduler. They say
// nothing about a wait, so they are left out of stacks until they are asked for.
import { KIND } from './kinds.mjs';

const PLUMBING = new RegExp(
  `^(?:${[
    'entry_\\w+',
    'do_syscall_64',
    'x64_sys_call',
    'do_int80_\\w+',
    '(?:__)?do_fast_syscall_32',
    'do_SYSENTER_32',
    'asm_\\w+',
    'ret_from_fork\\w*',
    '(?:do_)?el0t?_\\w+',
    'invoke_syscall',
    '__schedule(?:_loop)?',
    'schedule',
    'schedule_(?:timeout|idle|tail|preempt_disabled|hrtimeout\\w*)',
    'preempt_schedule\\w*',
    '__cond_resched',
    'io_schedule\\w*',
    '__switch_to\\w*',
    'context_switch',
    'finish_task_switch',
    'syscall_exit_\\w+',
    '__syscall_exit_\\w+',
    '(?:raw_)?irqentry_exit\\w*',
    'exit_to_user_mode_\\w+',
  ].join('|')})(?:\\.\\w+)*$`,
);

export function isPlumbing(name, kind) {
  return kind === KIND.kernel && PLUMBING.test(name);
}

// By frame: 1 of those to leave out.
export function plumbingFrames(frames) {
  return Uint8Array.from(frames.names, (name, i) => Number(isPlumbing(name, frames.kinds[i])));
}

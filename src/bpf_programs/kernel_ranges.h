// Where the functions of the running kernel lie by which the BPF programs read kernel stacks. A pure function of what
// /proc/kallsyms says.
#ifndef OFFCPU_BPF_PROGRAMS_KERNEL_RANGES_H_
#define OFFCPU_BPF_PROGRAMS_KERNEL_RANGES_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "process/machine.h"

namespace offcpu {

// Where a kernel function lies; both 0 if kallsyms does not tell.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Kernel code by which the programs tell who wakes a thread.
struct WakerRanges {
  AddressRange try_to_wake_up;
  // Entered for interrupts and for nothing else: on x86-64 the entry stubs, and what stands for them on CPUs with FRED
  // and on Xen.
  std::array<AddressRange, 4> interrupts;
  std::array<AddressRange, 2> softirqs;  // what runs them
  AddressRange backlog;                  // the softirq that delivers the host's packets to itself

  // Without these a thread would be taken for the interrupt that it was interrupted by.
  bool can_tell() const { return interrupts[0].end != 0 && softirqs[0].end != 0; }
};

// The tables by which the kernel of x86-64 unwinds its own stacks. Addresses.
struct OrcRanges {
  AddressRange header;     // of .orc_header: a hash that names the form of the tables
  AddressRange addresses;  // of .orc_unwind_ip, 4 bytes a row
  AddressRange entries;    // of .orc_unwind, 6 bytes a row
  uint64_t modules = 0;    // the list of them, which have tables of their own; 0: there is none

  // All of it is there, and of one size.
  bool can_walk() const;
  uint32_t rows() const { return static_cast<uint32_t>((addresses.end - addresses.begin) / 4); }
};

// What a walk of a kernel stack needs to know of the kernel's code.
struct KernelWalkRanges {
  AddressRange text;        // without modules
  AddressRange sched_text;  // functions that schedule
  AddressRange lock_text;   // likewise
  uint64_t ret_from_fork = 0;
  std::array<uint64_t, 2> trampolines = {};  // to which functions return while they are traced
  OrcRanges orc;

  // All of it is there that a walk on the machine needs.
  bool can_walk(const Machine& machine) const;
};

struct KernelRanges {
  AddressRange schedule;  // __schedule
  AddressRange schedule_tail;
  AddressRange entry;          // code by which the kernel is entered
  AddressRange nofault_copy;   // copy_from_user_nofault, by which BPF programs read user memory
  uint64_t uaccess_check = 0;  // nmi_uaccess_okay
  WakerRanges wakers;
  KernelWalkRanges walk;
};

// Linear in the text. Ranges of what it does not tell are empty.
KernelRanges FindKernelRanges(const Machine& machine, std::string_view kallsyms);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_KERNEL_RANGES_H_

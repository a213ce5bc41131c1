/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the BPF programs and the C++ side say to each other: records of the rings, map values, counters,
 * configuration. The only header that both include, with wire_hash.h, which it includes. All integers are
 * little endian and naturally aligned; times are nanoseconds.
 */
#ifndef OFFCPU_BPF_WIRE_H_
#define OFFCPU_BPF_WIRE_H_

#ifdef __cplusplus
#include <stdint.h>
#define WIRE_ASSERT(condition) static_assert(condition, #condition)
#define WIRE_ENUM(name) enum name : uint32_t
extern "C" {
#else
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s32 int32_t;
#define WIRE_ASSERT(condition) _Static_assert(condition, #condition)
#define WIRE_ENUM(name) enum name
#endif

#include "wire_hash.h"

#define WIRE_COMM_BYTES 16
#define WIRE_KERNEL_FRAMES 127
/* Registers of the machine that the programs are compiled for, which the C++ side is, too. In the order of
 * DWARF: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 rip; x0 to x30 sp pc. */
#if defined(__TARGET_ARCH_arm64) || (defined(__aarch64__) && !defined(__TARGET_ARCH_x86))
#define WIRE_REGISTERS 33
#define WIRE_REGISTER_SP 31
#define WIRE_REGISTER_PC 32
#define WIRE_RED_ZONE_BYTES 0
#else
#define WIRE_REGISTERS 17
#define WIRE_REGISTER_SP 7
#define WIRE_REGISTER_PC 16
#define WIRE_RED_ZONE_BYTES 128 /* what a function that calls nobody may use below its stack pointer */
#endif
#define WIRE_32_BIT_CALL 0x10000	/* beside the number of a 32-bit system call, which is below */
#define WIRE_PAGE_BYTES 4096		/* a page has as many, or a power of 2 of them */
#define WIRE_CODE_BYTES 128		/* of a function of the kernel: see kernel_code.bpf.c */
#define WIRE_STACK_MIN_BYTES 4096	/* of a thread's first captures where the budget is tight */
#define WIRE_STACK_GENEROUS_BYTES 16384 /* of the others */
#define WIRE_STACK_MAX_BYTES 65536
#define WIRE_PIECES 4 /* of a stack, beside what is copied from the stack pointer upwards */
#define WIRE_PIECE_BYTES 4096
#define WIRE_COPY_MAX_BYTES (WIRE_STACK_MAX_BYTES + WIRE_RED_ZONE_BYTES + WIRE_PIECES * WIRE_PIECE_BYTES)
#define WIRE_MAPPINGS 128 /* executable ones of a process that are listed; the rest is unknown */
#define WIRE_VDSO (~0ULL) /* the device of what has no file */
#define WIRE_GLOBS 16
#define WIRE_CGROUPS 16
#define WIRE_SENT_PLACES 4096	    /* where an id is noted that programs in NMIs have sent: its remainder */
#define WIRE_WAKERS 4		    /* of a chain of wakers */
#define WIRE_USER_ROW_BUCKETS 16384 /* powers of 2 */
#define WIRE_USER_STACK_BUCKETS 16384
#define WIRE_USER_MEMOS 128   /* of a CPU, a power of 2, as the next two are */
#define WIRE_KERNEL_MEMOS 128 /* one stack has some sixteen lengths */
#define WIRE_SUM_PLACES 512
#define WIRE_SUM_MOST_NS 1000000ULL /* longer waits are sent one by one */
#define WIRE_SUM_BOUNDS 6	    /* of times that are kept apart in sums */
#define WIRE_BUCKET_ROWS 4	    /* a bucket is a line of a CPU's cache */
#define WIRE_BUCKET_STACKS 8
#define WIRE_INTERRUPT_ENTRIES 4

/* Every record begins with its type; the ring gives its length. */
WIRE_ENUM(wire_type){
	WIRE_INTERVAL = 1, WIRE_KERNEL_STACK, WIRE_CAPTURE, WIRE_CAPTURE_FAILED, WIRE_EXEC, WIRE_EXIT,
	WIRE_CODE,	   WIRE_ACCOUNT,      WIRE_SAMPLE,  WIRE_WOKEN_INTERVAL, WIRE_SUM,
};

/* Why a thread left the CPU. */
WIRE_ENUM(wire_kind){
	WIRE_KIND_SLEEPING, WIRE_KIND_DISK,	 WIRE_KIND_STOPPED, WIRE_KIND_PREEMPTED,
	WIRE_KIND_YIELDED,  WIRE_KIND_THROTTLED, WIRE_KIND_OTHER,   WIRE_KINDS,
};

/* Why no capture will come for an interval, or why one that was asked for failed. */
WIRE_ENUM(wire_no_user){
	WIRE_USER_PENDING, /* one is to come: not a failure */
	WIRE_NO_USER_BUDGET,
	WIRE_NO_USER_RING_FULL,
	WIRE_NO_USER_NO_BUFFER,
	WIRE_NO_USER_UNREADABLE,
	WIRE_NO_USER_EXITING,
	WIRE_NO_USER_EXEC,
	WIRE_NO_USER_UNSUPPORTED,
	WIRE_NO_USER_OVERLOAD, /* dropped between the ring and the walker */
	WIRE_NO_USER_KERNEL_THREAD,
	WIRE_NO_USER_NOT_ASKED, /* of a waker: the thread that it woke is not recorded, or waited too short */
	WIRE_NO_USER_SWITCHED_OFF,     /* captures have cost its process too much time */
	WIRE_NO_USER_NOT_SEEN_LEAVING, /* its stack would have been found then */
	WIRE_NO_USER_32_BIT,	       /* it runs code of AArch32, which is not walked */
};

/* What lies above the bytes of a stack that were copied. */
WIRE_ENUM(wire_above){
	WIRE_ABOVE_END,	   /* nothing: the mapping of the stack ends there */
	WIRE_ABOVE_MORE,   /* more of the stack: no more was wanted */
	WIRE_ABOVE_UNREAD, /* a page that was not resident, or of which it is not known whose it is */
};

/* See ProcessKey. */
struct wire_process {
	uint64_t start_ns;
	uint64_t exec_id;
	uint32_t tgid;
	uint32_t tid; /* of the thread that the record is about */
};
WIRE_ASSERT(sizeof(struct wire_process) == 24);

struct wire_interval {
	uint32_t type;	       /* WIRE_INTERVAL */
	uint32_t kind;	       /* wire_kind */
	uint64_t cookie;       /* 0: no capture will come, see user_stack and no_user */
	uint64_t user_stack;   /* id of the stack that was walked; 0: it was not */
	uint64_t kernel_stack; /* id; 0: could not be taken */
	uint64_t end_ns;       /* scheduler's clock */
	uint64_t blocked_ns;
	uint64_t runnable_ns;
	struct wire_process process;
	uint32_t no_user;   /* wire_no_user, set iff cookie and user_stack are 0 */
	int32_t syscall;    /* what the thread entered by, see WIRE_32_BIT_CALL; negative: nothing */
	uint64_t switches;  /* how often the thread has ever left a CPU: names this wait among its waits */
	uint64_t sample_ns; /* that it was sampled with: see sampling.bpf.h; 0: every wait is recorded */
	uint64_t cgroup;    /* id of the control group (v2) of the thread, when it came back */
	char comm[WIRE_COMM_BYTES]; /* likewise */
};
WIRE_ASSERT(sizeof(struct wire_interval) == 128);

/* Intervals that are alike, in one time bucket and in one window, each with its user stack walked and
 * shorter than WIRE_SUM_MOST_NS. */
struct wire_sum {
	struct wire_interval interval; /* its type is WIRE_SUM; its times are sums, `end_ns` is the last
					  one's; all else is of the first */
	uint64_t count;		       /* of intervals */
	uint64_t longest_ns;
	uint64_t longest_runnable_ns; /* of times between the same two bounds, see wire_config */
};
WIRE_ASSERT(sizeof(struct wire_sum) == 152);

/* A thread that was running when a CPU's sampling event fired. */
struct wire_sample {
	uint32_t type;	       /* WIRE_SAMPLE */
	uint32_t no_user;      /* wire_no_user, set iff cookie is 0 */
	uint64_t cookie;       /* as of an interval */
	uint64_t kernel_stack; /* id; 0: could not be taken, or there is none */
	uint64_t at_ns;	       /* scheduler's clock, nearly */
	struct wire_process process;
	int32_t syscall;  /* see wire_interval */
	uint32_t in_user; /* it was in user mode: there is no kernel stack */
	uint64_t cgroup;  /* see wire_interval */
	char comm[WIRE_COMM_BYTES];
};
WIRE_ASSERT(sizeof(struct wire_sample) == 88);

/* Who ended a wait: a thread, or an interrupt, of which only the kernel stack is known. */
struct wire_waker {
	uint64_t at_ns;	       /* CLOCK_MONOTONIC */
	uint64_t kernel_stack; /* id */
	uint64_t cookie;       /* as in wire_interval, and no_user too */
	struct wire_process process;
	uint32_t no_user;
	uint32_t flags; /* WIRE_WAKER_INTERRUPT */
	char comm[WIRE_COMM_BYTES];
};
WIRE_ASSERT(sizeof(struct wire_waker) == 72);
#define WIRE_WAKER_INTERRUPT 1

/* An interval of which it is known who ended the wait. */
struct wire_woken_interval {
	struct wire_interval interval; /* its type is WIRE_WOKEN_INTERVAL */
	uint32_t count;		       /* wakers that follow, at least one and at most WIRE_WAKERS */
	uint32_t reserved;
	/* struct wire_waker wakers[count]: the waker, then who had woken it, and so on */
};
WIRE_ASSERT(sizeof(struct wire_woken_interval) == 136);

struct wire_kernel_stack {
	uint32_t type;	/* WIRE_KERNEL_STACK */
	uint32_t count; /* frames that follow, at most WIRE_KERNEL_FRAMES */
	uint64_t id;
	/* uint64_t frames[count], leaf first */
};
WIRE_ASSERT(sizeof(struct wire_kernel_stack) == 16);

/* What was mapped when something was looked at: equal values mean equal executable mappings of one user. */
struct wire_code {
	uint64_t sequence; /* mm->mm_lock_seq: rises with every change of any mapping; 0: the kernel has none
			    */
	uint64_t hash;	   /* of the executable mappings and the user, see code_list.bpf.h; 0: unknown */
};
WIRE_ASSERT(sizeof(struct wire_code) == 16);

/* One executable mapping, as the kernel names its file: /proc/PID/maps may show another inode on overlay file
 * systems. */
struct wire_mapping {
	uint64_t begin;
	uint64_t end;
	uint64_t offset; /* in the file, bytes; of the vDSO, which of the kernel's it is; else 0 */
	uint64_t inode;	 /* 0: no file */
	uint64_t device; /* and, in the upper half, the inode's generation: inode numbers are used again; of
			    the vDSO WIRE_VDSO */
	uint64_t changed_ns; /* ctime of the file, which may be written over in place */
};
WIRE_ASSERT(sizeof(struct wire_mapping) == 48);

/* What a code hash stands for; sent once a hash. */
struct wire_code_list {
	uint32_t type;	/* WIRE_CODE */
	uint32_t count; /* mappings that follow, at most WIRE_MAPPINGS */
	uint64_t hash;
	/* struct wire_mapping mappings[count], by address */
};
WIRE_ASSERT(sizeof(struct wire_code_list) == 16);

/* A part of a stack that is not next to what is copied from the stack pointer upwards. */
struct wire_piece {
	uint64_t begin; /* address; 0: there is no such piece */
	uint32_t bytes; /* at most WIRE_PIECE_BYTES */
	uint32_t above; /* wire_above */
};
WIRE_ASSERT(sizeof(struct wire_piece) == 16);

/* What the walks of a thread's captures have needed so far: told by the walker. */
struct wire_stack_hint {
	uint32_t bytes;	 /* from the stack pointer upwards */
	uint32_t pieces; /* of `begins` */
	uint64_t begins[WIRE_PIECES];
};
WIRE_ASSERT(sizeof(struct wire_stack_hint) == 40);

struct wire_capture {
	uint32_t type;	      /* WIRE_CAPTURE */
	uint32_t stack_bytes; /* how many follow behind this, from the red zone upwards */
	uint64_t cookie;
	struct wire_process process;
	struct wire_code code;
	uint64_t walked;      /* id of the stack as the BPF programs have walked it; 0: they have not */
	uint64_t walked_code; /* the code hash by which they have */
	uint64_t at_ns;	      /* CLOCK_MONOTONIC */
	uint64_t registers[WIRE_REGISTERS];
	uint32_t above;		 /* wire_above */
	uint16_t red_zone_bytes; /* of `stack_bytes`: they lie below the stack pointer */
	uint8_t in_syscall;	 /* x86-64: rcx and r11 hold the system call's rip and rflags */
	uint8_t is_32_bit;	 /* the thread runs code of i386, or of AArch32 */
	struct wire_piece
		pieces[WIRE_PIECES]; /* their bytes follow behind the stack's, one after the other */
};
WIRE_ASSERT(sizeof(struct wire_capture) == 152 + 8 * WIRE_REGISTERS);

/*
 * Unwind rows that the BPF programs walk user stacks by, each for one address of one version of the code: see
 * user_walk.bpf.h. Its word has, from the lowest bit on: 2 bits wire_row_cfa, 2 bits wire_row_fp, and
 * offsets, all signed and in words of 8 bytes: the CFA's from its register, where the caller's frame pointer
 * is from the CFA, and where the return address is from the CFA; and the highest bit is set. On x86-64 the
 * return address is always the word below the CFA, and the offsets of the others have 24 bits. On AArch64
 * they have 20, 16 and 12; and a return address at 0 is in its register.
 *
 * With WIRE_ROW_GUESS the frame pointer may hold anything. Where it cannot be one, the walk ends, and its
 * name has WIRE_CUT behind the addresses.
 *
 * An address of code that a process makes while it runs has two rows. The first, with WIRE_ROW_VERSIONED, is
 * only where the process's memory tells this code from what is there at another time: from the lowest bit on
 * 48 bits of an address, at which there are 16 bytes of it, and 12 bits of how many times 4 bytes behind that
 * address there are 4 more. The second is found under a key of that version, which the name of the stack has,
 * too. It may have, each in 4 bits, how many words below the frame pointer there are words that the name has
 * as well, because addresses do not tell what an interpreter runs; and WIRE_ROW_KEPT_SP: the caller's stack
 * pointer is not the CFA, but is kept in the word below the frame pointer.
 */
WIRE_ENUM(wire_row_cfa){
	WIRE_CFA_SP, WIRE_CFA_FP, /* a frame pointer of 0 is that of the outermost frame */
	WIRE_CFA_NONE,		  /* the walk ends here */
	WIRE_CFA_CONTEXT, /* a signal trampoline: the interrupted registers lie at the stack pointer */
};
WIRE_ENUM(wire_row_fp){
	WIRE_FP_SAME,
	WIRE_FP_AT_CFA,
	WIRE_FP_LOST,
};
#if defined(__TARGET_ARCH_arm64) || (defined(__aarch64__) && !defined(__TARGET_ARCH_x86))
#define WIRE_ROW_CFA_BITS 20
#define WIRE_ROW_FP_BITS 16
#define WIRE_ROW_RA_BITS 12
#else
#define WIRE_ROW_CFA_BITS 24
#define WIRE_ROW_FP_BITS 24
#define WIRE_ROW_RA_BITS 0
#endif
#define WIRE_ROW_CFA_SHIFT 4
#define WIRE_ROW_FP_SHIFT (WIRE_ROW_CFA_SHIFT + WIRE_ROW_CFA_BITS)
#define WIRE_ROW_RA_SHIFT (WIRE_ROW_FP_SHIFT + WIRE_ROW_FP_BITS)
#define WIRE_ROW_SHOWN_SHIFT 52 /* of the first of WIRE_SHOWN_WORDS */
#define WIRE_ROW_SHOWN_BITS 4
#define WIRE_SHOWN_WORDS 2
#define WIRE_ROW_KEPT_SP (1ULL << 60)
#define WIRE_ROW_VERSIONED (1ULL << 61)
#define WIRE_VERSION_ADDRESS_BITS 48
#define WIRE_VERSION_OFFSET_BITS 12
#define WIRE_ROW_GUESS (1ULL << 62)
#define WIRE_ROW_SET (1ULL << 63)
#define WIRE_CUT (~0ULL) /* no address of a program */

/* Written and read without a lock: what is half of two rows has the key of none. */
struct wire_user_row {
	uint64_t check; /* key ^ row */
	uint64_t row;	/* 0: none */
};

struct wire_user_row_bucket {
	struct wire_user_row rows[WIRE_BUCKET_ROWS];
};
WIRE_ASSERT(sizeof(struct wire_user_row_bucket) == 64);

/* Names of user stacks that the walker knows. */
struct wire_user_stack_bucket {
	uint64_t ids[WIRE_BUCKET_STACKS]; /* 0: none */
};
WIRE_ASSERT(sizeof(struct wire_user_stack_bucket) == 64);

/* In which bucket of so many a key or an id is. */
static inline __attribute__((always_inline)) uint32_t wire_bucket(uint64_t key, uint32_t buckets)
{
	return (uint32_t)(key >> 40) & (buckets - 1);
}

struct wire_capture_failed {
	uint32_t type;	  /* WIRE_CAPTURE_FAILED */
	uint32_t no_user; /* wire_no_user */
	uint64_t cookie;
};
WIRE_ASSERT(sizeof(struct wire_capture_failed) == 16);

struct wire_lifecycle {
	uint32_t type; /* WIRE_EXEC: after the exec, under the new key. WIRE_EXIT: the last thread is gone */
	uint32_t reserved;
	struct wire_process process;
};
WIRE_ASSERT(sizeof(struct wire_lifecycle) == 32);

/* Events and, where they stand for time, nanoseconds; per CPU, from the start of the recording. */
WIRE_ENUM(wire_counter_id){
	/* Time that is not in the profile; accounts have a sum of each. */
	WIRE_COUNT_INTERVAL_RING_FULL,
	WIRE_COUNT_INTERVAL_RING_BUSY,
	WIRE_COUNT_BELOW_MIN_WAIT,
	WIRE_COUNT_ABOVE_MAX_WAIT,
	WIRE_COUNT_OTHER_KIND,
	WIRE_COUNT_JOINED_AWAY, /* came to be recorded while off the CPU; time only with accounts */
	WIRE_LOSSES,

	WIRE_COUNT_NOT_SAMPLED =
		WIRE_LOSSES,		/* short, and stood for by the weight of those that were sampled */
	WIRE_COUNT_NO_STORAGE,		/* the length is not known: no time */
	WIRE_COUNT_UNSEEN,		/* left a CPU; asked for, but in no pid namespace that we see */
	WIRE_COUNT_ARRIVAL_UNTOLD,	/* nothing but the length of the wait is known */
	WIRE_COUNT_CLOCK_BACKWARDS,	/* counted as 0 ns */
	WIRE_COUNT_QUEUE_TIME_UNKNOWN,	/* of a wait that is told as blocked: see was_moved of a stamp */
	WIRE_COUNT_KERNEL_STACK_FAILED, /* the interval is kept, without a kernel stack */
	WIRE_COUNT_NO_SCRATCH,		/* the same */
	WIRE_COUNT_KERNEL_WALKED,	/* a kernel stack, by the kernel's rows */
	WIRE_COUNT_KERNEL_NOT_WALKED,	/* likewise, and it could not: the kernel's helper told the stack */
	WIRE_COUNT_KERNEL_WALK_DIFFERS, /* from what the helper tells: no more walks */
	WIRE_COUNT_USER_WALKED,		/* a user stack, by rows that the walker has told */
	WIRE_COUNT_USER_WALK_UNKNOWN,	/* likewise, and the walker does not know this stack yet */
	WIRE_COUNT_USER_WALK_NO_CODE, /* it could not: the mappings have changed since they were looked at */
	WIRE_COUNT_USER_WALK_NO_ROW,  /* likewise: there is no row for an address */
	WIRE_COUNT_USER_WALK_NO_MEMORY, /* likewise: what a row needs is not in the stack, or not resident */
	WIRE_COUNT_DEFINITION_DELAYED,	/* a kernel stack's frames could not be sent yet */
	WIRE_COUNT_TASK_WORK,		/* asked for */
	WIRE_COUNT_TASK_WORK_REFUSED,	/* by the kernel or for want of a slot: copied at once instead */
	WIRE_COUNT_COPIED_AT_ONCE,
	WIRE_COUNT_CAPTURE_RING_FULL,
	WIRE_COUNT_CAPTURE_RING_BUSY,
	WIRE_COUNT_CAPTURE_ANSWER_LOST, /* not even the failure of a capture could be sent */
	WIRE_COUNT_CAPTURE_TIME,	/* CPU time of captures, in the threads they were made in */
	WIRE_COUNT_CAPTURE_LONGEST,	/* ns: of a CPU, that of the longest, sleep included; no count */
	WIRE_COUNT_PAGE_FAULTED_IN,	/* of a stack */
	WIRE_COUNT_STACK_UNKNOWN,	/* the mapping of a stack could not be found: one page was copied */
	WIRE_COUNT_CODE_UNKNOWN,	/* a capture whose mappings would have taken too much work to find */
	WIRE_COUNT_MAPPINGS_BUDGET,	/* likewise, because others had used up the second's work */
	WIRE_COUNT_SWITCHED_OFF,	/* captures of a process, for a while */
	WIRE_COUNT_GONE_AT_END,		/* waited at the end, and was dead before it could be listed */
	WIRE_COUNT_LIFECYCLE_LOST,
	WIRE_COUNT_ACCOUNT_LOST, /* of the ledger */
	WIRE_COUNT_ACCOUNT_MADE,
	WIRE_COUNT_ACCOUNT_SETTLED, /* told, or its thread is not recorded: at the end, all that were made */
	WIRE_COUNT_NOT_FOLLOWED,    /* a child of a recorded process that found no place in the set of pids */
	WIRE_COUNT_NOT_LISTED,	    /* a waiting thread that found no buffer for its stacks */
	WIRE_COUNT_SAMPLE, /* the sampling event fired; its periods, in what it counts, instead of ns */
	WIRE_COUNT_SAMPLE_RING_FULL,
	WIRE_COUNT_SAMPLE_RING_BUSY,
	WIRE_COUNT_SAMPLE_NO_STORAGE, /* its thread is not known */
	WIRE_COUNT_SAMPLE_MISSED, /* it fired and the program was not called, or it did not fire in time */
	WIRE_COUNT_WAKER_UNKNOWN, /* of a wait, whose time is kept */
	WIRE_COUNT_WAKER_CUT,	  /* a chain, for want of storage */
	WIRE_COUNTERS,
};

/*
 * Where the time of one thread under one program went; nanoseconds, instants on the scheduler's clock. Sent
 * when the thread has left its last CPU or called execve. One that goes on is listed: its last stretch, on
 * the CPU since arrived_ns or off it since out_ns, is not in the sums.
 */
struct wire_account {
	uint32_t type;	  /* WIRE_ACCOUNT */
	uint32_t is_new;  /* begins with its thread's next wait that ends: nothing is known of one before */
	uint32_t is_open; /* counted as made and not as settled; changed by atomic operations */
	uint32_t reserved;
	struct wire_process process;
	uint64_t since_ns;  /* 0: since recording began */
	uint64_t until_ns;  /* 0: it goes on, or went on when recording ended */
	uint64_t on_cpu_ns; /* what the scheduler has charged */
	uint64_t stolen_ns; /* on a CPU and not charged: interrupts, the hypervisor */
	uint64_t blocked_ns;
	uint64_t runnable_ns;
	uint64_t lost_ns[WIRE_LOSSES]; /* by wire_counter_id */
	uint64_t arrived_ns;	       /* came to a CPU last; 0: it has not */
	uint64_t out_ns;	       /* left it last; 0: has come to one since, or has never been on one */
	uint64_t exec_ns;	       /* charged ever, as far as it is booked */
	uint64_t charged_ns;	       /* and by now */
	uint64_t stolen_before_ns;     /* by its CPU's clocks when it came */
	char comm[WIRE_COMM_BYTES];
};
WIRE_ASSERT(sizeof(struct wire_account) == 192);

/* What a task iterator writes of a thread. */
struct wire_task {
	struct wire_process process;
	struct wire_code code; /* hash only where one thread was asked for */
	uint32_t recorded;     /* passes the filters (cgroups apart) */
	uint32_t is_kernel;    /* a kernel thread */
};
WIRE_ASSERT(sizeof(struct wire_task) == 48);

/*
 * A thread as it stands, with its stacks if it is off the CPU. It has been so, without a break, from this
 * record to a later one if the later one has the same `switches` and is not `on_cpu`.
 */
struct wire_thread {
	struct wire_process process;
	uint64_t switches; /* see wire_interval */
	uint64_t cookie;   /* of its kernel entry, if a capture is pending; 0: none */
	/* The stamp of its last leaving, scheduler's clock. Frozen when recording ends; 0: none. */
	uint64_t out_ns;
	uint64_t out_run_delay;
	uint64_t run_delay;
	uint64_t queued_ns;    /* since when it waits for a CPU; 0: it does not */
	uint64_t arrived_ns;   /* when it came to a CPU last */
	uint64_t arrivals;     /* how often it has come to a CPU ever */
	uint64_t new_arrivals; /* and since it left or was first seen; as for a stamp's age */
	uint64_t off_cpu_ns; /* how long it has been off the CPU so far, perhaps less by what interrupts took;
				0: not known */
	uint64_t registers[WIRE_REGISTERS];
	uint64_t stack_begin, stack_end; /* where its stack may be read; equal: that is not known */
	uint32_t on_cpu;		 /* or on its way there or off: nothing more is known of it */
	uint32_t has_run;		 /* since the programs were loaded; until recording ended */
	uint32_t has_user;		 /* registers are set */
	uint32_t in_syscall;		 /* see wire_capture */
	uint32_t kind;	    /* wire_kind of how it left, or of what it did when it was first seen */
	uint32_t state;	    /* wire_kind of what it is doing now */
	uint32_t is_kernel; /* it never runs in user mode */
	uint32_t count;	    /* kernel frames that follow */
	int32_t syscall;    /* see wire_interval */
	uint32_t is_32_bit; /* see wire_capture */
	uint64_t cgroup;    /* see wire_interval */
	char comm[WIRE_COMM_BYTES];
	/* uint64_t frames[count], leaf first */
};
WIRE_ASSERT(sizeof(struct wire_thread) == 184 + 8 * WIRE_REGISTERS);

struct wire_counter {
	uint64_t count;
	uint64_t ns;
};

/* A glob over a thread's name as a bit machine: bit k of a state set stands for "k symbols matched". */
struct wire_glob {
	uint32_t symbol[256]; /* bit k: this byte may be symbol k */
	uint32_t star;	      /* bit k: symbol k is preceded by a '*' */
	uint32_t accept;      /* the one bit that stands for the whole pattern */
};

#define WIRE_STAMPS 65536 /* threads whose stamps are in an array, at most; a power of 2 */

/* Fixed before the programs are loaded; what is 0 here is not even verified by the kernel. */
struct wire_config {
	struct wire_hash_key hash_key; /* of this recording */
	uint64_t min_wait_ns;
	uint64_t max_wait_ns; /* longer intervals are left out; 0: none are */
	/* Addresses of the two functions that a thread comes back in, the second on its first run; 0:
	 * unknown, the frames above them are not cut. */
	uint64_t schedule_begin, schedule_end;
	uint64_t schedule_tail_begin, schedule_tail_end;
	uint64_t entry_begin, entry_end;   /* code by which the kernel is entered; 0: unknown */
	uint64_t capture_bytes_per_second; /* per CPU, and for samples and wakes as much again */
	uint32_t task_works_per_second;	   /* likewise; 0: none */
	uint32_t own_tgid;
	uint32_t command_tgid;		/* joins the set of pids when it calls execve; 0: none */
	uint32_t buffers;		/* entries of the map of that name */
	uint32_t mappings_per_second;	/* to be looked at by captures, per CPU; likewise */
	uint32_t process_ns_per_second; /* that captures may take of the threads of a process */
	uint8_t ends_at_switch;		/* intervals end at sched_switch, not at sched_exit_tp */
	uint8_t has_rq_clock;
	uint8_t has_task_work;
	uint8_t reads_mappings; /* from the tree that the kernel keeps them in, see mm_tree.bpf.h */
	uint8_t can_read_user;	/* false on kernels where such a read can deadlock */
	uint8_t filter_pids;
	uint8_t filter_tids;
	uint8_t follow_forks;
	uint8_t globs;
	uint8_t cgroups;
	uint8_t filter_uids;
	uint8_t kernel_threads; /* are recorded too */
	uint16_t kinds;		/* bit wire_kind: intervals of that kind are recorded; 0: all are */
	uint8_t ledger;		/* threads have accounts */
	uint8_t excluded_globs; /* behind the others in the map, as the next ones are */
	uint8_t excluded_cgroups;
	uint8_t exclude_pids;
	uint8_t samples_at_switch; /* what is left out may be left out at sched_switch, see sampling.bpf.h */
	uint8_t keeps_stacks;	   /* kernel stacks are walked at sched_switch and used at sched_exit_tp */
	uint8_t walks_user;	   /* user stacks are walked at sched_exit_tp */
	uint8_t selects;	   /* any of the filters above but kinds */
	uint8_t own_pids;	   /* user space is in a pid namespace of its own, see numbers.bpf.h */
	uint8_t sums;		   /* short intervals are added up, see sums.bpf.h */
	uint32_t proof_odds;	   /* one walk of a user stack in so many is proven by a capture, too */
	uint32_t run_queue_bounds_ns[WIRE_SUM_BOUNDS]; /* sums keep apart what is between different ones */
	uint32_t per_thread;			       /* and what is of different threads */
	uint32_t has_stamps;			       /* there is an array of them, see stamp.bpf.h */
	uint32_t user_salt;			       /* see users.bpf.h */
	uint32_t sum_ns;     /* and what is in different stretches of time; 0: seconds */
	uint32_t page_bytes; /* of the kernel, where that is not the same on all */
	uint32_t reserved;
};
WIRE_ASSERT(sizeof(struct wire_config) == 192);

#define WIRE_USERS 256 /* places for what is kept of users, a power of 2 */

/* On one CPU, from the start of the recording. */
struct wire_user {
	uint64_t waits;	     /* that were recorded */
	uint64_t captures;   /* that were asked for, of waits */
	uint64_t left_out;   /* waits that were looked at to find that they are not sampled */
	uint64_t lifecycles; /* records of execs and exits */
};
WIRE_ASSERT(sizeof(struct wire_user) == 32);

/* Every so many runs of a part of a program one is timed. A prime, so that no pattern of runs repeats in it.
 */
#define WIRE_TIMED_EVERY 61

/* What a part of a program takes. */
struct wire_timing {
	uint64_t timed_ns; /* the runs that were timed */
	uint32_t timed;	   /* how many these are */
	uint32_t untimed;  /* since the last one of them, downwards */
	uint64_t began_ns; /* the run that is being timed; 0: none is */
};
WIRE_ASSERT(sizeof(struct wire_timing) == 24);

/* What a CPU counts, in lines of its cache: what most switches touch, what a wait that is recorded touches,
 * and the rest. */
struct wire_cpu {
	uint64_t random;		 /* state of its random numbers; 0: not begun */
	struct wire_counter passed_over; /* at sched_switch: a part of WIRE_COUNT_NOT_SAMPLED */
	uint32_t told_tid;		 /* whose arrival is over since sched_switch; 0: nobody's */
	uint32_t sampled_tid;		 /* whose wait sched_switch has sampled; 0: nobody's */
	uint64_t sampled_ns;		 /* and with which T */
	struct wire_timing switches;	 /* of sched_switch */
	/* The first line ends here. */
	struct wire_timing arrivals;	  /* of waits that are recorded, or left out late */
	struct wire_timing kernel_stacks; /* walked at sched_switch, a part of `switches` */
	uint64_t reserved[2];
	/* The second line ends here. */
	struct wire_timing wakes; /* of sched_waking */
	uint64_t more_reserved[5];
};
WIRE_ASSERT(sizeof(struct wire_cpu) == 192);

/* Addresses of kernel code; begin == end: none. */
struct wire_range {
	uint64_t begin, end;
};

/* Likewise fixed: of the wakers. */
struct wire_waker_config {
	struct wire_range try_to_wake_up;
	struct wire_range
		interrupts[WIRE_INTERRUPT_ENTRIES]; /* entered for interrupts, and for nothing else */
	struct wire_range softirqs[2];		    /* what runs them */
	struct wire_range backlog; /* the softirq that delivers the host's packets to itself */
	uint32_t enabled;
	uint32_t max_frames; /* of a stack: one that has as many may have more */
};
WIRE_ASSERT(sizeof(struct wire_waker_config) == 136);

/* Likewise: what walks of kernel stacks need, see kernel_walk.bpf.h; `addresses`, `entries`, `modules` and
 * `rows` are of tables, which x86-64 has, see orc.bpf.h. */
struct wire_kernel_walk_config {
	struct wire_range text;
	struct wire_range sched_text; /* functions that the kernel's helper for stacks leaves out */
	struct wire_range lock_text;  /* likewise */
	uint64_t addresses;	      /* of .orc_unwind_ip */
	uint64_t entries;	      /* of .orc_unwind */
	uint64_t modules;	/* of the list of modules, which have tables of their own; 0: there is none */
	uint64_t ret_from_fork; /* where a new thread begins */
	uint64_t trampolines[2]; /* of tracers of functions */
	uint32_t rows;		 /* of both tables */
	uint32_t enabled;	 /* 0: nothing is walked */
	uint32_t checks_all;	 /* every walk is compared with the helper's: for tests */
	uint32_t max_frames;	 /* that the helper tells of a stack */
};
WIRE_ASSERT(sizeof(struct wire_kernel_walk_config) == 112);

/* How the rows of these tables number registers. */
struct wire_orc_registers {
	uint8_t sp;
	uint8_t prev_sp;     /* the CFA */
	uint8_t bp_indirect; /* what lies where the frame pointer points to */
	uint8_t reserved;
};
WIRE_ASSERT(sizeof(struct wire_orc_registers) == 4);

WIRE_ENUM(wire_phase){
	WIRE_WAITING,		    /* stamps are kept, nothing is recorded */
	WIRE_RECORDING, WIRE_ENDED, /* nothing is recorded, and stamps are not touched any more */
	WIRE_LISTING,		    /* the same, and who still waits is being listed for the last time */
};

#define WIRE_SAMPLE_MOST_NS 1000000000ULL

/* Shared with the running programs through .bss. */
struct wire_control {
	uint64_t start_ns; /* scheduler's clock; set before recording begins */
	uint64_t end_ns;   /* CLOCK_MONOTONIC; set before it ends */
	uint64_t
		clock_offset; /* scheduler's clock minus CLOCK_MONOTONIC, now: they drift apart. Learned by
				 the programs until recording begins, and then kept up to date from outside */
	uint64_t
		cut_ns; /* scheduler's clock: no sum has intervals before it and behind it; set ahead of it */
	uint64_t sample_period_ns; /* that an on-CPU sample stands for */
	uint64_t clock_period_ns;  /* of sampling events that count time; 0: they count something else */
	uint64_t long_walk_ns;	   /* of the programs: when so many mappings were walked last */
	uint64_t list_min_ns;	   /* threads are listed that have been off for that long; 0: all */
	uint64_t pid_namespace;	   /* address of user space's, see numbers.bpf.h, as the next one */
	uint32_t pid_level;
	uint32_t list_pass;   /* with list_min_ns, a wait is listed in one pass only */
	uint32_t phase;	      /* wire_phase; one store, so that no event falls between two of them */
	uint32_t zero;	      /* stays 0 */
	uint32_t hides_tasks; /* the kernel: sched_exit tells of arrivals that sched_switch does not */
	uint32_t kernel_walk_differs; /* by the BPF programs: a walk of a kernel stack was wrong, no more are
					 made */
	struct wire_orc_registers orc_registers; /* set before recording */
	/* By the programs: how many bytes had ever been written to a ring when it last woke user space. */
	uint64_t woken_by_intervals;
	uint64_t woken_by_captures;
	/* T of users, at most WIRE_SAMPLE_MOST_NS; 0: all waits; may change. */
	uint64_t sample_ns[WIRE_USERS];
};
WIRE_ASSERT(sizeof(struct wire_control) == 120 + 8 * WIRE_USERS);

#ifdef __cplusplus
}
#endif

#endif /* OFFCPU_BPF_WIRE_H_ */

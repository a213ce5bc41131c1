/*
 * Scripted schedules, over which the real BPF programs run, and the bytes that they send: for tests of those
 * who read them. Each script forgets the ones before. All are about one thread, the worker: WORKER_TID of
 * WORKER_PID.
 */
#ifndef OFFCPU_TESTS_BPF_RECORDS_H_
#define OFFCPU_TESTS_BPF_RECORDS_H_

#ifdef __cplusplus
#include <cstdint>
extern "C" {
#else
#include "bpf/kernel_types.h"
#endif
#include "bpf/wire.h"

#define WORKER_PID 100
#define WORKER_TID 101
#define WORKER_START 1111 /* of its process, boot clock */
#define WORKER_EXEC 3	  /* the number of its program */
#define WORKER_CGROUP 0x7700000077
#define WORKER_NAME "fifteen letters"
#define WORKER_RAX 1000 /* and so on, in the order of DWARF, but for the stack pointer */
#define WORKER_CODE 0x400000
#define WAKER_PID 200
#define WAKER_TID 201
#define WAKER_START 2222
#define WAKER_EXEC 5
#define WAKER_NAME "waker"
#define RECORDING_START 100000000000ULL /* scheduler's clock */
#define MONOTONIC_BEHIND 7000000000ULL	/* CLOCK_MONOTONIC, that clock */
#define KERNEL_FRAME 0xffffffff81000010ULL
#define KERNEL_CALLER 0xffffffff81000020ULL
#define USER_CODE_HASH 0x1234 /* that its stack is walked by */
#define STACK_BEGIN 0x7000000
#define STACK_HOLE 0x7006000 /* a page of it that cannot be read */
#define STACK_END 0x7008000
#define PIECE_BEGIN 0x7001000 /* that captures take, too */

struct raw_record {
	const void *bytes; /* NULL: there is none */
	uint64_t length;
};

/* Records that the script has sent. */
struct raw_record raw_interval(uint32_t type, uint32_t index);
struct raw_record raw_capture(uint32_t index);
/* What iterators have written. */
struct raw_record raw_listing(void);

/* Sleeps in poll from 1 ms on, is woken at 3 ms, and is back at 4 ms. */
void script_sleep(void);
/* Calls sched_yield of i386 at 1 ms, and is back at 1.5 ms. */
void script_yield(void);
/* Sleeps from 1 ms to 21 ms, where waits of less than 30 ms are sampled. */
void script_sampled_sleep(void);
/* Sleeps twice, from 1 ms to 1.1 ms and from 2 ms to 2.2 ms, each with half of it waiting for a CPU, where
 * short waits are added up: its user stack is walked, and known. */
void script_sum(void);
/* Sleeps from 1 ms on. An interrupt wakes the waker at 1.5 ms, which wakes it at 3 ms, from CPU 1; it is back
 * at 4 ms. Captures are asked for of both. */
void script_woken(void);
/* Is sampled at 2 ms, in poll. */
void script_sample(bool in_user);
/* Comes back with the stack pointer `sp`, is captured, and has its stack walked, to an end that nobody knows.
 */
void script_capture(uint64_t sp, bool is_32_bit);
/* Calls execve while a capture is asked for. */
void script_exec(void);
void script_exit(void);
/* Runs from 1 ms before recording on. Sleeps as in script_sleep; from 4 ms on interrupts take 0.25 ms. Sleeps
 * from 6 ms to 6.1 ms, which is shorter than what is recorded, and dies at 7 ms. */
void script_account(void);
/* The same, but its accounts are listed at 5 ms. */
void script_list_accounts(void);
/* Sleeps from 1 ms on, is woken at 3 ms, and waits for a CPU still when recording ends at 5 ms. */
void script_list_threads(void);
/* Tells whether the BPF programs find that a name of 16 bytes fits. */
bool glob_fits(const struct wire_glob *glob, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* OFFCPU_TESTS_BPF_RECORDS_H_ */

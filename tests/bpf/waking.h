/* Scripted wakes: what lies where in the kernel's code, and threads that wake others from there. A source
 * includes this behind programs.h. */
#ifndef OFFCPU_TESTS_BPF_WAKING_H_
#define OFFCPU_TESTS_BPF_WAKING_H_

#include "tests/bpf/host/programs.h"

/* Each function has 0x100 bytes. */
#define GLUE 0x8000ULL
#define TRY_TO_WAKE_UP 0x1000ULL
#define INTERRUPT(n) (0x2000ULL + 0x200ULL * (n))
#define SOFTIRQ(n) (0x3000ULL + 0x200ULL * (n))
#define BACKLOG 0x4000ULL
#define CODE 0x9000ULL /* of anything */
#define FRAMES(...) (const __u64[]){__VA_ARGS__}, sizeof((const __u64[]){__VA_ARGS__}) / 8

static inline struct wire_range function_at(__u64 begin)
{
	return (struct wire_range){.begin = begin, .end = begin + 0x100};
}

/* Wakers are recorded, from now on, of stacks of fewer than 20 frames. */
static inline void record_wakers(void)
{
	waker_settings->enabled = 1;
	waker_settings->max_frames = 20;
	waker_settings->try_to_wake_up = function_at(TRY_TO_WAKE_UP);
	for (int i = 0; i < WIRE_INTERRUPT_ENTRIES; i++)
		waker_settings->interrupts[i] = function_at(INTERRUPT(i));
	waker_settings->softirqs[0] = function_at(SOFTIRQ(0));
	waker_settings->softirqs[1] = function_at(SOFTIRQ(1));
	waker_settings->backlog = function_at(BACKLOG);
	control.phase = WIRE_RECORDING;
}

static inline void set_frames(const __u64 *frames, long count)
{
	for (long i = 0; i < count; i++)
		host.context_frames[i] = frames[i];
	host.context_count = count;
}

static inline struct wake *wake_of_task(struct task_struct *task)
{
	return host_value(&wakes, task, 0);
}

/* `waker` runs and wakes `wakee`, which has storage for it. Returns what is noted. */
static inline struct wake *wake_by(struct task_struct *waker, struct task_struct *wakee, const __u64 *frames,
				   long count)
{
	set_frames(frames, count);
	make_wake(wakee);
	host.current = waker;
	sched_waking(NULL, wakee);
	return wake_of_task(wakee);
}

#endif /* OFFCPU_TESTS_BPF_WAKING_H_ */

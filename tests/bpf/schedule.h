/*
 * Scripted schedules: CPUs that switch between threads as the kernel does, with what it books of them, and
 * with the programs called where it calls them. A source includes this behind programs.h. Times are since
 * SCRIPT_START, which is when recording begins, on the scheduler's clock.
 */
#ifndef OFFCPU_TESTS_BPF_SCHEDULE_H_
#define OFFCPU_TESTS_BPF_SCHEDULE_H_

#include "tests/bpf/host/programs.h"

#define SCRIPT_START (100 * SECOND) /* begins a second */
#define SCRIPT_AHEAD (7 * SECOND)   /* the scheduler's clock before CLOCK_MONOTONIC */
#define SLEEP TASK_INTERRUPTIBLE
#define BEFORE(ns) (-(__u64)(ns)) /* the start */

struct script {
	__u64 ns;		    /* scheduler's clock */
	__u64 stolen_ns[HOST_CPUS]; /* from its threads, by interrupts and the hypervisor */
	struct task_struct *running[HOST_CPUS];
	struct task_struct *idle[HOST_CPUS];
	__u64 search_ns;	    /* that the scheduler takes to find who comes next */
	struct task_struct *hidden; /* programs are not called where it leaves a CPU or comes to one */
};

static struct script script;

/* It is so late now, everywhere. */
static inline void at(__u64 ns)
{
	script.ns = SCRIPT_START + ns;
	host.now_ns = script.ns - SCRIPT_AHEAD;
	for (__u32 cpu = 0; cpu < HOST_CPUS; cpu++) {
		host.runqueues[cpu].clock = script.ns;
		host.runqueues[cpu].clock_task = script.ns - script.stolen_ns[cpu];
	}
}

/* All CPUs are idle, a second before the start; kernel stacks have two frames, of code that nobody knows. */
static inline void begin_script(void)
{
	__builtin_memset(&script, 0, sizeof(script));
	for (__u32 cpu = 0; cpu < HOST_CPUS; cpu++) {
		script.idle[cpu] = script.running[cpu] = host_new_kernel_thread(0);
		script.idle[cpu]->se.cfs_rq->rq = &host.runqueues[cpu];
	}
	settings->has_rq_clock = 1;
	control.clock_offset = SCRIPT_AHEAD;
	host.context_frames[0] = host.task_frames[0] = 0xffffffff81000010;
	host.context_frames[1] = host.task_frames[1] = 0xffffffff81000020;
	host.context_count = host.task_count = 2;
	at(BEFORE(SECOND));
}

/* Recording begins now. */
static inline void record(void)
{
	control.start_ns = script.ns;
	control.phase = WIRE_RECORDING;
}

static inline void end_recording(void)
{
	control.end_ns = host.now_ns;
	control.phase = WIRE_ENDED;
}

/* What the recorder lists before it records. */
static inline void list(struct task_struct *task)
{
	struct bpf_iter_meta meta = {};
	struct bpf_iter__task ctx = {.meta = &meta, .task = task};

	list_tasks(&ctx);
}

/* It wants to run. */
static inline void wake(struct task_struct *task)
{
	task->__state = 0;
	if (!task->sched_info.last_queued)
		task->sched_info.last_queued = script.ns;
}

static inline struct task_struct *fork_thread(struct task_struct *parent, struct task_struct *child)
{
	sched_process_fork(NULL, parent, child);
	wake(child);
	return child;
}

/* The scheduler brings what it has charged a thread up to date. */
static inline void charge(struct task_struct *task, __u32 cpu)
{
	__u64 now = host.runqueues[cpu].clock_task;

	if (now > task->se.exec_start)
		task->se.sum_exec_runtime += now - task->se.exec_start;
	task->se.exec_start = now;
}

static inline void book_arrival(struct task_struct *task)
{
	struct sched_info *info = &task->sched_info;

	if (info->last_queued)
		info->run_delay += script.ns - info->last_queued;
	info->last_queued = 0;
	info->last_arrival = script.ns;
	info->pcount++;
}

/* A CPU goes from who runs on it to `next`. */
static inline void switch_cpu(__u32 cpu, struct task_struct *next, bool preempt, __u32 prev_state)
{
	struct task_struct *prev = script.running[cpu];

	charge(prev, cpu);
	at(script.ns + script.search_ns - SCRIPT_START);
	*(prev_state && !preempt ? &prev->nvcsw : &prev->nivcsw) += 1;
	prev->__state = prev_state;
	next->se.cfs_rq->rq = &host.runqueues[cpu];
	next->se.exec_start = host.runqueues[cpu].clock_task;
	next->on_cpu = 1;
	host_run_on(prev, cpu);
	if (prev != script.hidden)
		sched_switch(NULL, preempt, prev, next, prev_state);
	prev->on_cpu = 0;
	if (!prev_state || preempt)
		wake(prev);
	book_arrival(next);
	script.running[cpu] = next;
	host.current = next;
	if (next != script.hidden && (!config.ends_at_switch || control.hides_tasks))
		sched_exit(NULL, true);
}

/* Who runs on the CPU goes to sleep, is preempted, or dies, and `next` comes. */
static inline void sleep_on(__u32 cpu, __u32 state, struct task_struct *next)
{
	switch_cpu(cpu, next ?: script.idle[cpu], false, state);
}

static inline void preempt_on(__u32 cpu, struct task_struct *next)
{
	switch_cpu(cpu, next ?: script.idle[cpu], true, 0);
}

static inline void run_on(__u32 cpu, struct task_struct *next)
{
	switch_cpu(cpu, next, false, script.running[cpu]->pid ? SLEEP : 0);
}

/* The thread wants to run at this time, and runs on CPU 0 at once. */
static inline void come_at(struct task_struct *task, __u64 ns)
{
	at(ns);
	wake(task);
	run_on(0, task);
}

/* Who runs on CPU 0 leaves it at this time, in this state. */
static inline void leave_at(__u64 ns, __u32 state)
{
	at(ns);
	sleep_on(0, state, NULL);
}

/* Who runs on CPU 0 sleeps for so long, and is back. */
static inline void sleep_for(struct task_struct *task, __u64 ns)
{
	sleep_on(0, SLEEP, NULL);
	at(script.ns + ns - SCRIPT_START);
	wake(task);
	run_on(0, task);
}

/* The intervals that were sent, oldest first. */
static inline const struct wire_interval *sent_interval(__u32 index)
{
	return sent_record(WIRE_INTERVAL, index);
}

#endif /* OFFCPU_TESTS_BPF_SCHEDULE_H_ */

/*
 * A load of several threads that wake, run, are preempted, and sleep, as numbers that are always the same
 * have it, and where the time of each thread went by a bookkeeping of its own. A source includes this behind
 * programs.h.
 */
#ifndef OFFCPU_TESTS_BPF_LOAD_H_
#define OFFCPU_TESTS_BPF_LOAD_H_

#include "tests/bpf/schedule.h"

#define LOAD_THREADS 8
#define LOAD_CPUS 3
#define LOAD_WAITS 8192

enum doing { ASLEEP, QUEUED, RUNNING };

struct actor {
	struct task_struct *task;
	enum doing doing;
	__u32 cpu;
	__u64 left_ns, queued_ns, arrived_ns, stolen_before_ns;
	__u64 on_cpu_ns, stolen_ns, blocked_ns, runnable_ns; /* since the start */
};

/* A wait as the programs have to report it. */
struct told_wait {
	__u32 tid, kind;
	__u64 end_ns, blocked_ns, runnable_ns;
};

struct load {
	struct actor actors[LOAD_THREADS];
	struct told_wait waits[LOAD_WAITS]; /* since the start */
	__u32 wait_count;
	__u64 random;
};

static struct load load;

static inline __u32 load_random(__u32 below)
{
	load.random = load.random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (__u32)(load.random >> 33) % below;
}

static inline struct actor *actor_on(__u32 cpu)
{
	for (__u32 i = 0; i < LOAD_THREADS; i++)
		if (load.actors[i].doing == RUNNING && load.actors[i].cpu == cpu)
			return &load.actors[i];
	return NULL;
}

static inline __u64 since_start(__u64 ns)
{
	return control.phase == WIRE_WAITING || ns < control.start_ns ? control.start_ns : ns;
}

static inline void model_departure(struct actor *actor, bool sleeps)
{
	__u64 since = since_start(actor->arrived_ns), ran = script.ns - since, stolen;

	stolen = script.stolen_ns[actor->cpu] - actor->stolen_before_ns;
	if (control.phase == WIRE_RECORDING) {
		actor->stolen_ns += stolen;
		actor->on_cpu_ns += ran - stolen;
	}
	actor->left_ns = script.ns;
	actor->queued_ns = script.ns;
	actor->doing = sleeps ? ASLEEP : QUEUED;
}

static inline void model_arrival(struct actor *actor, __u32 cpu)
{
	__u64 left = since_start(actor->left_ns), queued = since_start(actor->queued_ns);
	struct told_wait wait = {
		.tid = actor->task->pid,
		.kind = actor->queued_ns == actor->left_ns ? WIRE_KIND_PREEMPTED : WIRE_KIND_SLEEPING,
		.end_ns = script.ns,
		.blocked_ns = queued - left,
		.runnable_ns = script.ns - queued,
	};

	actor->doing = RUNNING;
	actor->cpu = cpu;
	actor->arrived_ns = script.ns;
	actor->stolen_before_ns = script.stolen_ns[cpu];
	if (control.phase != WIRE_RECORDING)
		return;
	actor->blocked_ns += wait.blocked_ns;
	actor->runnable_ns += wait.runnable_ns;
	load.waits[load.wait_count++] = wait;
}

/* On this CPU comes who is queued, or nobody, and who runs there goes. */
static inline void switch_actors(__u32 cpu, struct actor *next)
{
	struct actor *prev = actor_on(cpu);
	bool sleeps = prev && load_random(2);

	if (!prev && !next)
		return;
	if (prev)
		model_departure(prev, sleeps);
	if (next)
		model_arrival(next, cpu);
	if (sleeps || !prev)
		switch_cpu(cpu, next ? next->task : script.idle[cpu], false, prev ? SLEEP : 0);
	else
		preempt_on(cpu, next ? next->task : NULL);
}

/* So much later one thread wakes, comes to a CPU, or leaves one. */
static inline void load_step(void)
{
	struct actor *actor = &load.actors[load_random(LOAD_THREADS)];
	__u64 passed = 1 + load_random(100000);
	__u32 cpu = load_random(LOAD_CPUS);

	if (load_random(4) == 0)
		script.stolen_ns[cpu] += load_random(passed);
	at(script.ns + passed - SCRIPT_START);
	if (actor->doing == ASLEEP) {
		actor->doing = QUEUED;
		actor->queued_ns = script.ns;
		wake(actor->task);
	} else if (actor->doing == QUEUED) {
		switch_actors(cpu, actor);
	} else {
		switch_actors(actor->cpu, NULL);
	}
}

/* Threads of two processes, which have run before recording begins now; who runs has been charged up to now.
 */
static inline void begin_load(__u32 warm_up_steps)
{
	__builtin_memset(&load, 0, sizeof(load));
	begin_script();
	for (__u32 i = 0; i < LOAD_THREADS; i++) {
		struct task_struct *leader = load.actors[i & 1].task;

		load.actors[i].task = i < 2 ? host_new_process(10 + i) : host_new_thread(leader, 10 + i);
		load.actors[i].task->__state = SLEEP;
		list(load.actors[i].task);
	}
	for (__u32 i = 0; i < warm_up_steps; i++)
		load_step();
}

/* Ends the wait of everybody, and takes them off again. */
static inline void end_load(void)
{
	for (__u32 cpu = 0; cpu < LOAD_CPUS; cpu++)
		switch_actors(cpu, NULL);
	for (__u32 i = 0; i < LOAD_THREADS; i++) {
		at(script.ns + 1000 - SCRIPT_START);
		if (load.actors[i].doing == ASLEEP)
			wake(load.actors[i].task);
		if (load.actors[i].doing == ASLEEP)
			load.actors[i].queued_ns = script.ns;
		at(script.ns + 1000 - SCRIPT_START);
		switch_actors(0, &load.actors[i]);
	}
	at(script.ns + 1000 - SCRIPT_START);
	switch_actors(0, NULL);
}

#endif /* OFFCPU_TESTS_BPF_LOAD_H_ */

// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The BPF programs that list threads when they are asked to: what they are, what is mapped in them, where
 * they wait, and where their time went. */
#include "buffers.bpf.h"
#include "clock.bpf.h"
#include "code.bpf.h"
#include "counters.bpf.h"
#include "filter.bpf.h"
#include "ledger.bpf.h"
#include "machine.bpf.h"
#include "stamp.bpf.h"
#include "task.bpf.h"
#include "users.bpf.h"
#include "wakers.bpf.h"

/* Before recording begins: what is seen of a thread now is what it did last. */
static __always_inline void note_first_sight(struct task_struct *task, struct task_state *state)
{
	struct stamp *stamp;

	claim_stamp(task, false);
	stamp = stamp_of(task, state);
	if (!stamp)
		return;
	stamp->user = user_of(task);
	if (!stamp->out_ns) {
		stamp->arrivals = task->sched_info.pcount;
		stamp->out_run_delay = task->sched_info.run_delay;
		stamp->out_state = BPF_CORE_READ(task, __state);
		stamp->knows_state = 1;
		stamp->was_moved = was_moved_asleep(task);
	}
	/* After the storage was made: who comes or goes from here on says so itself. */
	if (task->on_cpu)
		stamp->has_run = 1;
}

static __always_inline void remember_task(struct task_struct *task)
{
	struct task_state *state = make_state(task);

	if (control.phase == WIRE_WAITING) {
		note_first_sight(task, state);
		open_account(task);
	}
}

/* Every thread: makes its storage if it may be recorded, and tells what it is. */
SEC("iter/task")
int list_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wire_task record = {};

	if (!task)
		return 0;
	make_wake(task); /* anybody may wake somebody who is recorded */
	if (kind_of_task_is_recorded(task))
		remember_task(task);
	fill_process(&record.process, task);
	record.code.sequence = code_sequence(task);
	record.recorded = task_is_recorded(task);
	record.is_kernel = !!(task->flags & PF_KTHREAD);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

/* describe_task takes the time of its caller, but keeps its CPU meanwhile: it looks at so many mappings at
 * any time, and at more of them, at some 300 ns each, only once a second. With even more the hash is 0:
 * unknown. */
#define DESCRIBED_VMAS 8192
#define DESCRIBED_VMAS_MAX 131072

static __always_inline bool may_walk_long(void)
{
	__u64 last = control.long_walk_ns, now = bpf_ktime_get_ns();

	return now - last >= NS_PER_SECOND &&
	       __sync_val_compare_and_swap(&control.long_walk_ns, last, now) == last;
}

/* Tries to find known mappings at one moment: in one of them another may change. They are unrolled because
 * Linux 6.1 refuses loops around bpf_loop. */
#define CONFIRMATIONS 4

/* Is the code of `task` that of `space`? Then it is listed, as of `*sequence`. */
static __always_inline bool list_known_code(struct task_struct *task, const struct space *space,
					    struct code_list *list, __u64 *sequence)
{
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < CONFIRMATIONS; i++) {
		__u64 moment = code_sequence(task);

		if (!moment)
			continue;
		if (known_code_is_there(space, task, list) && was_not_changed(task, moment)) {
			list->head.hash = space->hash;
			*sequence = moment;
			return true;
		}
	}
	return false;
}

/* If all that was seen is there at one moment, and the kernel counts no further pages: the sequence number of
 * that moment; else 0. */
static __always_inline __u64 moment_of_seen_code(struct task_struct *task, struct code_list *list)
{
	__u64 sequence = code_sequence(task);

	if (!sequence || !list->seen_hash || exec_pages(task) != list->seen_pages)
		return 0;
	if (!wanted_code_is_there(task, list, list->seen_hash))
		return 0;
	return was_not_changed(task, sequence) ? sequence : 0;
}

/* A program that maps data all the time changes its mappings in each long walk. What was seen may be its code
 * all the same. Code that may be written is not among the kernel's pages: as in known_code_is_there. */
static __always_inline void confirm_seen_code(struct task_struct *task, struct code_list *list,
					      __u64 *sequence)
{
	list->known_hash = 0;
	list->wanted = list->head.count;
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < CONFIRMATIONS; i++) {
		__u64 moment = moment_of_seen_code(task, list);

		if (moment) {
			*sequence = moment;
			list->head.hash = list->seen_hash;
			return;
		}
	}
}

/* Lists the code of `task`; where mappings are many, what is known to be code is looked at first, and may be
 * all there is. */
static __always_inline void list_code_of(struct task_struct *task, const struct space *space,
					 struct code_list *list, __u64 *sequence)
{
	__u32 mappings = BPF_CORE_READ(task, mm, map_count);

	list->head.hash = 0;
	list->head.count = 0;
	list->seen_hash = 0;
	if (mappings > DESCRIBED_VMAS && space && is_of(space, task) &&
	    list_known_code(task, space, list, sequence))
		return;
	list->head.count = 0;
	if (mappings <= DESCRIBED_VMAS || may_walk_long()) {
		walk_code(task, list, DESCRIBED_VMAS_MAX);
		*sequence = list->sequence;
	}
	if (!list->head.hash && mappings > DESCRIBED_VMAS)
		confirm_seen_code(task, list, sequence);
}

/* In the time of who asks. Remembers what was found, for captures. */
static __always_inline void describe_code(struct wire_code *code, struct task_struct *task,
					  struct code_list *list, struct seq_file *seq)
{
	struct space *space = space_of(task, false);

	list_code_of(task, space, list, &code->sequence);
	if (!list->head.hash || list->head.count > WIRE_MAPPINGS)
		return;
	code->hash = list->head.hash;
	bpf_seq_write(seq, list->mappings, list->head.count * sizeof(struct wire_mapping));
	if (space && code_sequence(task) == code->sequence)
		remember_code(space, task, code->sequence, list);
}

/* The same for one thread, after its executable mappings. */
SEC("iter/task")
int describe_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct capture_buffer *buffer;
	struct wire_task record = {};

	if (!task || task->flags & PF_KTHREAD)
		return 0;
	fill_process(&record.process, task);
	record.code.sequence = code_sequence(task);
	buffer = config.reads_mappings ? claim_buffer() : NULL;
	if (buffer) {
		describe_code(&record.code, task, &buffer->code.list, ctx->meta->seq);
		release_buffer(buffer);
	}
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

/* Since when it has waited in the recording, scheduler's clock; 0: it does not wait, as far as is known. A
 * new thread waits since it was woken first; run_delay is what it has waited in queues of other CPUs. */
static __always_inline __u64 waits_since(struct task_struct *task, const struct stamp *stamp)
{
	__u64 since = stamp->out_ns, queued = task->sched_info.last_queued;

	if (!since && stamp->has_run)
		return 0;
	if (!since && !stamp->arrivals) {
		if (!queued)
			return 0;
		since = queued - task->sched_info.run_delay;
	}
	return since > control.start_ns ? since : control.start_ns;
}

/* Has this wait lasted long enough to be listed, and not been listed before? */
static __always_inline bool is_wanted(struct task_struct *task, struct task_state *state,
				      const struct stamp *stamp, __u64 switches)
{
	__u64 since;

	if (!control.list_min_ns)
		return true;
	if (!state || !stamp)
		return false;
	since = waits_since(task, stamp);
	if (!since || bpf_ktime_get_ns() + control.clock_offset < since + control.list_min_ns)
		return false;
	/* The kernel may show one task twice to one pass. */
	if (state->listed_wait == switches + 1 && state->listed_pass != control.list_pass)
		return false;
	state->listed_wait = switches + 1;
	state->listed_pass = control.list_pass;
	return true;
}

static __always_inline void fill_stamp(struct wire_thread *thread, struct task_struct *task,
				       const struct stamp *stamp, int syscall)
{
	thread->arrivals = task->sched_info.pcount;
	if (stamp && stamp->was_moved) {
		thread->run_delay = stamp->out_run_delay;
		thread->queued_ns = 0;
	} else {
		thread->run_delay = task->sched_info.run_delay;
		thread->queued_ns = task->sched_info.last_queued;
	}
	thread->arrived_ns = task->sched_info.last_arrival;
	thread->out_ns = stamp ? stamp->out_ns : 0;
	thread->out_run_delay = stamp ? stamp->out_run_delay : 0;
	thread->new_arrivals = stamp ? thread->arrivals - stamp->arrivals : 0;
	thread->has_run = stamp ? stamp->has_run : 1;
	thread->syscall = syscall;
	thread->kind = stamp ? kind_of_wait(stamp, syscall) : WIRE_KIND_OTHER;
	thread->state = kind_of(BPF_CORE_READ(task, __state), syscall);
}

/* How long `task`, which must be off the CPU, has been so, without a stamp of it. Its runqueue's clocks stand
 * still while the CPU is idle, but that of the caller's goes on. */
static __always_inline __u64 time_off_cpu(struct task_struct *task)
{
	__u64 now, left;

	if (!config.has_rq_clock)
		return 0;
	left = departure_ns(task, moment_of_switch(task));
	now = scheduler_clock(bpf_get_current_task_btf());
	return now > left ? now - left : 0;
}

/* Fills in the stacks of `task`, which must be off the CPU. */
static __always_inline void fill_stacks(struct thread_record *record, struct task_struct *task,
					struct mm_reader *reader)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct stack_mapping stack = {};
	long bytes = bpf_get_task_stack(task, record->frames, sizeof(record->frames), 0);

	record->head.count = bytes > 0 ? (__u64)bytes / sizeof(__u64) : 0;
	if (!task->mm || task->flags & PF_KERNELS_OWN)
		return;
	fill_registers(record->head.registers, regs);
	record->head.in_syscall = is_in_syscall(regs);
	record->head.is_32_bit = is_32_bit(regs);
	record->head.has_user = 1;
	find_stack(task, reader, record->head.registers[WIRE_REGISTER_SP], &stack);
	record->head.stack_begin = stack.begin;
	record->head.stack_end = stack.end;
}

/* Which program it is, or was when recording ended. A thread that was in the middle of execve then gets the
 * name that its account has, so that the two agree. */
static __always_inline void fill_recorded_process(struct wire_process *process, struct task_struct *task,
						  const struct task_state *state)
{
	struct wire_account *account = control.phase >= WIRE_ENDED ? account_of(task, 0) : NULL;

	fill_process(process, task);
	if (account)
		*process = account->process;
	else if (state && state->late_exec_id)
		process->exec_id = state->late_exec_id - 1;
}

/*
 * Recorded threads, with their stacks where they are off the CPU. `switches` is read before everything that
 * is only right if the thread does not run, and again behind it, after `on_cpu`: see wire_thread.
 */
SEC("iter/task")
int list_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct capture_buffer *buffer;
	struct thread_record *record;
	struct task_state *state;
	struct stamp *stamp;
	__u64 switches;
	__u32 bytes;

	/* A zombie has left the CPU for good: it waits for nothing. */
	if (!task || !task_is_recorded(task) || BPF_CORE_READ(task, __state) & TASK_DEAD)
		return 0;
	state = bpf_task_storage_get(&tasks, task, 0, 0);
	switches = switches_of(task);
	stamp = stamp_of(task, state);
	if (!is_wanted(task, state, stamp, switches))
		return 0;
	buffer = claim_buffer();
	if (!buffer) {
		count(WIRE_COUNT_NOT_LISTED);
		return 0;
	}
	record = &buffer->thread;
	record->head.switches = switches;
	record->head.has_user = record->head.in_syscall = record->head.count = 0;
	record->head.is_kernel = !!(task->flags & PF_KERNELS_OWN);
	record->head.cgroup = control_group_of(task);
	fill_recorded_process(&record->head.process, task, state);
	bpf_probe_read_kernel_str(record->head.comm, sizeof(record->head.comm), &task->comm);
	record->head.on_cpu = task->on_cpu || switches_of(task) != switches;
	record->head.stack_begin = record->head.stack_end = 0;
	record->head.cookie = state ? state->cookie : 0;
	fill_stamp(&record->head, task, stamp, system_call(task));
	record->head.off_cpu_ns = record->head.on_cpu ? 0 : time_off_cpu(task);
	if (!record->head.on_cpu)
		fill_stacks(record, task, &buffer->code.list.look.reader);
	if (task->on_cpu || switches_of(task) != switches) {
		record->head.on_cpu = 1;
		record->head.has_user = record->head.count = 0;
	}
	bytes = sizeof(record->head) + record->head.count * sizeof(__u64);
	if (bytes <= sizeof(*record))
		bpf_seq_write(ctx->meta->seq, record, bytes);
	release_buffer(buffer);
	return 0;
}

/* Lists accounts that were not sent, each once. */
SEC("iter/task")
int list_accounts(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wire_account *stored, account;

	if (!task || !config.ledger)
		return 0;
	stored = account_of(task, 0);
	if (!stored || !stored->is_open)
		return 0;
	if (task_is_recorded(task)) {
		account = *stored;
		account.charged_ns = charged_by_now(task, stolen_at_reading(task));
		bpf_seq_write(ctx->meta->seq, &account, sizeof(account));
	}
	settle_account(stored);
	return 0;
}

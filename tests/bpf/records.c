/* The scripts of records.h. */
#include "tests/bpf/schedule.h"

#include "tests/bpf/records.h"

static struct task_struct *worker;

struct raw_record raw_interval(uint32_t type, uint32_t index)
{
	for (__u32 i = 0; i < host_records(&intervals); i++) {
		struct host_record record = host_record(&intervals, i);

		if (*(const __u32 *)record.bytes == type && index-- == 0)
			return (struct raw_record){.bytes = record.bytes, .length = record.length};
	}
	return (struct raw_record){};
}

struct raw_record raw_capture(uint32_t index)
{
	struct host_record record = host_record(&captures, index);

	return (struct raw_record){.bytes = record.bytes, .length = record.length};
}

struct raw_record raw_listing(void)
{
	return (struct raw_record){.bytes = host.seq, .length = host.seq_bytes};
}

static void begin(void)
{
	set_up();
	begin_script();
}

/* The registers in the order of DWARF, each one more than the one before, but the stack pointer. */
static void fill_user_registers(struct pt_regs *regs)
{
	regs->ax = WORKER_RAX;
	regs->dx = WORKER_RAX + 1;
	regs->cx = WORKER_RAX + 2;
	regs->bx = WORKER_RAX + 3;
	regs->si = WORKER_RAX + 4;
	regs->di = WORKER_RAX + 5;
	regs->bp = WORKER_RAX + 6;
	regs->sp = STACK_END - 0x100;
	regs->r8 = WORKER_RAX + 8;
	regs->r9 = WORKER_RAX + 9;
	regs->r10 = WORKER_RAX + 10;
	regs->r11 = WORKER_RAX + 11;
	regs->r12 = WORKER_RAX + 12;
	regs->r13 = WORKER_RAX + 13;
	regs->r14 = WORKER_RAX + 14;
	regs->r15 = WORKER_RAX + 15;
	regs->ip = WORKER_RAX + 16;
	regs->orig_ax = 7; /* poll */
}

/* Makes the worker, which runs on CPU 0 from 1 ms before recording on. It has left CPUs 41 times before. */
static void run_worker(void)
{
	struct task_struct *leader = host_new_process(WORKER_PID);

	leader->start_boottime = WORKER_START;
	leader->self_exec_id = WORKER_EXEC;
	worker = host_new_thread(leader, WORKER_TID);
	worker->nvcsw = 40;
	worker->nivcsw = 1;
	worker->cgroups->dfl_cgrp->kn->id = WORKER_CGROUP;
	host_name(worker, WORKER_NAME);
	fill_user_registers(host_regs(worker));
	fork_thread(leader, worker);
	at(BEFORE(MILLISECOND));
	run_on(0, worker);
	at(0);
	record();
}

static void sleep_from_to(__u64 begin_ns, __u64 woken_ns, __u64 end_ns)
{
	at(begin_ns);
	sleep_on(0, SLEEP, NULL);
	at(woken_ns);
	wake(worker);
	at(end_ns);
	run_on(0, worker);
}

void script_sleep(void)
{
	begin();
	run_worker();
	sleep_from_to(MILLISECOND, 3 * MILLISECOND, 4 * MILLISECOND);
}

void script_yield(void)
{
	begin();
	run_worker();
	host_regs(worker)->orig_ax = 158; /* of i386 */
	worker->thread_info.status = TS_COMPAT;
	at(MILLISECOND);
	switch_cpu(0, script.idle[0], false, 0);
	at(MILLISECOND + MILLISECOND / 2);
	run_on(0, worker);
}

void script_sampled_sleep(void)
{
	begin();
	control.sample_ns[0] = 30 * MILLISECOND;
	this_cpu()->random = 1; /* whose first number samples all from 0.281 of T on */
	run_worker();
	sleep_from_to(MILLISECOND, 21 * MILLISECOND, 21 * MILLISECOND);
}

/* Stacks can be captured and walked; budgets are large. */
static void let_capture(void)
{
	settings->can_read_user = settings->has_task_work = settings->reads_mappings = 1;
	settings->capture_bytes_per_second = 1 << 20;
	settings->task_works_per_second = 1000;
	settings->mappings_per_second = 1000000;
	settings->process_ns_per_second = SECOND;
}

/* The worker's code is in one file, and each byte of its stack is the lowest one of its address's words. */
static void map_worker(void)
{
	struct vm_area_struct *code = host_map(worker, WORKER_CODE, WORKER_CODE + 2 * HOST_PAGE, VM_EXEC);

	code->vm_file = host_file(1234);
	code->vm_file->f_inode->i_ctime_sec = 5;
	code->vm_pgoff = 3;
	host_map(worker, STACK_BEGIN, STACK_END, VM_WRITE | VM_STACK);
	for (__u64 address = STACK_BEGIN; address < STACK_END; address += 8)
		host_write_word(worker, address, address >> 3);
	host_take_page(worker, STACK_HOLE, true);
}

/* A row says that the worker's frame is the outermost one, of the code of USER_CODE_HASH. Returns the stack's
 * id. */
static __u64 let_walk(void)
{
	struct wire_hash hash = wire_user_stack_begin(hash_key(), USER_CODE_HASH);
	__u64 pc = host_regs(worker)->ip, row = WIRE_ROW_SET | WIRE_CFA_NONE;
	__u64 key = wire_user_row_key(wire_user_rows_begin(hash_key(), USER_CODE_HASH), pc);
	__u32 bucket = wire_bucket(key, WIRE_USER_ROW_BUCKETS);
	struct wire_user_row_bucket *rows = host_value(&user_rows, &bucket, 0);
	struct task_state *state = bpf_task_storage_get(&tasks, worker, 0, 0);

	settings->walks_user = 1;
	rows->rows[1] = (struct wire_user_row){.check = key ^ row, .row = row};
	see_code(state, worker, code_sequence(worker), USER_CODE_HASH);
	wire_hash_add(&hash, pc);
	return wire_hash_end(hash);
}

void script_sum(void)
{
	struct wire_user_stack_bucket *stacks;
	__u32 bucket;
	__u64 id;

	begin();
	let_capture();
	settings->sums = 1;
	run_worker();
	map_worker();
	id = let_walk();
	bucket = wire_bucket(id, WIRE_USER_STACK_BUCKETS);
	stacks = host_value(&user_stacks, &bucket, 0);
	stacks->ids[WIRE_BUCKET_STACKS - 1] = id;
	sleep_from_to(MILLISECOND, MILLISECOND + 50 * MICROSECOND, MILLISECOND + 100 * MICROSECOND);
	sleep_from_to(2 * MILLISECOND, 2 * MILLISECOND + 100 * MICROSECOND,
		      2 * MILLISECOND + 200 * MICROSECOND);
	flush_sums(NULL, 0);
}

static struct task_struct *fork_waker(void)
{
	struct task_struct *leader = host_new_process(WAKER_PID), *waker;

	leader->start_boottime = WAKER_START;
	leader->self_exec_id = WAKER_EXEC;
	waker = host_new_thread(leader, WAKER_TID);
	host_name(waker, WAKER_NAME);
	return fork_thread(leader, waker);
}

/* Who runs on CPU 1 wakes `task`. */
static void wake_from_cpu_1(struct task_struct *task)
{
	host_run_on(script.running[1], 1);
	sched_waking(NULL, task);
	wake(task);
}

void script_woken(void)
{
	struct task_struct *waker;

	begin();
	let_capture();
	waker_settings->enabled = 1;
	waker_settings->max_frames = WIRE_KERNEL_FRAMES;
	waker = fork_waker();
	at(BEFORE(2 * MILLISECOND));
	run_on(1, waker);
	sleep_on(1, SLEEP, NULL);
	run_worker();
	at(MILLISECOND);
	sleep_on(0, SLEEP, NULL);
	at(MILLISECOND + MILLISECOND / 2);
	wake_from_cpu_1(waker); /* the idle thread: an interrupt */
	run_on(1, waker);
	at(3 * MILLISECOND);
	host_clear(&requests); /* that of the waker's own wait */
	((struct task_state *)host_value(&tasks, waker, 0))->cookie = 0;
	wake_from_cpu_1(worker);
	at(4 * MILLISECOND);
	run_on(0, worker);
}

void script_sample(bool in_user)
{
	struct bpf_perf_event_data ctx = {.cs = in_user ? 0x33 : 0x10};

	begin();
	run_worker();
	at(2 * MILLISECOND);
	sample(&ctx);
}

void script_capture(uint64_t sp, bool is_32_bit)
{
	__u32 tid = WORKER_TID;
	struct wire_stack_hint hint = {.pieces = 1, .begins = {PIECE_BEGIN}};

	begin();
	let_capture();
	run_worker();
	map_worker();
	bpf_map_update_elem(&stack_hints, &tid, &hint, BPF_ANY);
	host_regs(worker)->sp = sp;
	if (is_32_bit) {
		host_regs(worker)->cs = 0x23;
		host_regs(worker)->orig_ax = -1UL; /* by an interrupt */
	} else {
		let_walk();
	}
	sleep_from_to(MILLISECOND, 3 * MILLISECOND, 4 * MILLISECOND);
	host_return_to_user(worker);
}

void script_exec(void)
{
	begin();
	let_capture();
	run_worker();
	map_worker();
	sleep_from_to(MILLISECOND, 3 * MILLISECOND, 4 * MILLISECOND);
	worker->self_exec_id++;
	sched_process_exec(NULL, worker, WORKER_TID, NULL);
}

void script_exit(void)
{
	begin();
	run_worker();
	worker->signal->live.counter = 0;
	sched_process_exit(NULL, worker);
}

/* The worker's stretches up to 4 ms, of waits that are recorded from 0.5 ms on. */
static void begin_account_script(void)
{
	begin();
	settings->ledger = 1;
	settings->min_wait_ns = MILLISECOND / 2;
	run_worker();
	sleep_from_to(MILLISECOND, 3 * MILLISECOND, 4 * MILLISECOND);
	script.stolen_ns[0] = MILLISECOND / 4;
}

void script_account(void)
{
	begin_account_script();
	sleep_from_to(6 * MILLISECOND, 6 * MILLISECOND + 100 * MICROSECOND,
		      6 * MILLISECOND + 100 * MICROSECOND);
	at(7 * MILLISECOND);
	sleep_on(0, TASK_DEAD, NULL);
}

static void list_worker(int (*iterator)(struct bpf_iter__task *))
{
	struct bpf_iter_meta meta = {};
	struct bpf_iter__task ctx = {.meta = &meta, .task = worker};

	iterator(&ctx);
}

void script_list_accounts(void)
{
	begin_account_script();
	at(5 * MILLISECOND);
	list_worker(list_accounts);
}

void script_list_threads(void)
{
	begin();
	run_worker();
	at(MILLISECOND);
	sleep_on(0, SLEEP, NULL);
	at(3 * MILLISECOND);
	wake(worker);
	at(5 * MILLISECOND);
	end_recording();
	control.phase = WIRE_LISTING;
	list_worker(list_threads);
}

bool glob_fits(const struct wire_glob *glob, const char *name)
{
	return glob_matches(glob, name);
}

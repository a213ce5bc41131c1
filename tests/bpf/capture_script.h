/* A thread whose stack is captured: its state, its registers, its stack of known bytes, and budgets that are
 * full. */
#ifndef OFFCPU_TESTS_BPF_CAPTURE_SCRIPT_H_
#define OFFCPU_TESTS_BPF_CAPTURE_SCRIPT_H_

#include "tests/bpf/code_script.h"

#define SP (STACK + 0x10000)

/* What lies at an address of the stack. */
static inline __u64 word_of_address(__u64 address)
{
	return address * 3 + 1;
}

/* Makes memory resident that holds these words. */
static inline void fill_memory(struct task_struct *task, __u64 begin, __u64 end)
{
	for (__u64 address = begin; address < end; address += 8)
		host_write_word(task, address, word_of_address(address));
}

static inline struct budget *budget_of(enum context context)
{
	const __u32 key = context;

	return host_value(&budgets, &key, 0);
}

/* The current thread, in a system call, with one mapping of code. A second's budget is 1 MB of stacks, and
 * 1000 task works: 1 us a kilobyte, nearly, and 1 ms a piece of work. */
static inline struct task_struct *new_captured(int pid)
{
	struct task_struct *task = new_process(pid);

	map_code(task, 0);
	fill_memory(task, SP, STACK_END);
	host_regs(task)->sp = SP;
	host_regs(task)->orig_ax = 202; /* futex */
	settings->can_read_user = 1;
	settings->has_task_work = 1;
	settings->capture_bytes_per_second = 1000000;
	settings->task_works_per_second = 1000;
	settings->process_ns_per_second = SECOND;
	return task;
}

/* The user side of an event of the current thread. */
static inline struct user_side side_of(struct task_struct *task, bool is_long, enum context context)
{
	return user_stack_of(task, state_of(task), host.now_ns, is_long, context);
}

/* The cookie that the CPU gives out so many times. */
static inline __u64 cookie_of(__u64 cpu, enum context context, __u64 number)
{
	return cpu << 48 | (__u64)context << 46 | number;
}

static inline const struct wire_capture *capture_record(__u32 index)
{
	return host_record(&captures, index).bytes;
}

/* Is what was captured from `begin` on what lies there? */
static inline void expect_bytes(const void *bytes, __u64 begin, __u32 count)
{
	for (__u32 i = 0; i < count; i += 8) {
		__u64 word = word_of_address(begin + i);

		check_note("offset", i);
		EXPECT_BYTES((const char *)bytes + i, &word, 8);
	}
}

/* The reason of the only failure that was sent. */
static inline void expect_failure_of(__u64 cookie, __u32 no_user)
{
	const struct wire_capture_failed *record = sent_record(WIRE_CAPTURE_FAILED, 0);

	ASSERT_EQ(sent_records(WIRE_CAPTURE_FAILED), 1);
	EXPECT_EQ(record->cookie, cookie);
	EXPECT_EQ(record->no_user, no_user);
}

#endif /* OFFCPU_TESTS_BPF_CAPTURE_SCRIPT_H_ */

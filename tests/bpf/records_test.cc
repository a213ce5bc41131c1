// What the BPF programs send is what the recorder reads: real programs run over scripted schedules, and their
// bytes are decoded into what the scripts have put in.
#include "tests/bpf/records.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bpf_programs/account.h"
#include "bpf_programs/decode.h"
#include "bpf_programs/glob.h"
#include "bpf_programs/stack_ids.h"
#include "bpf_programs/waiting_thread.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bpf/host/hash_key.h"

namespace offcpu
{
namespace
{

using ::testing::ElementsAre;

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kUs = 1000;
constexpr ProcessKey kWorker = {.pid = WORKER_PID, .start_ns = WORKER_START, .exec_id = WORKER_EXEC};
constexpr ProcessKey kWaker = {.pid = WAKER_PID, .start_ns = WAKER_START, .exec_id = WAKER_EXEC};

std::span<const std::byte> BytesOf(const raw_record &record)
{
	return {static_cast<const std::byte *>(record.bytes), record.length};
}

// The name of a stack of one frame, as the recorder calculates it.
uint64_t WorkersStack()
{
	const uint64_t frames[] = {WORKER_RAX + 16};
	return UserStackId({.low = HOST_KEY_LOW, .high = HOST_KEY_HIGH}, USER_CODE_HASH, frames);
}

// A default one if the bytes are none of that kind.
template <typename T> T Decoded(const raw_record &record)
{
	std::optional<Event> event = Decode(BytesOf(record));
	EXPECT_TRUE(event.has_value());
	if (!event.has_value() || !std::holds_alternative<T>(*event)) {
		ADD_FAILURE() << "not the kind of event that was sent";
		return {};
	}
	return std::get<T>(*std::move(event));
}

template <typename T> T SentEvent(uint32_t type, uint32_t index = 0)
{
	return Decoded<T>(raw_interval(type, index));
}

void ExpectWorker(const IntervalEvent &event)
{
	EXPECT_EQ(event.process, kWorker);
	EXPECT_EQ(event.tid, WORKER_TID);
	EXPECT_EQ(event.comm, WORKER_NAME);
	EXPECT_EQ(event.control_group, uint64_t{WORKER_CGROUP});
}

TEST(Records, Interval)
{
	script_sleep();
	const auto event = SentEvent<IntervalEvent>(WIRE_INTERVAL);
	ExpectWorker(event);
	EXPECT_EQ(event.kind, WaitKind::kSleeping);
	EXPECT_EQ(event.syscall, 7);
	EXPECT_EQ(event.switches, 42u); // 41 before, and this one
	EXPECT_EQ(event.end_ns, RECORDING_START + 4 * kMs);
	EXPECT_EQ(event.blocked_ns, 2 * kMs);
	EXPECT_EQ(event.runnable_ns, 1 * kMs);
	EXPECT_EQ(event.cookie, 0u);
	EXPECT_EQ(event.user_stack, 0u);
	EXPECT_EQ(event.missing, NoUserStack::kUnsupported);
	EXPECT_EQ(event.waits, 1u);
	EXPECT_EQ(event.sample_ns, 0u);
	EXPECT_THAT(event.wakers, ElementsAre());
	EXPECT_EQ(raw_interval(WIRE_INTERVAL, 1).bytes, nullptr);
}

TEST(Records, KernelStackOfAnInterval)
{
	script_sleep();
	const auto stack = SentEvent<KernelStackEvent>(WIRE_KERNEL_STACK);
	EXPECT_THAT(stack.addresses, ElementsAre(KERNEL_FRAME, KERNEL_CALLER));
	EXPECT_NE(stack.id, 0u);
	EXPECT_EQ(stack.id, SentEvent<IntervalEvent>(WIRE_INTERVAL).kernel_stack);
}

// 158 of i386 is sched_yield, which is 24 of x86-64.
TEST(Records, IntervalOfI386)
{
	script_yield();
	const auto event = SentEvent<IntervalEvent>(WIRE_INTERVAL);
	EXPECT_EQ(event.kind, WaitKind::kYielded);
	EXPECT_EQ(event.syscall, 24);
	EXPECT_EQ(event.blocked_ns, 0u);
	EXPECT_EQ(event.runnable_ns, 500 * kUs);
}

TEST(Records, IntervalThatWasSampled)
{
	script_sampled_sleep();
	const auto event = SentEvent<IntervalEvent>(WIRE_INTERVAL);
	EXPECT_EQ(event.sample_ns, 30 * kMs);
	EXPECT_EQ(event.blocked_ns, 20 * kMs);
	EXPECT_EQ(event.runnable_ns, 0u);
}

TEST(Records, Sum)
{
	script_sum();
	const auto event = SentEvent<IntervalEvent>(WIRE_SUM);
	ExpectWorker(event);
	EXPECT_EQ(event.waits, 2u);
	EXPECT_EQ(event.blocked_ns, (50 + 100) * kUs);
	EXPECT_EQ(event.runnable_ns, (50 + 100) * kUs);
	EXPECT_EQ(event.longest_ns, 200 * kUs);
	EXPECT_EQ(event.longest_runnable_ns, 100 * kUs);
	EXPECT_EQ(event.end_ns, RECORDING_START + 2 * kMs + 200 * kUs);
	EXPECT_EQ(event.user_stack, WorkersStack());
	EXPECT_EQ(event.missing, NoUserStack::kNone);
	EXPECT_EQ(event.cookie, 0u);
	EXPECT_EQ(event.kind, WaitKind::kSleeping);
	EXPECT_EQ(event.syscall, 7);
}

// The waker's wait is sent first, and the worker's the second.
TEST(Records, WokenInterval)
{
	script_woken();
	const auto event = SentEvent<IntervalEvent>(WIRE_WOKEN_INTERVAL, 1);
	ExpectWorker(event);
	EXPECT_EQ(event.blocked_ns, 2 * kMs);
	EXPECT_EQ(event.runnable_ns, 1 * kMs);
	EXPECT_EQ(event.cookie, 1u); // the first one of CPU 0 at switches
	EXPECT_EQ(event.missing, NoUserStack::kNone);
	ASSERT_EQ(event.wakers.size(), 2u);
	const WakerEvent &thread = event.wakers[0];
	EXPECT_FALSE(thread.interrupt);
	EXPECT_EQ(thread.process, kWaker);
	EXPECT_EQ(thread.tid, WAKER_TID);
	EXPECT_EQ(thread.comm, WAKER_NAME);
	EXPECT_EQ(thread.cookie,
		  uint64_t{1} << 48 | uint64_t{2} << 46 | 1); // of CPU 1, of wakers, the first one
	EXPECT_EQ(thread.missing, NoUserStack::kNone);
	EXPECT_EQ(thread.kernel_stack, event.kernel_stack); // all stacks are alike in the scripts
	const WakerEvent &interrupt = event.wakers[1];
	EXPECT_TRUE(interrupt.interrupt);
	EXPECT_EQ(interrupt.tid, 0);
	EXPECT_EQ(interrupt.comm, "");
	EXPECT_EQ(interrupt.missing, NoUserStack::kKernelThread);
	EXPECT_EQ(interrupt.kernel_stack, event.kernel_stack);
}

TEST(Records, Sample)
{
	script_sample(false);
	const auto event = SentEvent<SampleEvent>(WIRE_SAMPLE);
	EXPECT_EQ(event.process, kWorker);
	EXPECT_EQ(event.tid, WORKER_TID);
	EXPECT_EQ(event.comm, WORKER_NAME);
	EXPECT_EQ(event.control_group, uint64_t{WORKER_CGROUP});
	EXPECT_EQ(event.at_ns, RECORDING_START + 2 * kMs);
	EXPECT_FALSE(event.in_user);
	EXPECT_EQ(event.syscall, 7);
	EXPECT_EQ(event.cookie, 0u);
	EXPECT_EQ(event.missing, NoUserStack::kUnsupported);
	// The leaf is where it was interrupted, told as if it were to be returned to.
	const auto stack = SentEvent<KernelStackEvent>(WIRE_KERNEL_STACK);
	EXPECT_THAT(stack.addresses, ElementsAre(KERNEL_FRAME + 1, KERNEL_CALLER));
	EXPECT_EQ(event.kernel_stack, stack.id);
}

TEST(Records, SampleOfUserMode)
{
	script_sample(true);
	const auto event = SentEvent<SampleEvent>(WIRE_SAMPLE);
	EXPECT_TRUE(event.in_user);
	EXPECT_EQ(event.syscall, kNoSystemCall);
	EXPECT_EQ(event.kernel_stack, 0u);
}

// The bytes of the worker's stack between two addresses: each word holds its address, in words.
std::vector<std::byte> StackBetween(uint64_t begin, uint64_t end)
{
	std::vector<std::byte> bytes(end - begin);
	for (uint64_t address = begin; address < end; address += 8) {
		const uint64_t word = address / 8;
		std::memcpy(&bytes[address - begin], &word, sizeof(word));
	}
	return bytes;
}

TEST(Records, Capture)
{
	script_capture(STACK_END - 0x100, false);
	const auto event = Decoded<CaptureEvent>(raw_capture(0));
	EXPECT_EQ(event.process, kWorker);
	EXPECT_EQ(event.tid, WORKER_TID);
	EXPECT_EQ(event.cookie, SentEvent<IntervalEvent>(WIRE_INTERVAL).cookie);
	EXPECT_NE(event.cookie, 0u);
	for (int i = 0; i < kRegisterCount; ++i) {
		EXPECT_EQ(event.registers.value[i], i == kRsp ? STACK_END - 0x100 : WORKER_RAX + i) << i;
	}
	EXPECT_TRUE(event.in_syscall);
	EXPECT_FALSE(event.is_32_bit);
	EXPECT_EQ(event.red_zone_bytes, uint32_t{WIRE_RED_ZONE_BYTES});
	EXPECT_EQ(event.stack, StackBetween(STACK_END - 0x100 - WIRE_RED_ZONE_BYTES, STACK_END));
	EXPECT_FALSE(event.more); // it ends where the stack does
	EXPECT_FALSE(event.unread);
	EXPECT_EQ(event.walked, WorkersStack());
	EXPECT_EQ(event.walked_code, uint64_t{USER_CODE_HASH});
}

TEST(Records, PieceOfACapture)
{
	script_capture(STACK_END - 0x100, false);
	const auto event = Decoded<CaptureEvent>(raw_capture(0));
	ASSERT_EQ(event.pieces.size(), 1u);
	EXPECT_EQ(event.pieces[0].begin, uint64_t{PIECE_BEGIN});
	EXPECT_EQ(event.pieces[0].bytes, StackBetween(PIECE_BEGIN, PIECE_BEGIN + 4096));
	EXPECT_TRUE(event.pieces[0].more);
	EXPECT_FALSE(event.pieces[0].unread);
}

TEST(Records, CaptureOfI386ByAnInterrupt)
{
	script_capture(STACK_END - 0x100, true);
	const auto event = Decoded<CaptureEvent>(raw_capture(0));
	EXPECT_FALSE(event.in_syscall);
	EXPECT_TRUE(event.is_32_bit);
	EXPECT_EQ(event.walked, 0u);
}

TEST(Records, CaptureThatEndsBeforeAPageThatCannotBeRead)
{
	script_capture(STACK_HOLE - 0x100, false);
	const auto event = Decoded<CaptureEvent>(raw_capture(0));
	EXPECT_EQ(event.stack, StackBetween(STACK_HOLE - 0x100 - WIRE_RED_ZONE_BYTES, STACK_HOLE));
	EXPECT_FALSE(event.more);
	EXPECT_TRUE(event.unread);
}

// While the budget is rich it takes 16 KiB.
TEST(Records, CaptureThatEndsWhereNoMoreIsWanted)
{
	script_capture(STACK_BEGIN, false);
	const auto event = Decoded<CaptureEvent>(raw_capture(0));
	EXPECT_EQ(event.red_zone_bytes, 0u) << "nothing of the stack is below";
	EXPECT_EQ(event.stack, StackBetween(STACK_BEGIN, STACK_BEGIN + 16384));
	EXPECT_TRUE(event.more);
	EXPECT_FALSE(event.unread);
}

TEST(Records, CodeOfACapture)
{
	script_capture(STACK_END - 0x100, false);
	const auto code = SentEvent<CodeListEvent>(WIRE_CODE);
	EXPECT_THAT(code.mappings, ElementsAre(CodeMapping{.begin = WORKER_CODE,
							   .end = WORKER_CODE + 0x2000,
							   .offset = 3 * 4096,
							   .inode = 1234,
							   .device = 0x801,
							   .changed_ns = 5000000000}));
	const auto event = Decoded<CaptureEvent>(raw_capture(0));
	EXPECT_NE(code.hash, 0u);
	EXPECT_EQ(event.code.hash, code.hash);
	EXPECT_NE(event.code.sequence, 0u);
}

TEST(Records, Exec)
{
	script_exec();
	const auto event = SentEvent<ExecEvent>(WIRE_EXEC);
	EXPECT_EQ(event.process,
		  (ProcessKey{.pid = WORKER_PID, .start_ns = WORKER_START, .exec_id = WORKER_EXEC + 1}));
}

TEST(Records, CaptureThatFailed)
{
	script_exec();
	const auto event = SentEvent<CaptureFailedEvent>(WIRE_CAPTURE_FAILED);
	EXPECT_EQ(event.cookie, SentEvent<IntervalEvent>(WIRE_INTERVAL).cookie);
	EXPECT_NE(event.cookie, 0u);
	EXPECT_EQ(event.reason, NoUserStack::kExec);
}

TEST(Records, Exit)
{
	script_exit();
	EXPECT_EQ(SentEvent<ExitEvent>(WIRE_EXIT).process, kWorker);
}

void ExpectSums(const ThreadAccount &account, uint64_t on_cpu_ns, uint64_t stolen_ns, uint64_t below_min_ns)
{
	EXPECT_EQ(account.process, kWorker);
	EXPECT_EQ(account.tid, WORKER_TID);
	EXPECT_EQ(account.comm, WORKER_NAME);
	EXPECT_FALSE(account.is_new);
	EXPECT_EQ(account.since_ns, 0u); // since recording began
	EXPECT_EQ(account.on_cpu_ns, on_cpu_ns);
	EXPECT_EQ(account.stolen_ns, stolen_ns);
	EXPECT_EQ(account.blocked_ns, 2 * kMs);
	EXPECT_EQ(account.runnable_ns, 1 * kMs);
	std::array<uint64_t, kLostTimeCount> lost_ns = {};
	lost_ns[static_cast<size_t>(LostTime::kBelowMinWait)] = below_min_ns;
	EXPECT_EQ(account.lost_ns, lost_ns);
}

// On a CPU from 0 to 1 ms, 4 to 6 ms without a quarter, and 6.1 to 7 ms.
TEST(Records, Account)
{
	script_account();
	const std::optional<ThreadAccount> account = DecodeAccount(BytesOf(raw_interval(WIRE_ACCOUNT, 0)));
	ASSERT_TRUE(account.has_value());
	ExpectSums(*account, 3900 * kUs - 250 * kUs, 250 * kUs, 100 * kUs);
	EXPECT_EQ(account->until_ns, RECORDING_START + 7 * kMs);
	EXPECT_EQ(account->out_ns, RECORDING_START + 7 * kMs);
	EXPECT_EQ(account->arrived_ns, RECORDING_START + 6 * kMs + 100 * kUs);
}

// On a CPU from 0 to 1 ms, and, without a quarter, from 4 ms to 5 ms, which is not booked yet.
TEST(Records, ListedAccount)
{
	script_list_accounts();
	const std::vector<ThreadAccount> accounts = DecodeAccounts(BytesOf(raw_listing()));
	ASSERT_EQ(accounts.size(), 1u);
	ExpectSums(accounts[0], 1 * kMs, 0, 0);
	EXPECT_EQ(accounts[0].until_ns, 0u);
	EXPECT_EQ(accounts[0].out_ns, 0u);
	EXPECT_EQ(accounts[0].arrived_ns, RECORDING_START + 4 * kMs);
	EXPECT_EQ(accounts[0].not_booked_ns, 750 * kUs);
}

TEST(Records, ListedThread)
{
	script_list_threads();
	const auto threads =
		DecodeThreads(BytesOf(raw_listing()), RECORDING_START, RECORDING_START + 5 * kMs);
	ASSERT_EQ(threads.size(), 1u);
	const WaitingThread &thread = threads[0];
	EXPECT_EQ(thread.process, kWorker);
	EXPECT_EQ(thread.tid, WORKER_TID);
	EXPECT_EQ(thread.comm, WORKER_NAME);
	EXPECT_EQ(thread.control_group, uint64_t{WORKER_CGROUP});
	EXPECT_EQ(thread.switches, 42u);
	EXPECT_FALSE(thread.on_cpu);
	EXPECT_FALSE(thread.is_kernel);
	EXPECT_EQ(thread.syscall, 7);
	EXPECT_EQ(thread.state, WaitKind::kPreempted); // it wants to run by now
	EXPECT_TRUE(thread.has_user);
	EXPECT_TRUE(thread.in_syscall);
	EXPECT_FALSE(thread.is_32_bit);
	EXPECT_EQ(thread.registers.value[kRdx], uint64_t{WORKER_RAX + 1});
	EXPECT_EQ(thread.registers.value[kRip], uint64_t{WORKER_RAX + 16});
	EXPECT_THAT(thread.kernel, ElementsAre(KERNEL_FRAME, KERNEL_CALLER));
}

// Blocked from 1 ms to 3 ms, and waiting for a CPU up to 5 ms.
TEST(Records, OpenWaitOfAListedThread)
{
	script_list_threads();
	const auto threads =
		DecodeThreads(BytesOf(raw_listing()), RECORDING_START, RECORDING_START + 5 * kMs);
	ASSERT_EQ(threads.size(), 1u);
	ASSERT_TRUE(threads[0].open.has_value());
	EXPECT_EQ(threads[0].out_ns, RECORDING_START + 1 * kMs);
	EXPECT_EQ(threads[0].open->begin_ns, RECORDING_START + 1 * kMs);
	EXPECT_EQ(threads[0].open->blocked_ns, 2 * kMs);
	EXPECT_EQ(threads[0].open->runnable_ns, 2 * kMs);
	EXPECT_EQ(threads[0].open->kind, WaitKind::kSleeping);
	EXPECT_FALSE(threads[0].open->throughout);
	EXPECT_TRUE(threads[0].in_open_wait);
}

// A matcher that tries every length that a star may stand for.
bool Fits(const char *pattern, const char *name)
{
	if (*pattern == '\0')
		return *name == '\0';
	if (*pattern == '*')
		return Fits(pattern + 1, name) || (*name != '\0' && Fits(pattern, name + 1));
	return *name != '\0' && (*pattern == '?' || *pattern == *name) && Fits(pattern + 1, name + 1);
}

// The texts of up to so many letters.
std::vector<std::string> Texts(const std::string &letters, size_t length)
{
	std::vector<std::string> texts = {""};
	for (size_t i = 0; i < texts.size(); ++i) {
		if (texts[i].size() == length)
			break;
		for (const char letter : letters)
			texts.push_back(texts[i] + letter);
	}
	return texts;
}

TEST(Records, GlobIsMatchedAsItWasCompiled)
{
	for (const std::string &pattern : Texts("ab?*", 4)) {
		if (pattern.empty())
			continue;
		const absl::StatusOr<wire_glob> glob = CompileGlob(pattern);
		ASSERT_TRUE(glob.ok()) << pattern;
		for (const std::string &name : Texts("ab", 5)) {
			char comm[WIRE_COMM_BYTES] = {};
			name.copy(comm, name.size());
			ASSERT_EQ(glob_fits(&*glob, comm), Fits(pattern.c_str(), name.c_str()))
				<< pattern << " and " << name;
		}
	}
}

} // namespace
} // namespace offcpu

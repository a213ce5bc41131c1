#include "recorder/stack_snapshot.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "process/memory.h"
#include "process/owner.h"
#include "recorder/lock_owner.h"
#include "recorder/process_snapshot.h"
#include "recorder/runtime_reads.h"
#include "runtimes/find_runtime.h"

namespace offcpu {
namespace {

// How many threads that have run since they were listed are read again in one attempt, and how many bytes.
constexpr size_t kMaxRereads = 512;
constexpr size_t kMaxRereadBytes = 128 << 20;

// Reads the stacks of threads that have run since they were listed once more, each by itself: threads of a busy process
// do not wait for as long as it takes to list all of them and to look at the process.
void ReadStaleAgain(size_t stack_bytes, const Listing& listing, Runtime* runtime, StackSnapshot* snapshot) {
  size_t rereads = std::min(kMaxRereads, kMaxRereadBytes / stack_bytes);
  for (size_t i = 0; i < snapshot->threads.size(); ++i) {
    WaitingThread& thread = snapshot->threads[i];
    LiveStack& stack = snapshot->stacks[i];
    for (; stack.missing == NoUserStack::kStale && rereads > 0; --rereads) {
      const std::optional<WaitingThread> now = listing.find(thread.tid);
      if (!now.has_value() || now->process != thread.process) break;
      thread = *now;
      snapshot->lock_owners[i] = LockOwnersOf({thread}).front();
      stack = std::move(ReadLiveStacks({thread}, stack_bytes, listing.find, listing.describe, runtime).front());
    }
  }
}

std::vector<uint64_t> WordsOf(const std::vector<LiveStack>& stacks, const Runtime& runtime) {
  std::vector<uint64_t> words;
  for (const LiveStack& stack : stacks) {
    if (words.size() >= kMaxRuntimeWords) break;
    const std::vector<uint64_t> own = RuntimeWords(stack.capture, runtime);
    words.insert(words.end(), own.begin(), own.end());
  }
  return words;
}

}  // namespace

StackSnapshot TakeStackSnapshot(const std::vector<WaitingThread>& threads, size_t stack_bytes, const Listing& listing,
                                ModuleCache& modules, FoundRuntime found) {
  const WaitingThread& thread = threads.front();
  const ProcessSnapshot before =
      TakeProcessSnapshot(thread.process, thread.tid, nullptr, listing.describe, modules, nullptr);
  StackSnapshot snapshot = {.name = before.name, .failed = NoUserStack::kUnreadableProcess, .threads = threads};
  const ProcessMemory memory(thread.tid);
  if (found.runtime == nullptr && before.space != nullptr)
    found = FindRuntime(*before.space, memory, modules.LeaseFor(OwnerOf(thread.tid)));
  Runtime* const runtime = found.runtime.get();
  if (runtime != nullptr) runtime->Read(memory, {});
  snapshot.lock_owners = LockOwnersOf(threads);
  snapshot.stacks = ReadLiveStacks(threads, stack_bytes, listing.find, listing.describe, runtime);
  ReadStaleAgain(stack_bytes, listing, runtime, &snapshot);
  const ProcessSnapshot after =
      TakeProcessSnapshot(thread.process, thread.tid, before.space.get(), listing.describe, modules, nullptr);
  if (after.outcome == SnapshotOutcome::kGone) snapshot.failed = NoUserStack::kGone;
  if (after.outcome != SnapshotOutcome::kSeen) return snapshot;
  const bool same_around = before.outcome == SnapshotOutcome::kSeen && before.space->SameCode(*after.space);
  if (after.code.hash == 0 && !same_around) return snapshot;
  if (runtime != nullptr) runtime->Read(memory, WordsOf(snapshot.stacks, *runtime));
  snapshot.runtime = std::move(found);
  snapshot.failed = NoUserStack::kNone;
  snapshot.space = after.space;
  snapshot.code = after.code;
  return snapshot;
}

}  // namespace offcpu

#include "recorder/runtime_reads.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "os/now.h"
#include "process/memory.h"

namespace offcpu {
namespace {

void AddWords(std::span<const std::byte> bytes, const CodeRange& bounds, std::vector<uint64_t>* words) {
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if (word >= bounds.begin && word < bounds.end) words->push_back(word);
  }
}

}  // namespace

std::vector<uint64_t> RuntimeWords(const CaptureEvent& capture, const Runtime& runtime) {
  const CodeRange bounds = runtime.bounds();
  const uint64_t pc = kHostMachine.PcOf(capture.registers);
  std::vector<uint64_t> words;
  AddWords(std::as_bytes(std::span(&pc, 1)), bounds, &words);
  AddWords(capture.stack, bounds, &words);
  for (const StackPiece& piece : capture.pieces) AddWords(piece.bytes, bounds, &words);
  return words;
}

void RuntimeReads::Add(ReadyCapture&& capture) {
  const std::shared_ptr<Runtime> runtime = capture.code.runtime;
  if (runtime == nullptr) return ready_.push_back(std::move(capture));
  Waiting waiting = {.capture = std::move(capture)};
  waiting.words = RuntimeWords(waiting.capture.event, *runtime);
  const ProcessKey key = waiting.capture.event.process;
  const bool has_room =
      bytes_ + waiting.bytes() <= max_bytes_ && (processes_.size() < kMaxRuntimeProcesses || processes_.contains(key));
  if (waiting.words.empty() || !has_room) return ready_.push_back(std::move(waiting.capture));
  Process& process = processes_[key];
  process.runtime = runtime;
  process.tid = waiting.capture.event.tid;
  process.heard_ns = now_ns_;
  bytes_ += waiting.bytes();
  process.waiting.push_back(std::move(waiting));
  Ask(key, process);
}

void RuntimeReads::Ask(const ProcessKey& key, Process& process) {
  if (process.reading != 0) return;
  if (now_ns_ < process.not_before_ns) return MakeReady(process, process.waiting.size());
  if (now_ns_ < std::max(process.next_ns, process.pace.next_ns())) return;
  size_t count = 0;
  // As long as one hangs there, another reading would only lose another thread.
  const ReadTaken taken = targets_.IsStuck(key) ? ReadTaken::kUserStuck : Read(key, process, &count);
  if (taken == ReadTaken::kFull) return;  // at the next tick
  if (taken == ReadTaken::kUserStuck) return OnFailed(process);
  process.reading = readings_;
  process.asked = count;
  process.next_ns = now_ns_ + kBetweenRuntimeReadsNs;
}

// Sets `count` to how many of the captures that wait it is for.
ReadTaken RuntimeReads::Read(const ProcessKey& key, Process& process, size_t* count) {
  std::vector<uint64_t> words;
  for (; *count < process.waiting.size() && words.size() < kMaxRuntimeWords; ++*count) {
    const std::vector<uint64_t>& own = process.waiting[*count].words;
    words.insert(words.end(), own.begin(), own.end());
  }
  const uint64_t reading = ++readings_;
  // The job holds copies only: it may be abandoned and outlive this.
  return targets_.Read(
      key, targets_.OwnerOf(key),
      [this, key, reading, tid = process.tid, host = host_, runtime = process.runtime,
       words = std::move(words)]() -> ReaderThreads::Completion {
        const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
        const bool is_read = host->ReadRuntime(key, tid, *runtime, words);
        const uint64_t cpu_ns = NowNs(CLOCK_THREAD_CPUTIME_ID) - began_ns;
        return [this, key, reading, is_read, cpu_ns] { OnRead(key, reading, is_read, cpu_ns); };
      },
      [this, key, reading] { OnRead(key, reading, /*is_read=*/false, 0); });
}

// What was given up may still come back, and has taken its time, too.
void RuntimeReads::OnRead(const ProcessKey& key, uint64_t reading, bool is_read, uint64_t cpu_ns) {
  const auto found = processes_.find(key);
  if (found == processes_.end()) return;
  Process& process = found->second;
  process.pace.Spend(cpu_ns, now_ns_);
  if (process.reading != reading) return;
  process.reading = 0;
  process.heard_ns = now_ns_;
  is_read ? MakeReady(process, process.asked) : OnFailed(process);
}

void RuntimeReads::OnFailed(Process& process) {
  process.not_before_ns = now_ns_ + kReadRuntimeAgainNs;
  MakeReady(process, process.waiting.size());
}

void RuntimeReads::MakeReady(Process& process, size_t count) {
  for (count = std::min(count, process.waiting.size()); count > 0; --count) {
    bytes_ -= process.waiting.front().bytes();
    ready_.push_back(std::move(process.waiting.front().capture));
    process.waiting.pop_front();
  }
  process.asked = 0;
}

void RuntimeReads::Tick(uint64_t now_ns) {
  now_ns_ = now_ns;
  for (auto& [key, process] : processes_) {
    if (!process.waiting.empty() || WantsNames(process)) Ask(key, process);
  }
  absl::erase_if(processes_, [this](const auto& entry) {
    const Process& process = entry.second;
    const bool is_quiet = now_ns_ - process.heard_ns > kRuntimeRememberedNs;
    return is_quiet && IsDone(process) && process.pace.is_paid(now_ns_);
  });
}

bool RuntimeReads::WantsNames(const Process& process) const {
  const bool may_be_read = now_ns_ >= process.not_before_ns && now_ns_ >= process.pace.next_ns();
  return may_be_read && process.runtime->HasUnread();
}

bool RuntimeReads::IsDone(const Process& process) const {
  return process.waiting.empty() && process.reading == 0 && !WantsNames(process);
}

void RuntimeReads::BeginEnd() {
  for (auto& [key, process] : processes_) process.pace = ReadingPace(kRuntimeRate);
}

bool RuntimeReads::idle() const {
  return std::all_of(processes_.begin(), processes_.end(), [this](const auto& entry) { return IsDone(entry.second); });
}

void RuntimeReads::EndWaiting() {
  for (auto& [key, process] : processes_) MakeReady(process, process.waiting.size());
}

}  // namespace offcpu

#include "recorder/runtime_reads.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "process/memory.h"
#include "recorder/thread_cpu.h"

namespace offcpu {
namespace {

void AddWords(std::span<const std::byte> bytes, const Runtime& runtime, std::vector<uint64_t>* words) {
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if (runtime.MayBeCode(word)) words->push_back(word);
  }
}

}  // namespace

std::vector<uint64_t> RuntimeWords(const CaptureEvent& capture, const Runtime& runtime) {
  std::vector<uint64_t> words;
  if (runtime.MayBeCode(capture.registers.pc())) words.push_back(capture.registers.pc());
  AddWords(capture.stack, runtime, &words);
  for (const StackPiece& piece : capture.pieces) AddWords(piece.bytes, runtime, &words);
  return words;
}

void RuntimeReads::Add(ReadyCapture&& capture) {
  const std::shared_ptr<Runtime>& runtime = capture.code.runtime;
  const size_t bytes = capture.event.bytes();
  const bool may_need = runtime != nullptr && (runtime->HasUnread() || !RuntimeWords(capture.event, *runtime).empty());
  if (!may_need || bytes_ + bytes > max_bytes_) return ready_.push_back(std::move(capture));
  const ProcessKey key = capture.event.process;
  Process& process = processes_[key];
  process.runtime = runtime;
  process.tid = capture.event.tid;
  bytes_ += bytes;
  process.waiting.push_back(std::move(capture));
  Ask(key, process);
}

void RuntimeReads::Ask(const ProcessKey& key, Process& process) {
  if (process.is_being_read || now_ns_ < process.pace.next_ns()) return;
  std::vector<uint64_t> words;
  size_t count = 0;
  for (; count < process.waiting.size() && words.size() < kMaxRuntimeWords; ++count) {
    const std::vector<uint64_t> own = RuntimeWords(process.waiting[count].event, *process.runtime);
    words.insert(words.end(), own.begin(), own.end());
  }
  // The job holds copies only: it may be abandoned and outlive this.
  const ReadTaken taken = targets_.Read(
      key, targets_.OwnerOf(key),
      [this, key, tid = process.tid, runtime = process.runtime,
       words = std::move(words)]() -> ReaderThreads::Completion {
        const uint64_t began_ns = ThreadCpuNs();
        runtime->Read(ProcessMemory(tid), words);
        return [this, key, cpu_ns = ThreadCpuNs() - began_ns] { OnRead(key, cpu_ns); };
      },
      [this, key] { OnRead(key, 0); });
  if (taken == ReadTaken::kFull) return;  // at the next tick
  if (taken == ReadTaken::kUserStuck) return MakeReady(process, count);
  process.is_being_read = true;
  process.asked = count;
}

// Also after a reading that hangs: then the walks go by what was read before.
void RuntimeReads::OnRead(const ProcessKey& key, uint64_t cpu_ns) {
  const auto found = processes_.find(key);
  if (found == processes_.end()) return;
  Process& process = found->second;
  process.pace.Spend(cpu_ns, now_ns_);
  if (!std::exchange(process.is_being_read, false)) return;
  MakeReady(process, process.asked);
}

void RuntimeReads::MakeReady(Process& process, size_t count) {
  for (count = std::min(count, process.waiting.size()); count > 0; --count) {
    bytes_ -= process.waiting.front().event.bytes();
    ready_.push_back(std::move(process.waiting.front()));
    process.waiting.pop_front();
  }
}

void RuntimeReads::Tick(uint64_t now_ns) {
  now_ns_ = now_ns;
  for (auto& [key, process] : processes_) {
    if (!process.waiting.empty() || process.runtime->HasUnread()) Ask(key, process);
  }
  absl::erase_if(processes_,
                 [this](const auto& entry) { return entry.second.is_done() && entry.second.pace.is_paid(now_ns_); });
}

bool RuntimeReads::idle() const {
  return std::all_of(processes_.begin(), processes_.end(), [](const auto& entry) { return entry.second.is_done(); });
}

void RuntimeReads::EndWaiting() {
  for (auto& [key, process] : processes_) MakeReady(process, process.waiting.size());
}

}  // namespace offcpu

#include "daemon/window_store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "profile/merge.h"

namespace offcpu {
namespace {

// How many pieces a window may have before they are joined early.
constexpr size_t kMaxPieces = 128;

template <typename T>
size_t HeapOf(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

// By CLOCK_BOOTTIME.
uint64_t EndOf(const Profile& profile) {
  return profile.start_boot_ns + profile.duration_ns + profile.stats.suspended_ns;
}

size_t HeapOf(const std::string& text) { return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0; }

}  // namespace

size_t BytesOf(const Profile& profile) {
  size_t bytes = sizeof(Profile) + HeapOf(profile.processes) + HeapOf(profile.comms) + HeapOf(profile.wakers) +
                 HeapOf(profile.control_groups) + HeapOf(profile.kernel_stacks) + HeapOf(profile.user_stacks) +
                 HeapOf(profile.rows) + HeapOf(profile.code) + HeapOf(profile.ledger) + HeapOf(profile.stats.losses);
  for (const ProcessInfo& process : profile.processes)
    bytes += HeapOf(process.name) + HeapOf(process.container) + HeapOf(process.executable) +
             HeapOf(process.service.declared) + HeapOf(process.service.script);
  for (const ProfileRow& row : profile.rows) bytes += HeapOf(row.times);
  for (const WakerChain& chain : profile.wakers) bytes += HeapOf(chain);
  for (const std::string& path : profile.control_groups) bytes += HeapOf(path);
  for (const std::string& comm : profile.comms) bytes += HeapOf(comm);
  for (const KernelStack& stack : profile.kernel_stacks) bytes += HeapOf(stack.addresses);
  for (const UserStackEntry& entry : profile.user_stacks) bytes += HeapOf(entry.stack.frames);
  for (const LedgerEntry& entry : profile.ledger) bytes += HeapOf(entry.comm);
  for (const Loss& loss : profile.stats.losses) bytes += HeapOf(loss.reason);
  return bytes;
}

size_t BytesOf(const CodeObject& code) {
  size_t bytes = HeapOf(code.path) + HeapOf(code.build_id) + HeapOf(code.file_hash);
  const Module* module = AsModule(&code);
  if (module == nullptr) return bytes + sizeof(CodeObject);
  bytes += sizeof(Module) + HeapOf(module->code) + HeapOf(module->without_frames) + HeapOf(module->landmarks);
  for (const auto table : kAllModuleTables) bytes += HeapOf((module->*table).bytes);
  return bytes;
}

void WindowStore::SetLimits(const WindowStoreLimits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  EvictLocked();
}

WindowPieces WindowStore::Add(Profile piece, bool ends_window) {
  auto profile = std::make_shared<const Profile>(std::move(piece));
  const std::lock_guard lock(mutex_);
  pieces_.push_back(HoldLocked(running_, std::move(profile)));
  const auto same = [this](const Piece& other) { return other.window == running_; };
  if (std::count_if(pieces_.begin(), pieces_.end(), same) > static_cast<ptrdiff_t>(kMaxPieces)) JoinLocked(running_);
  WindowPieces ended;
  if (ends_window) {
    for (const Piece& other : pieces_) {
      if (same(other)) ended.push_back(other.profile);
    }
    if (running_ != 0) JoinLocked(running_ - 1);
    ++running_;
  }
  EvictLocked();
  return ended;
}

WindowPieces WindowStore::Between(uint64_t since_boot_ns, uint64_t until_boot_ns) const {
  const std::lock_guard lock(mutex_);
  WindowPieces found;
  for (const Piece& piece : pieces_) {
    const Profile& profile = *piece.profile;
    const bool begins_in_time = until_boot_ns == 0 || profile.start_boot_ns < until_boot_ns;
    if (begins_in_time && EndOf(profile) > since_boot_ns) found.push_back(piece.profile);
  }
  return found;
}

WindowStoreStats WindowStore::stats() const {
  const std::lock_guard lock(mutex_);
  return {.windows = WholeLocked(),
          .bytes = bytes_,
          .ended = running_,
          .over_bytes = over_bytes_,
          .oldest_boot_ns = pieces_.empty() ? 0 : pieces_.front().profile->start_boot_ns};
}

WindowStore::Piece WindowStore::HoldLocked(uint64_t window, std::shared_ptr<const Profile> profile) {
  const size_t bytes = BytesOf(*profile);
  bytes_ += bytes;
  for (const std::shared_ptr<const CodeObject>& code : profile->code) {
    CodeUse& use = code_[code.get()];
    if (use.pieces++ != 0) continue;
    use.bytes = BytesOf(*code);
    bytes_ += use.bytes;
  }
  return {.window = window, .profile = std::move(profile), .bytes = bytes};
}

void WindowStore::LetGoLocked(const Piece& piece) {
  bytes_ -= piece.bytes;
  for (const std::shared_ptr<const CodeObject>& code : piece.profile->code) {
    const auto use = code_.find(code.get());
    if (--use->second.pieces != 0) continue;
    bytes_ -= use->second.bytes;
    code_.erase(use);
  }
}

void WindowStore::JoinLocked(uint64_t window) {
  const auto of_window = [](const Piece& piece, uint64_t number) { return piece.window < number; };
  const auto begin = std::lower_bound(pieces_.begin(), pieces_.end(), window, of_window);
  const auto end = std::lower_bound(begin, pieces_.end(), window + 1, of_window);
  const auto first = static_cast<size_t>(begin - pieces_.begin());
  // From the last on, so that indices stay what they are.
  for (auto last = static_cast<size_t>(end - pieces_.begin()); last > first;) {
    size_t run = last - 1;
    while (run > first && !IsBoundaryLocked(*pieces_[run - 1].profile, *pieces_[run].profile)) --run;
    JoinRunLocked(run, last);
    last = run;
  }
}

void WindowStore::JoinRunLocked(size_t begin, size_t end) {
  if (end - begin < 2) return;
  WindowPieces parts;
  for (size_t i = begin; i < end; ++i) parts.push_back(pieces_[i].profile);
  Piece whole = HoldLocked(pieces_[begin].window, std::make_shared<const Profile>(MergeProfiles(parts, Everything)));
  for (size_t i = begin; i < end; ++i) LetGoLocked(pieces_[i]);
  pieces_[begin] = std::move(whole);
  pieces_.erase(pieces_.begin() + static_cast<ptrdiff_t>(begin) + 1, pieces_.begin() + static_cast<ptrdiff_t>(end));
}

bool WindowStore::IsBoundaryLocked(const Profile& before, const Profile& after) const {
  const auto boundary = boundaries_.lower_bound(EndOf(before));
  return boundary != boundaries_.end() && *boundary < EndOf(after);
}

WindowStore::Boundary::Boundary(WindowStore* store, uint64_t boot_ns) : store_(store), boot_ns_(boot_ns) {
  const std::lock_guard lock(store_->mutex_);
  store_->boundaries_.insert(boot_ns_);
}

WindowStore::Boundary::~Boundary() {
  const std::lock_guard lock(store_->mutex_);
  store_->boundaries_.erase(store_->boundaries_.find(boot_ns_));
}

void WindowStore::EvictLocked() {
  while (pieces_.size() > 1) {
    const bool is_old = WholeLocked() > limits_.windows;
    if (!is_old && bytes_ <= limits_.bytes) return;
    if (!is_old) ++over_bytes_;
    LetGoLocked(pieces_.front());
    pieces_.pop_front();
  }
}

}  // namespace offcpu

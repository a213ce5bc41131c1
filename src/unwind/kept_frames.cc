#include "unwind/kept_frames.h"

#include <algorithm>

namespace offcpu {

KeptFrames::KeptFrames(size_t limit, std::vector<Frame>* frames, std::vector<uint64_t>* pcs)
    : limit_(limit), frames_(frames), pcs_(pcs) {}

Frame& KeptFrames::Add(const Frame& frame, uint64_t pc) {
  if (++count_ <= limit_) {
    if (pcs_ != nullptr) pcs_->push_back(pc);
    return frames_->emplace_back(frame);
  }
  // Those that were kept as inner ones may be outer ones, too.
  if (outer_.empty()) {
    outer_.resize(limit_ - limit_ / 2);
    for (size_t i = 0; i < outer_.size(); ++i) {
      const size_t from = limit_ - outer_.size() + i;
      outer_[i] = {.frame = (*frames_)[from], .pc = pcs_ != nullptr ? (*pcs_)[from] : 0};
    }
  }
  Outer& slot = outer_[next_];
  next_ = (next_ + 1) % outer_.size();
  slot = {.frame = frame, .pc = pc};
  return slot.frame;
}

EndReason KeptFrames::Finish(EndReason end) {
  if (!is_cut() || (end != EndReason::kComplete && end != EndReason::kGuessedEnd)) return end;
  std::rotate(outer_.begin(), outer_.begin() + static_cast<ptrdiff_t>(next_), outer_.end());
  const size_t inner = limit_ - outer_.size();
  frames_->resize(inner);
  frames_->push_back({.address = count_ - limit_, .kind = FrameKind::kMarker});
  for (const Outer& outer : outer_) frames_->push_back(outer.frame);
  if (pcs_ == nullptr) return EndReason::kFrameLimit;
  pcs_->resize(inner);
  pcs_->push_back(0);
  for (const Outer& outer : outer_) pcs_->push_back(outer.pc);
  return EndReason::kFrameLimit;
}

}  // namespace offcpu

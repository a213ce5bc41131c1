#include "unwind/kept_frames.h"

#include <algorithm>

namespace offcpu {

KeptFrames::KeptFrames(size_t limit, std::vector<Frame>* frames, FramePlaces* places)
    : limit_(limit), frames_(frames), places_(places) {}

Frame& KeptFrames::Add(const Frame& frame, uint64_t pc, uint64_t sp) {
  if (++count_ <= limit_) {
    if (places_ != nullptr) {
      places_->pcs.push_back(pc);
      places_->sps.push_back(sp);
    }
    return frames_->emplace_back(frame);
  }
  // Those that were kept as inner ones may be outer ones, too.
  if (outer_.empty()) {
    outer_.resize(limit_ - limit_ / 2);
    for (size_t i = 0; i < outer_.size(); ++i) {
      const size_t from = limit_ - outer_.size() + i;
      outer_[i].frame = (*frames_)[from];
      if (places_ == nullptr) continue;
      outer_[i].pc = places_->pcs[from];
      outer_[i].sp = places_->sps[from];
    }
  }
  Outer& slot = outer_[next_];
  next_ = (next_ + 1) % outer_.size();
  slot = {.frame = frame, .pc = pc, .sp = sp};
  return slot.frame;
}

EndReason KeptFrames::Finish(EndReason end) {
  if (!is_cut() || (end != EndReason::kComplete && end != EndReason::kGuessedEnd)) return end;
  std::rotate(outer_.begin(), outer_.begin() + static_cast<ptrdiff_t>(next_), outer_.end());
  const size_t inner = limit_ - outer_.size();
  frames_->resize(inner);
  frames_->push_back({.address = count_ - limit_, .kind = FrameKind::kMarker});
  for (const Outer& outer : outer_) frames_->push_back(outer.frame);
  if (places_ == nullptr) return EndReason::kFrameLimit;
  places_->pcs.resize(inner);
  places_->pcs.push_back(0);
  places_->sps.resize(inner + 1);  // the first one that is left out begins where the mark does
  for (const Outer& outer : outer_) {
    places_->pcs.push_back(outer.pc);
    places_->sps.push_back(outer.sp);
  }
  return EndReason::kFrameLimit;
}

}  // namespace offcpu

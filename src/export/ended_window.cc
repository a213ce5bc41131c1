#include "export/ended_window.h"

#include "profile/merge.h"
#include "symbolize/symbolizer.h"

namespace offcpu {

void WindowNames::SetIdlePatterns(IdlePatterns patterns) {
  auto next = std::make_shared<const IdlePatterns>(std::move(patterns));
  const std::lock_guard lock(mutex_);
  idle_ = std::move(next);
}

std::shared_ptr<const IdlePatterns> WindowNames::idle_patterns() const {
  const std::lock_guard lock(mutex_);
  return idle_;
}

NamedProfile WindowNames::Name(const WindowPieces& pieces, const IdlePatterns& idle, const IsCancelled& is_cancelled) {
  const std::lock_guard lock(naming_);
  SymbolizerOptions naming;
  if (readers_ != nullptr) naming.timed_read = TimedReadOn(readers_, kNamesDeadline, is_cancelled);
  naming.idle = &idle;
  return Symbolize(MergeProfiles(pieces, Everything), naming, &cache_);
}

EndedWindow::EndedWindow(WindowPieces pieces, std::shared_ptr<WindowNames> names)
    : names_(std::move(names)), idle_(names_->idle_patterns()), is_empty_(pieces.empty()), pieces_(std::move(pieces)) {
  for (const std::shared_ptr<const Profile>& piece : pieces_) {
    duration_ns_ += piece->duration_ns;
    for (const ProfileRow& row : piece->rows) blocked_ns_ += row.blocked_ns;
  }
}

const NamedProfile& EndedWindow::Named(const IsCancelled& is_cancelled) {
  const std::lock_guard lock(mutex_);
  if (named_ == nullptr) {
    named_ = std::make_unique<const NamedProfile>(names_->Name(pieces_, *idle_, is_cancelled));
    pieces_ = {};
  }
  return *named_;
}

}  // namespace offcpu

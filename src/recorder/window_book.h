// The book of windows: the one that is being filled, the one before as long as it is being closed, and which of them an
// interval belongs to. A window is cut at an instant of the scheduler's clock that no event handled so far lies behind.
// It is kept until all that happened in it has been handled and its stacks are known, while the next one is filled. An
// interval that reaches from the one into the other is shared out between them.
//
// One thread. Asks Stacks which user stacks the waits have; does not know where they come from.
#ifndef OFFCPU_RECORDER_WINDOW_BOOK_H_
#define OFFCPU_RECORDER_WINDOW_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bpf_programs/events.h"
#include "bpf_programs/waiting_thread.h"
#include "process/control_groups.h"
#include "profile/kernel_stacks.h"
#include "profile/profile.h"
#include "recorder/host.h"
#include "recorder/open_waits.h"
#include "recorder/reported_waits.h"
#include "recorder/stacks.h"
#include "recorder/wait_part.h"
#include "recorder/window.h"

namespace offcpu {

struct WindowBookConfig {
  WindowConfig window;
  OpenWaitsConfig open_waits;
  size_t kernel_stacks = 1 << 16;  // of which the frames are known
  // That a window which has been cut waits for stacks: a snapshot of a process comes to an end in a second, and another
  // one for a stack of its threads. A kernel entry that lasts longer may last for ever.
  uint64_t close_ns = 2'000'000'000;
};

class WindowBook {
 public:
  // `user_stacks` and `host` must outlive it. `now_ns`: as of Tick. What comes before the first one must not have
  // waited since the clock began.
  WindowBook(const WindowBookConfig& config, Stacks& user_stacks, Host& host, uint64_t now_ns);
  WindowBook(const WindowBook&) = delete;
  WindowBook& operator=(const WindowBook&) = delete;

  void Add(const IntervalEvent& event);
  void Add(const SampleEvent& event);
  void Define(KernelStackEvent&& event);
  // Gives the outcomes that have become known to the intervals that wait for them.
  void TakeInNews();
  // Describes a process of which nothing more will be learned.
  void Describe(const ProcessInfo& process);
  void Tick(uint64_t now_ns);

  // Ends the window and begins the next one, at `end_ns` of the scheduler's clock, which is later than its beginning.
  // Not while another window is being closed.
  void Cut(uint64_t end_ns);
  // Has the window that was cut all its intervals and their stacks, or waited for long enough? `all_handled`: all
  // events from before the cut have been.
  bool IsClosed(bool all_handled) const;
  // Ends the closing. `processes` is what is known of them, `losses` are those of others in that window.
  Profile TakeClosed(const std::vector<ProcessInfo>& processes, std::vector<Loss> losses);
  // Ends the last window.
  Profile Finish(const std::vector<ProcessInfo>& processes, std::vector<Loss> losses);

  // What the waits that are open have of the window, which ends; see CloseOpenWaits. Gives the intervals it has added.
  std::vector<IntervalEvent> AddOpenWaits(const std::vector<WaitingThread>& first,
                                          const std::vector<WaitingThread>& last);

  // The window that is being filled.
  uint64_t begin_ns() const { return current_->begin_ns(); }
  ProfileStats& stats() { return current_->stats(); }
  size_t rows() const { return current_->rows(); }
  uint64_t intervals() const { return intervals_; }  // in all windows
  uint64_t control_groups_not_told() const { return control_groups_.not_told(); }
  size_t kernel_stacks() const { return kernel_stacks_.size(); }
  uint64_t conflicts() const { return kernel_stacks_.conflicts(); }  // see KernelStacks
  size_t reported_waits() const { return reported_.size(); }

 private:
  void AddSum(const IntervalEvent& event);
  void AddTo(Window& window, const IntervalEvent& event, const WaitPart& part, WaitKind kind);
  // Counts as lost what of a wait lies in a window that is not open any more.
  void CountLost(LossId loss, const IntervalEvent& event, const WaitPart& part);
  void VoidKernelStack(uint64_t id);
  std::unique_ptr<Window> WindowFrom(uint64_t begin_ns);

  const WindowBookConfig config_;
  const wire_hash_key hash_key_;  // that kernel stacks are named under
  Stacks& user_stacks_;
  KernelStacks kernel_stacks_;
  ControlGroups control_groups_;
  std::unique_ptr<Window> current_;
  std::unique_ptr<Window> closing_;  // the one before, from Cut to TakeClosed
  uint64_t close_by_ns_ = 0;         // of it
  ReportedWaits reported_;
  uint64_t now_ns_;
  uint64_t intervals_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_WINDOW_BOOK_H_

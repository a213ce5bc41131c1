#include "runtimes/interpreted_stack.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace offcpu {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

// The index of the native frame that runs each run, and kNowhere for one that is not there. Nothing: they do not agree.
std::optional<std::vector<size_t>> RunnersOf(const std::vector<InterpretedRun>& runs, const UserStack& stack,
                                             std::span<const uint64_t> sps) {
  const bool is_cut =
      std::any_of(stack.frames.begin(), stack.frames.end(), [](const Frame& f) { return f.is_marker(); });
  const bool is_whole = stack.end == EndReason::kComplete || is_cut;
  std::vector<size_t> runners(runs.size(), kNowhere);
  size_t frame = 0;  // the first one that may run the next run
  for (size_t run = 0; run < runs.size(); ++run) {
    const uint64_t at = runs[run].at;
    // Not sorted: behind a signal handler on a stack of its own, the stack pointer may fall.
    while (frame + 1 < sps.size() && !(sps[frame] <= at && at < sps[frame + 1])) ++frame;
    if (frame + 1 >= sps.size()) {
      const bool is_beyond = !sps.empty() && at >= sps.back();
      if (is_whole || !is_beyond) return std::nullopt;
      return runners;
    }
    if (stack.frames[frame].is_marker()) continue;  // it may stand for more of them
    if (runs[run].frames != 0) runners[run] = frame;
    ++frame;
  }
  return runners;
}

struct Placed {
  Frame frame;
  uint64_t pc = 0;
  uint64_t sp = 0;
};

// Leaves out what is beyond the limit, as KeptFrames does; what was left out before stays where it is.
void Cut(size_t limit, std::vector<Placed>* placed, EndReason* end) {
  const auto marker = std::find_if(placed->begin(), placed->end(), [](const Placed& p) { return p.frame.is_marker(); });
  const bool is_cut = marker != placed->end();
  const size_t frames = placed->size() - (is_cut ? 1 : 0);
  if (frames <= limit) return;
  const bool has_all = is_cut || *end == EndReason::kComplete || *end == EndReason::kGuessedEnd;
  if (!has_all) return placed->resize(limit);
  size_t inner = limit / 2;
  size_t outer = limit - inner;
  if (is_cut) {
    inner = std::min<size_t>(inner, marker - placed->begin());
    outer = std::min<size_t>(outer, placed->end() - marker - 1);
  }
  const uint64_t left_out = frames - inner - outer + (is_cut ? marker->frame.address : 0);
  const Placed mark = {.frame = {.address = left_out, .kind = FrameKind::kMarker}, .sp = (*placed)[inner].sp};
  placed->erase(placed->begin() + static_cast<ptrdiff_t>(inner), placed->end() - static_cast<ptrdiff_t>(outer));
  placed->insert(placed->begin() + static_cast<ptrdiff_t>(inner), mark);
  *end = EndReason::kFrameLimit;
}

}  // namespace

bool PlaceInterpreted(const InterpretedStack& interpreted, const AddressSpace& space, size_t max_frames,
                      UserStack* stack, FramePlaces* places) {
  const std::optional<std::vector<size_t>> runners = RunnersOf(interpreted.runs, *stack, places->sps);
  if (!runners) return false;
  std::vector<Placed> placed;
  size_t native = 0;
  const auto keep_to = [&](size_t end) {
    for (; native < end; ++native) placed.push_back({stack->frames[native], places->pcs[native], places->sps[native]});
  };
  std::span<const Frame> functions = interpreted.frames;
  for (size_t run = 0; run < runners->size(); ++run) {
    const std::span<const Frame> own = functions.first(interpreted.runs[run].frames);
    functions = functions.subspan(own.size());
    const size_t runner = (*runners)[run];
    if (runner == kNowhere) continue;
    keep_to(runner);
    for (const Frame& function : own) placed.push_back({.frame = function, .sp = places->sps[runner]});
    native = runner + 1;
    const MappedCode* caller = native < stack->frames.size() ? space.Find(places->pcs[native] - 1) : nullptr;
    if (caller != nullptr && !caller->copied.empty()) ++native;
  }
  keep_to(stack->frames.size());
  Cut(max_frames, &placed, &stack->end);
  stack->frames.clear();
  *places = {};
  for (const Placed& p : placed) {
    stack->frames.push_back(p.frame);
    places->pcs.push_back(p.pc);
    places->sps.push_back(p.sp);
  }
  return true;
}

}  // namespace offcpu

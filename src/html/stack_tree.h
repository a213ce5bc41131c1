// The names of frames, each once, and stacks as one tree from the outermost frame to the leaf: those of one profile, or
// of two that are compared by names. Where in the source the frames of a stack are is a tree of its own.
#ifndef OFFCPU_HTML_STACK_TREE_H_
#define OFFCPU_HTML_STACK_TREE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profile/named_profile.h"

namespace offcpu {

// Texts by their number, printable, and cut where they are too long to be looked at. Texts that look the same have the
// same number. "" is 0.
class PageStrings {
 public:
  static constexpr size_t kMaxBytes = 4096;  // of each, with the mark that it was cut

  PageStrings() { Of(""); }

  uint32_t Of(std::string_view text);
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
  absl::flat_hash_map<std::string, uint32_t> index_;  // of texts as they were given
  absl::flat_hash_map<std::string, uint32_t> index_of_printable_;
};

// What a frame is, as the page shows it.
enum class FrameClass : uint8_t {
  kUser,
  kKernel,
  kInterpreted,  // a function of a program that a runtime interprets
  kMissing,      // stands for what is not known: "[truncated: no row]"
  kWaker,        // what follows woke what precedes
  kThread,       // the name of a thread or of a process
};

// One thread.
class StackTree {
 public:
  struct Frame {
    uint32_t name = 0;
    uint32_t module = 0;
    FrameClass kind = FrameClass::kUser;
  };
  // Where in the source; all 0 where that is not known.
  struct Place {
    uint32_t file = 0;
    uint32_t line = 0;
    uint32_t start_line = 0;
  };
  struct Node {
    uint32_t parent = 0;
    uint32_t frame = 0;
    bool inlined = false;  // its function was, in all stacks
  };
  // Leads from the place of a frame to that of its caller.
  struct Step {
    uint32_t parent = 0;
    uint32_t place = 0;
  };
  // A frame of a stack.
  struct Entry {
    uint32_t frame = 0;
    uint32_t place = 0;
    bool inlined = false;  // its function was, into that of the frame before it
  };
  using Stack = std::vector<Entry>;  // outermost first
  // Where a stack ends: in the tree of its names, and in that of its places.
  struct Spot {
    uint32_t node = 0;
    uint32_t step = 0;
  };

  StackTree() : nodes_(1), places_(1), steps_(1) {}

  uint32_t FrameOf(std::string_view name, std::string_view module, FrameClass kind);
  uint32_t PlaceOf(const FrameLine& line);
  // The last frame, below another one; 0 is the root of both trees. The same names are the same node, and the same
  // places the same step. Below the root of the steps, frames without a place take none.
  Spot Below(Spot parent, const Stack& stack);

  PageStrings& strings() { return strings_; }
  const std::vector<Frame>& frames() const { return frames_; }
  const std::vector<Node>& nodes() const { return nodes_; }     // parents first
  const std::vector<Place>& places() const { return places_; }  // the first is no place
  const std::vector<Step>& steps() const { return steps_; }     // parents first

 private:
  PageStrings strings_;
  std::vector<Frame> frames_;
  std::vector<Node> nodes_;
  std::vector<Place> places_;
  std::vector<Step> steps_;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, FrameClass>, uint32_t> frame_index_;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> place_index_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> node_index_;  // by parent and frame
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> step_index_;  // by parent and place
};

// Puts the stacks of one profile into a tree. One thread; both must outlive this.
class StackPlacer {
 public:
  // `is_comparing`: nothing but names matters; the process of a waker has that of its program.
  StackPlacer(const NamedProfile& profile, bool is_comparing, StackTree& tree);

  // A pair of stacks, and a chain of wakers, whose places are left out.
  StackTree::Spot StackOf(uint32_t user_stack, uint32_t kernel_stack);
  uint32_t WakersOf(uint32_t chain_index);  // RowKey::waker; 0: none
  // The node that stands for all stacks that were pruned.
  uint32_t Pruned();

 private:
  using Stack = StackTree::Stack;

  void AppendFrame(const NamedFrame& frame, Stack* frames);
  Stack UserFrames(const NamedUserStack& stack);
  Stack KernelFrames(const NamedKernelStack& stack);
  Stack WakerFrames(const Waker& waker);

  const NamedProfile& profile_;
  const bool is_comparing_;
  StackTree& tree_;
  std::vector<StackTree::Spot> user_spots_;  // by user stack, node 0: not made yet
  std::vector<uint32_t> waker_nodes_;
  std::vector<std::unique_ptr<Stack>> kernel_frames_;
};

}  // namespace offcpu

#endif  // OFFCPU_HTML_STACK_TREE_H_

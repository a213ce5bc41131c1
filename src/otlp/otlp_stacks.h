// The stacks of a profile in the dictionary of an OTLP request: kernel frames, then user frames, leaf first, with what
// is missing as a frame of its own without an address, named as in the folded form; and what their labels in pprof say
// as attributes of samples. Addresses and names are those of pprof.h. The scheduler's functions at the leaf are left
// out: every wait ends there, and a back end's table of leaves would have nothing else. One thread.
#ifndef OFFCPU_OTLP_OTLP_STACKS_H_
#define OFFCPU_OTLP_OTLP_STACKS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "otlp/otlp_choice.h"
#include "otlp/otlp_dictionary.h"
#include "profile/named_profile.h"

namespace offcpu {

class OtlpStacks {
 public:
  // `names`: false leaves out those of user frames whose module has a build id, by which they can be found later.
  // `labels`: the attributes that are wanted. The profile must outlive this.
  OtlpStacks(const NamedProfile& profile, bool names, const OtlpLabels& labels)
      : profile_(profile), names_(names), labels_(labels) {}

  int32_t Stack(const ProfileRow& row, OtlpDictionary& dictionary);
  // A stack of one frame that is only a word.
  static int32_t Word(std::string_view word, OtlpDictionary& dictionary);
  void AppendAttributes(const ProfileRow& row, OtlpDictionary& dictionary, std::vector<int32_t>* attributes);

  // What was put into the dictionary is not there any more.
  void Forget();

 private:
  using Indices = std::vector<int32_t>;

  int32_t Mapping(const CodeObject& code, OtlpDictionary& dictionary);
  int32_t UserLocation(const NamedFrame& frame, OtlpDictionary& dictionary);
  int32_t KernelLocation(uint64_t address, std::span<const FrameLine> lines, OtlpDictionary& dictionary);
  const Indices& UserLocations(uint32_t index, OtlpDictionary& dictionary);
  const Indices& KernelLocations(uint32_t index, OtlpDictionary& dictionary);
  const Indices& UserAttributes(uint32_t index, OtlpDictionary& dictionary);

  const NamedProfile& profile_;
  const bool names_;
  const OtlpLabels labels_;
  // What is in the dictionary already.
  absl::flat_hash_map<const CodeObject*, int32_t> mappings_;
  // By what tells the frames of users apart.
  absl::flat_hash_map<std::tuple<const CodeObject*, uint64_t, const FrameLine*>, int32_t> locations_;
  absl::flat_hash_map<uint32_t, Indices> user_locations_;
  absl::flat_hash_map<uint32_t, Indices> kernel_locations_;
  absl::flat_hash_map<uint32_t, Indices> user_attributes_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, int32_t> stacks_;  // by kernel and user stack
};

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_STACKS_H_

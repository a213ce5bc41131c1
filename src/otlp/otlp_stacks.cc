#include "otlp/otlp_stacks.h"

#include <cstddef>
#include <span>
#include <vector>

#include "labels/stack_labels.h"
#include "otlp/otlp_attributes.h"
#include "pprof/pprof_functions.h"
#include "pprof/pprof_labels.h"
#include "process/module.h"
#include "runtimes/runtime.h"

namespace offcpu {
namespace {

int32_t FrameType(const CodeObject* code, OtlpDictionary& dictionary) {
  if (const RuntimeCode* runtime = AsRuntimeCode(code))
    return dictionary.Attribute(kOtlpFrameType, runtime->language());
  const Module* module = AsModule(code);
  return module == nullptr ? 0 : dictionary.Attribute(kOtlpFrameType, module->language);
}

std::vector<OtlpLine> Lines(std::span<const FrameLine> lines, OtlpDictionary& dictionary) {
  std::vector<OtlpLine> of_dictionary;
  for (const FrameLine& line : lines)
    of_dictionary.push_back({dictionary.Function(line.function, line.file), line.line});
  return of_dictionary;
}

int32_t WordLocation(std::string_view word, OtlpDictionary& dictionary) {
  const FrameLine line = {.function = word};
  return dictionary.Location({.lines = Lines({&line, 1}, dictionary)});
}

}  // namespace

int32_t OtlpStacks::Word(std::string_view word, OtlpDictionary& dictionary) {
  const int32_t location = WordLocation(word, dictionary);
  return dictionary.Stack({&location, 1});
}

int32_t OtlpStacks::Mapping(const CodeObject& code, OtlpDictionary& dictionary) {
  const auto [it, inserted] = mappings_.try_emplace(&code);
  if (inserted) {
    std::vector<int32_t> ids;
    if (!code.build_id.empty()) ids.push_back(dictionary.Attribute(kOtlpBuildId, code.build_id));
    if (!code.file_hash.empty()) ids.push_back(dictionary.Attribute(kOtlpFileHash, code.file_hash));
    it->second = dictionary.Mapping(code.path, ids);
  }
  return it->second;
}

int32_t OtlpStacks::UserLocation(const NamedFrame& frame, OtlpDictionary& dictionary) {
  const auto [it, inserted] = locations_.try_emplace({frame.code, frame.lookup_address(), frame.lines.data()});
  if (inserted) {
    OtlpLocation location = {.address = frame.lookup_address()};
    if (frame.code != nullptr) location.mapping = Mapping(*frame.code, dictionary);
    location.frame_type = FrameType(frame.code, dictionary);
    const bool has_id = frame.code != nullptr && !(frame.code->build_id.empty() && frame.code->file_hash.empty());
    const bool looked_up_later = has_id && (!names_ || !frame.named);
    if (!looked_up_later) location.lines = Lines(frame.lines, dictionary);
    it->second = dictionary.Location(location);
  }
  return it->second;
}

int32_t OtlpStacks::KernelLocation(uint64_t address, std::span<const FrameLine> lines, OtlpDictionary& dictionary) {
  return dictionary.Location({.mapping = dictionary.Mapping(kKernelMapping, {}),
                              .address = address,
                              .lines = Lines(lines, dictionary),
                              .frame_type = dictionary.Attribute(kOtlpFrameType, "kernel")});
}

const OtlpStacks::Indices& OtlpStacks::UserLocations(uint32_t index, OtlpDictionary& dictionary) {
  const auto [it, inserted] = user_locations_.try_emplace(index);
  if (inserted) {
    const NamedUserStack& stack = profile_.user_stacks[index];
    for (const NamedFrame& frame : stack.frames) it->second.push_back(UserLocation(frame, dictionary));
    const std::string end = EndLabel(stack);
    if (!end.empty()) it->second.push_back(WordLocation(end, dictionary));
  }
  return it->second;
}

const OtlpStacks::Indices& OtlpStacks::KernelLocations(uint32_t index, OtlpDictionary& dictionary) {
  const auto [it, inserted] = kernel_locations_.try_emplace(index);
  if (inserted) {
    const NamedKernelStack& stack = profile_.kernel_stacks[index];
    for (const NamedFrame& frame : std::span(stack.frames).subspan(BeginOfWait(stack)))
      it->second.push_back(KernelLocation(frame.lookup_address(), frame.lines, dictionary));
    const std::string missing = MissingLabel(stack);
    const FrameLine word = {.function = missing};
    if (!missing.empty()) it->second.push_back(KernelLocation(0, {&word, 1}, dictionary));
  }
  return it->second;
}

int32_t OtlpStacks::Stack(const ProfileRow& row, OtlpDictionary& dictionary) {
  const auto [it, inserted] = stacks_.try_emplace({row.kernel_stack, row.user_stack});
  if (inserted) {
    Indices locations = KernelLocations(row.kernel_stack, dictionary);
    const Indices& user = UserLocations(row.user_stack, dictionary);
    locations.insert(locations.end(), user.begin(), user.end());
    it->second = dictionary.Stack(locations);
  }
  return it->second;
}

const OtlpStacks::Indices& OtlpStacks::UserAttributes(uint32_t index, OtlpDictionary& dictionary) {
  const auto [it, inserted] = user_attributes_.try_emplace(index);
  if (!inserted) return it->second;
  Indices& attributes = it->second;
  const NamedUserStack& user = profile_.user_stacks[index];
  const auto add = [&](OtlpLabel label, std::string_view key, std::string_view text) {
    if (labels_.Has(label)) attributes.push_back(dictionary.Attribute(key, text));
  };
  if (user.overflow) {
    add(OtlpLabel::kNoUserStack, kOtlpNoUserStack, kOtherStack);
  } else if (user.missing != NoUserStack::kNone) {
    add(OtlpLabel::kNoUserStack, kOtlpNoUserStack, Name(user.missing));
  } else {
    add(OtlpLabel::kUserEnd, kOtlpUserEnd, Name(user.end));
  }
  return attributes;
}

void OtlpStacks::AppendAttributes(const ProfileRow& row, OtlpDictionary& dictionary, std::vector<int32_t>* attributes) {
  const Indices& user = UserAttributes(row.user_stack, dictionary);
  attributes->insert(attributes->end(), user.begin(), user.end());
  if (!labels_.Has(OtlpLabel::kNoKernelStack)) return;
  const NamedKernelStack& kernel = profile_.kernel_stacks[row.kernel_stack];
  if (kernel.overflow) {
    attributes->push_back(dictionary.Attribute(kOtlpNoKernelStack, kOtherStack));
  } else if (kernel.is_lost()) {
    attributes->push_back(dictionary.Attribute(kOtlpNoKernelStack, kLostStack));
  }
}

void OtlpStacks::Forget() {
  mappings_.clear();
  locations_.clear();
  user_locations_.clear();
  kernel_locations_.clear();
  user_attributes_.clear();
  stacks_.clear();
}

}  // namespace offcpu

// The profile that OTLP requests of one window were made of, as far as pprof tells of it; and what a pprof file says,
// in an order that does not depend on that of its tables and samples.
#ifndef OFFCPU_TESTS_OTLP_OTLP_TO_PPROF_H_
#define OFFCPU_TESTS_OTLP_OTLP_TO_PPROF_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classify/system_calls.h"
#include "gtest/gtest.h"
#include "labels/stack_labels.h"
#include "otlp_reader.h"
#include "pprof/pprof.h"
#include "pprof/pprof_comments.h"
#include "pprof/pprof_labels.h"
#include "tests/pprof/pprof_texts.h"

namespace offcpu {

class OtlpToProfile {
 public:
  explicit OtlpToProfile(const std::vector<std::string>& requests) {
    for (const std::string& request : requests) Read(OtlpReader(request));
    std::vector<std::string_view> views(comments_.begin(), comments_.end());
    EXPECT_TRUE(ReadPprofComments(views, profile_).ok());
  }

  const NamedProfile& profile() const { return profile_; }

 private:
  using Texts = OtlpReader::Texts;

  static std::string Get(const Texts& texts, const std::string& key) {
    const auto it = texts.find(key);
    return it == texts.end() ? "" : it->second;
  }
  static uint64_t Number(const std::string& text) { return text.empty() ? 0 : std::stoull(text); }

  void Read(const OtlpReader& reader) {
    for (const auto& resource : reader.message().resource_profiles()) {
      const Texts of = OtlpReader::Attributes(resource);
      for (const otlp::Profile& profile : resource.scope_profiles(0).profiles()) {
        profile_.duration_ns = profile.duration_nano();
        const std::string type = reader.Type(profile);
        if (type == "recording/nanoseconds" || type == "comments/count") ReadComments(reader, profile);
        if (of.count("process.pid") == 0) continue;
        const auto period = static_cast<uint64_t>(profile.period());
        for (const otlp::Sample& sample : profile.samples()) ReadSample(reader, of, type, period, sample);
      }
    }
  }

  void ReadComments(const OtlpReader& reader, const otlp::Profile& profile) {
    for (const int32_t index : profile.attribute_indices()) {
      const otlp::KeyValueAndUnit& attribute = reader.dictionary().attribute_table(index);
      if (reader.Text(attribute.key_strindex()) != "pprof.profile.comment") continue;
      for (const OtlpAnyValue& value : attribute.value().array_value().values()) {
        comments_.push_back(value.string_value());
      }
    }
  }

  void ReadSample(const OtlpReader& reader, const Texts& of, const std::string& type, uint64_t period,
                  const otlp::Sample& sample) {
    const Texts attributes = reader.Attributes(sample.attribute_indices());
    ProfileRow& row = Row(reader, of, attributes, sample);
    const auto value = static_cast<uint64_t>(sample.values(0));
    if (type == "off_cpu/nanoseconds") {
      // The sum of two others.
    } else if (type == "contentions/count") {
      row.count = value;
    } else if (type == "blocked/nanoseconds") {
      row.blocked_ns = value;
    } else if (type == "runnable/nanoseconds") {
      row.runnable_ns = value;
    } else if (type == "samples/count") {
      row.samples = value;
      row.cpu_ns = value * period;
    } else {
      ADD_FAILURE() << type;
    }
  }

  ProfileRow& Row(const OtlpReader& reader, const Texts& of, const Texts& attributes, const otlp::Sample& sample) {
    ProfileRow row;
    row.process = Process(of);
    row.tid = static_cast<int32_t>(Number(Get(attributes, "thread.id")));
    row.comm = Index(Get(attributes, "thread.name"), profile_.comms);
    row.kind = ByName<WaitKind>(Get(attributes, "offcpu.kind"), kWaitKindCount).value();
    row.syscall = SystemCallNumber(Get(attributes, "offcpu.syscall")).value();
    if (const std::string& path = Get(of, "offcpu.cgroup"); !path.empty())
      row.control_group = Index(path, profile_.control_groups) + 1;
    std::tie(row.kernel_stack, row.user_stack) = Stacks(reader, attributes, sample);
    const auto [it, inserted] = rows_.try_emplace(row.key(), profile_.rows.size());
    if (inserted) profile_.rows.push_back({row, profile_.names->Add(Get(attributes, "offcpu.idle"))});
    return profile_.rows[it->second];
  }

  static uint32_t Index(const std::string& text, std::vector<std::string>& texts) {
    const auto it = std::find(texts.begin(), texts.end(), text);
    if (it == texts.end()) texts.push_back(text);
    return static_cast<uint32_t>(std::find(texts.begin(), texts.end(), text) - texts.begin());
  }

  // Its threads may be in several control groups.
  uint32_t Process(Texts of) {
    for (const char* of_thread : {"offcpu.cgroup", "k8s.pod.uid", "offcpu.unit"}) of.erase(of_thread);
    const auto [it, inserted] = processes_.try_emplace(of, profile_.processes.size());
    if (inserted) {
      ProcessInfo& process = profile_.processes.emplace_back();
      process.key.pid = static_cast<int32_t>(Number(Get(of, "process.pid")));
      process.name = Get(of, "process.title");
      process.executable = Get(of, "process.executable.path");
      process.container = Get(of, "container.id");
    }
    return it->second;
  }

  const Module* ModuleOf(const OtlpReader& reader, const otlp::Location& location) {
    if (location.mapping_index() == 0) return nullptr;
    const otlp::Mapping& mapping = reader.dictionary().mapping_table(location.mapping_index());
    const std::string build_id = Get(reader.Attributes(mapping.attribute_indices()), "process.executable.build_id.gnu");
    std::shared_ptr<Module>& module = modules_[{reader.Text(mapping.filename_strindex()), build_id}];
    if (module == nullptr) {
      module = std::make_shared<Module>();
      module->path = reader.Text(mapping.filename_strindex());
      module->build_id = build_id;
      profile_.code.push_back(module);
    }
    return module.get();
  }

  struct Place {
    const Module* module;
    uint64_t address;
    std::string name;
    auto operator<=>(const Place&) const = default;
  };

  // A frame without a name is its file and address, which is what pprof calls it.
  static std::string NameOf(const OtlpReader& reader, const otlp::Location& location, const Module* module) {
    if (location.lines_size() != 0 || module == nullptr) return reader.Function(location);
    const std::string file = module->path.substr(module->path.rfind('/') + 1);
    return absl::StrCat(file, "+0x", absl::Hex(location.address()));
  }

  std::pair<uint32_t, uint32_t> Stacks(const OtlpReader& reader, const Texts& attributes, const otlp::Sample& sample) {
    std::vector<Place> kernel;
    std::vector<Place> user;
    for (const otlp::Location* location : reader.Locations(sample)) {
      const Module* module = ModuleOf(reader, *location);
      const bool in_kernel = module != nullptr && module->path == kKernelMapping;
      EXPECT_TRUE(user.empty() || !in_kernel);
      (in_kernel ? kernel : user).push_back({module, location->address(), NameOf(reader, *location, module)});
    }
    return {Kernel(kernel, Get(attributes, "offcpu.no_kernel_stack")), User(user, attributes)};
  }

  uint32_t Kernel(const std::vector<Place>& lines, const std::string& missing) {
    const auto [it, inserted] = kernel_stacks_.try_emplace({lines, missing}, profile_.kernel_stacks.size());
    if (!inserted) return it->second;
    NamedKernelStack& stack = profile_.kernel_stacks.emplace_back();
    stack.overflow = missing == "other";
    stack.user_mode = lines.empty() && missing.empty();
    for (const Place& line : lines) {
      if (!missing.empty()) break;  // a word
      stack.frames.push_back(
          {{.address = line.address + 1, .exact = false, .kind = FrameKind::kKernel}, true, Line(line.name)});
    }
    return it->second;
  }

  uint32_t User(const std::vector<Place>& lines, const Texts& attributes) {
    const std::string missing = Get(attributes, "offcpu.no_user_stack");
    const std::string end = Get(attributes, "offcpu.user_end");
    const auto [it, inserted] = user_stacks_.try_emplace({lines, missing + end}, profile_.user_stacks.size());
    if (!inserted) return it->second;
    NamedUserStack stack = {.overflow = missing == "other"};
    if (!missing.empty() && !stack.overflow) stack.missing = ByName<NoUserStack>(missing, kNoUserStackCount).value();
    if (!end.empty()) stack.end = ByName<EndReason>(end, kEndReasonCount).value();
    const std::string word = EndLabel(stack);
    EXPECT_TRUE(word.empty() || lines.back().name == word) << word;
    for (size_t i = 0; i < lines.size() - (word.empty() ? 0 : 1); ++i) {
      // The address to look up; how it was found is not said.
      const Frame frame = {.code = lines[i].module, .address = lines[i].address, .exact = true};
      stack.frames.push_back({frame, true, Line(lines[i].name)});
    }
    profile_.user_stacks.push_back(std::move(stack));
    return it->second;
  }

  NamedProfile profile_;
  std::vector<std::string> comments_;
  std::map<Texts, uint32_t> processes_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Module>> modules_;
  std::map<std::pair<std::vector<Place>, std::string>, uint32_t> kernel_stacks_;
  std::map<std::pair<std::vector<Place>, std::string>, uint32_t> user_stacks_;
  std::map<RowKey, size_t> rows_;
};

inline std::string PprofOf(const NamedProfile& profile) {
  std::string bytes;
  WritePprof(profile, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

inline std::vector<std::string> PprofTextsOf(const std::vector<std::string>& requests) {
  const OtlpToProfile back(requests);
  return PprofTexts(PprofOf(back.profile()));
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OTLP_OTLP_TO_PPROF_H_

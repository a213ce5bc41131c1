// What a pprof file says, in an order that does not depend on that of its tables and samples.
#ifndef OFFCPU_TESTS_PPROF_PPROF_TEXTS_H_
#define OFFCPU_TESTS_PPROF_PPROF_TEXTS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytes/gzip.h"
#include "gtest/gtest.h"
#include "perftools/profile.pb.h"

namespace offcpu {

// A line for each sample, mapping and comment, and for the header: all that a pprof file says. Samples and mappings in
// the order of their texts.
inline std::vector<std::string> PprofTexts(const std::string& gzipped) {
  namespace pb = offcpu::pprof;
  pb::Profile file;
  EXPECT_TRUE(file.ParseFromString(Gunzip(gzipped, 1u << 30).value()));
  const auto text = [&](int64_t index) { return file.string_table(static_cast<int>(index)); };
  const auto mapping = [&](uint64_t id) {
    if (id == 0) return std::string("-");
    const pb::Mapping& m = file.mapping(static_cast<int>(id - 1));
    return text(m.filename()) + " " + text(m.build_id()) + " " + std::to_string(m.memory_start()) + " " +
           std::to_string(m.memory_limit()) + " " + std::to_string(m.file_offset());
  };
  std::vector<std::string> texts;
  for (const pb::Sample& sample : file.sample()) {
    std::string line = "sample";
    for (const int64_t value : sample.value()) line += " " + std::to_string(value);
    for (const pb::Label& label : sample.label()) {
      line += "\n  " + text(label.key()) + "=" + text(label.str()) + " " + std::to_string(label.num()) + " " +
              text(label.num_unit());
    }
    // How frames were found is not in every form.
    const pb::SampleDetails& details = sample.details();
    for (const auto& [name, number] :
         {std::pair("max", details.max_ns()), std::pair("count_error", details.count_error()),
          std::pair("time_error", details.time_error())}) {
      if (number != 0) line += "\n  " + std::string(name) + "=" + std::to_string(number) + " ";
    }
    for (const uint64_t id : sample.location_id()) {
      const pb::Location& location = file.location(static_cast<int>(id - 1));
      const pb::Function& function = file.function(static_cast<int>(location.line(0).function_id() - 1));
      line += "\n  " + std::to_string(location.address()) + " " + text(function.name()) + " in " +
              mapping(location.mapping_id());
    }
    texts.push_back(line);
  }
  for (const pb::Mapping& m : file.mapping()) texts.push_back("mapping " + mapping(m.id()));
  std::sort(texts.begin(), texts.end());
  for (const int64_t index : file.comment()) texts.push_back("comment " + text(index));
  texts.push_back("time " + std::to_string(file.time_nanos()) + " " + std::to_string(file.duration_nanos()));
  return texts;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PPROF_PPROF_TEXTS_H_

// One of our files as a message that tests change, as `go tool pprof -proto` does with one of its options.
#ifndef OFFCPU_TESTS_PPROF_PPROF_MESSAGE_H_
#define OFFCPU_TESTS_PPROF_PPROF_MESSAGE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "bytes/gzip.h"
#include "gtest/gtest.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_reader.h"
#include "tests/output/written.h"

namespace offcpu {

class PprofMessageTest : public ::testing::Test {
 protected:
  using NameFilter = std::function<bool(const std::string&)>;

  explicit PprofMessageTest(const NamedProfile& profile) {
    EXPECT_TRUE(message_.ParseFromString(Gunzip(Written(OutputFormat::kPprof, profile), 1 << 20).value()));
  }

  const std::string& Text(int64_t index) const { return message_.string_table(static_cast<int>(index)); }
  std::string NameOf(uint64_t location_id) const {
    const pprof::Location& location = message_.location(static_cast<int>(location_id - 1));
    if (location.line_size() == 0) return "";
    return Text(message_.function(static_cast<int>(location.line(0).function_id() - 1)).name());
  }
  // As -hide does it: the frames go, and their locations stay without a line.
  void Hide(const NameFilter& goes) {
    std::set<uint64_t> hidden;
    for (pprof::Location& location : *message_.mutable_location()) {
      if (!goes(NameOf(location.id()))) continue;
      location.clear_line();
      hidden.insert(location.id());
    }
    for (pprof::Sample& sample : *message_.mutable_sample()) {
      auto& ids = *sample.mutable_location_id();
      ids.erase(std::remove_if(ids.begin(), ids.end(), [&](uint64_t id) { return hidden.contains(id); }), ids.end());
    }
  }
  void Hide(const std::string& name) {
    Hide([&](const std::string& other) { return other == name; });
  }
  // As -tagshow and -taghide do it.
  void RemoveLabels(const NameFilter& goes) {
    for (pprof::Sample& sample : *message_.mutable_sample()) {
      auto& labels = *sample.mutable_label();
      labels.erase(std::remove_if(labels.begin(), labels.end(), [&](const auto& it) { return goes(Text(it.key())); }),
                   labels.end());
    }
  }
  // What it is read as is written and read as the same again.
  NamedProfile Read() const {
    absl::StatusOr<NamedProfile> stored = ParsePprof(message_.SerializeAsString());
    EXPECT_TRUE(stored.ok()) << stored.status();
    if (!stored.ok()) return {};
    const absl::StatusOr<NamedProfile> again = ParsePprof(Written(OutputFormat::kPprof, *stored));
    EXPECT_TRUE(again.ok()) << again.status();
    if (!again.ok()) return {};
    for (OutputFormat format : {OutputFormat::kPprof, OutputFormat::kFolded, OutputFormat::kJson}) {
      EXPECT_EQ(Written(format, *again), Written(format, *stored));
    }
    return *std::move(stored);
  }

  pprof::Profile message_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PPROF_PPROF_MESSAGE_H_

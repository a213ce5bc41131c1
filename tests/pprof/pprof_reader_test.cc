#include "pprof/pprof_reader.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "bytes/gzip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "labels/row_error.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof.h"
#include "profile/merge_named.h"
#include "profile/time_buckets.h"
#include "tests/output/written.h"
#include "tests/profile/recorded_profile.h"
#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

namespace pb = offcpu::pprof;

// Not compressed.
std::string MessageOf(const RecordedProfile& recorded) {
  return Gunzip(Written(OutputFormat::kPprof, recorded.profile), 1 << 20).value();
}

pb::Label* FindLabel(pb::Profile& message, int sample, const std::string& key) {
  for (pb::Label& label : *message.mutable_sample(sample)->mutable_label()) {
    if (message.string_table(static_cast<int>(label.key())) == key) return &label;
  }
  return nullptr;
}

// The message of all that a recording can hold, changed.
std::string Changed(const std::function<void(pb::Profile&)>& change) {
  pb::Profile message;
  EXPECT_TRUE(message.ParseFromString(MessageOf(RecordedProfile::All())));
  change(message);
  return message.SerializeAsString();
}

void ExpectError(const std::string& bytes, absl::StatusCode code, const std::string& part,
                 const PprofLimits& limits = {}) {
  const absl::Status status = ParsePprof(bytes, limits).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
}

TEST(PprofReaderTest, EveryFormatIsWhatItWouldHaveBeen) {
  for (const RecordedProfile& all : {RecordedProfile::All(), RecordedProfile::WithSamples()}) {
    const absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof, all.profile));
    ASSERT_TRUE(stored.ok()) << stored.status();
    const RowValue value = DefaultValue(all.profile);
    EXPECT_EQ(DefaultValue(*stored), value);
    for (const bool nanoseconds : {false, true}) {
      for (const bool frame_sources : {false, true}) {
        const FormatOptions options = {.folded = {.value = value, .nanoseconds = nanoseconds, .per_process = true},
                                       .text_value = value,
                                       .frame_sources = frame_sources};
        for (OutputFormat format : {OutputFormat::kFolded, OutputFormat::kText, OutputFormat::kJson,
                                    OutputFormat::kPprof, OutputFormat::kHtml}) {
          EXPECT_EQ(Written(format, *stored, options), Written(format, all.profile, options));
        }
      }
    }
  }
}

TEST(PprofReaderTest, ASampleWithFewerValuesThanTheFileSaysIsDamage) {
  const RecordedProfile all = RecordedProfile::WithSamples();
  pb::Profile message;
  ASSERT_TRUE(message.ParseFromString(MessageOf(all)));
  message.mutable_sample(0)->mutable_value()->Truncate(4);
  ExpectError(message.SerializeAsString(), absl::StatusCode::kDataLoss, "too few or too many values");
}

TEST(PprofReaderTest, FramesAreWhatTheWalkFound) {
  const RecordedProfile all = RecordedProfile::All();
  const absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof, all.profile));
  ASSERT_TRUE(stored.ok()) << stored.status();
  const NamedProfile& profile = *stored;
  for (size_t row = 0; row < all.profile.rows.size(); ++row) {
    const NamedUserStack& was = all.profile.user_stacks[all.profile.rows[row].user_stack];
    const NamedUserStack& is = profile.user_stacks[profile.rows[row].user_stack];
    ASSERT_EQ(is.frames.size(), was.frames.size());
    for (size_t i = 0; i < was.frames.size(); ++i) {
      EXPECT_EQ(is.frames[i].address, was.frames[i].address);
      EXPECT_EQ(is.frames[i].exact, was.frames[i].exact);
      EXPECT_EQ(is.frames[i].source, was.frames[i].source);
      EXPECT_EQ(is.frames[i].module_name, was.frames[i].module_name);
      EXPECT_EQ(is.frames[i].named, was.frames[i].named);
    }
    EXPECT_EQ(profile.kernel_stacks[profile.rows[row].kernel_stack].frames,
              all.profile.kernel_stacks[all.profile.rows[row].kernel_stack].frames);
    EXPECT_EQ(profile.processes[profile.rows[row].process].container,
              all.profile.processes[all.profile.rows[row].process].container);
    EXPECT_EQ(profile.rows[row].tid, all.profile.rows[row].tid);
    EXPECT_EQ(profile.rows[row].count_error(), all.profile.rows[row].count_error());
    EXPECT_EQ(profile.rows[row].ns_error(), all.profile.rows[row].ns_error());
    EXPECT_EQ(ErrorOf(profile.rows[row], RowValue::kBlocked), ErrorOf(all.profile.rows[row], RowValue::kBlocked));
    EXPECT_EQ(ErrorOf(profile.rows[row], RowValue::kRunnable), ErrorOf(all.profile.rows[row], RowValue::kRunnable));
    EXPECT_EQ(profile.rows[row].sampled, all.profile.rows[row].sampled);
  }
  EXPECT_EQ(profile.user_stacks.size(), 5u);  // equal ones are one
}

TEST(PprofReaderTest, AProcessHasItsProgram) {
  RecordedProfile all = RecordedProfile::All();
  all.profile.processes[all.profile.rows[0].process].executable = "/opt/server";
  const absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof, all.profile));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->processes[stored->rows.front().process].executable, "/opt/server");
  EXPECT_EQ(stored->processes[stored->rows.back().process].executable, "");
  EXPECT_EQ(Written(OutputFormat::kJson, *stored), Written(OutputFormat::kJson, all.profile));
}

// As in the files of the time when that end of a walk was called "window". A thread may be called so still.
TEST(PprofReaderTest, OlderNamesAreUnderstood) {
  RecordedProfile all = RecordedProfile::All();
  all.profile.comms[0] = "window";
  pb::Profile message;
  ASSERT_TRUE(message.ParseFromString(MessageOf(all)));
  int renamed = 0;
  for (std::string& text : *message.mutable_string_table()) {
    renamed += absl::StrReplaceAll({{"stack copy", "window"}}, &text);
  }
  EXPECT_EQ(renamed, 3) << "a label, the word where the stack is cut, and a counter";
  const absl::StatusOr<NamedProfile> stored = ParsePprof(message.SerializeAsString());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(Written(OutputFormat::kJson, *stored), Written(OutputFormat::kJson, all.profile));
}

// Files of version 1: four values a sample where nothing ran, a comment for each counter, no frames to drop.
TEST(PprofReaderTest, FilesOfTheFirstVersionAreRead) {
  const RecordedProfile all = RecordedProfile::All();
  pb::Profile message;
  ASSERT_TRUE(message.ParseFromString(MessageOf(all)));
  message.mutable_sample_type()->DeleteSubrange(4, 3);
  for (pb::Sample& sample : *message.mutable_sample()) sample.mutable_value()->Truncate(4);
  message.clear_drop_frames();
  std::vector<std::string> comments;
  for (const int64_t index : message.comment()) {
    std::string text = message.string_table(static_cast<int>(index));
    absl::StrReplaceAll({{"recording 2, ", "recording 1, "}}, &text);
    const std::string counters = "counters: ";
    if (!text.starts_with(counters)) {
      comments.push_back(text);
      continue;
    }
    const std::vector<std::string> pieces = absl::StrSplit(text.substr(counters.size()), ", ");
    for (const std::string& piece : pieces) {
      const size_t blank = piece.rfind(' ');
      comments.push_back(piece.substr(0, blank) + ": " + piece.substr(blank + 1));
    }
  }
  EXPECT_THAT(comments, testing::Contains("walk_ends complete: 200"));
  message.clear_comment();
  for (const std::string& comment : comments) {
    message.add_comment(message.string_table_size());
    message.add_string_table(comment);
  }
  const absl::StatusOr<NamedProfile> stored = ParsePprof(message.SerializeAsString());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(Written(OutputFormat::kJson, *stored), Written(OutputFormat::kJson, all.profile));
  EXPECT_EQ(Written(OutputFormat::kPprof, *stored), Written(OutputFormat::kPprof, all.profile));
}

// A tool that shows frames under names of its own has said so in both of them.
TEST(PprofReaderTest, ANameThatOthersGaveIsTheirs) {
  const absl::StatusOr<NamedProfile> stored = ParsePprof(Changed([](pb::Profile& message) {
    message.add_string_table("mangled");
    message.mutable_function(2)->set_system_name(message.string_table_size() - 1);
  }));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->user_stacks[stored->rows[0].user_stack].frames[0].name(), "read");
}

TEST(PprofReaderTest, EveryPrefixIsAnError) {
  const std::string message = MessageOf(RecordedProfile::All());
  ASSERT_TRUE(ParsePprof(message).ok());
  // The last string is that of a label, so even a cut between two entries leaves a reference to nothing.
  for (size_t size = 0; size < message.size(); ++size) {
    EXPECT_FALSE(ParsePprof(message.substr(0, size)).ok()) << size;
  }
  const RecordedProfile all = RecordedProfile::All();
  const std::string file = Written(OutputFormat::kPprof, all.profile);
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(ParsePprof(file.substr(0, size)).ok()) << size;
  }
}

TEST(PprofReaderTest, ProfilesOfOtherToolsAreRefused) {
  pb::Profile go;  // as Go writes its CPU profile
  for (const char* text : {"", "samples", "count", "cpu", "nanoseconds"}) go.add_string_table(text);
  for (int i : {1, 3}) {
    go.add_sample_type()->set_type(i);
    go.mutable_sample_type(i / 2)->set_unit(i + 1);
  }
  ExpectError(go.SerializeAsString(), absl::StatusCode::kInvalidArgument,
              "was not written by offcpu: it holds samples/count, cpu/nanoseconds and not contentions/count, ");
  ExpectError("", absl::StatusCode::kInvalidArgument, "it holds nothing");
  ExpectError(Changed([](pb::Profile& message) { message.clear_comment(); }), absl::StatusCode::kInvalidArgument,
              "was not written by offcpu");
  ExpectError(Changed([](pb::Profile& message) { message.add_comment(message.comment(0)); }),
              absl::StatusCode::kInvalidArgument, "several recordings");
  ExpectError("no profile", absl::StatusCode::kDataLoss, "is damaged, or not a pprof file");
}

// What other tools write, as far as it differs: types of values, a period, labels, comments, and stacks without names.
struct OtherTool {
  std::vector<std::pair<std::string, std::string>> types;
  std::string comment = "";
};

std::string FileOf(const OtherTool& tool) {
  pb::Profile message;
  message.add_string_table("");
  const auto text = [&message](const std::string& word) {
    message.add_string_table(word);
    return message.string_table_size() - 1;
  };
  pb::Sample* sample = message.add_sample();
  sample->add_location_id(1);
  for (const auto& [type, unit] : tool.types) {
    pb::ValueType* value = message.add_sample_type();
    value->set_type(text(type));
    value->set_unit(text(unit));
    sample->add_value(1);
  }
  message.mutable_period_type()->set_type(message.sample_type(0).type());
  message.set_period(10'000'000);
  message.set_time_nanos(1);
  message.set_duration_nanos(1'000'000'000);
  if (!tool.comment.empty()) message.add_comment(text(tool.comment));
  pb::Label* label = sample->add_label();
  label->set_key(text("comm"));
  label->set_str(text("program"));
  pb::Mapping* mapping = message.add_mapping();
  mapping->set_id(1);
  mapping->set_memory_start(0x400000);
  mapping->set_memory_limit(0x500000);
  mapping->set_build_id(text("0123456789abcdef"));
  pb::Location* location = message.add_location();
  location->set_id(1);
  location->set_mapping_id(1);
  location->set_address(0x401000);
  return message.SerializeAsString();
}

TEST(PprofReaderTest, ModulesKeepTheHashesOfTheirFiles) {
  RecordedProfile recorded = RecordedProfile::OneReader();
  const auto hashed = std::make_shared<Module>();
  hashed->path = "/opt/app";
  hashed->file_hash = "6465fea3e2bc6b48e7b5e0c6f1c6d3b2";
  for (NamedUserStack& stack : recorded.profile.user_stacks) {
    for (NamedFrame& frame : stack.frames) {
      if (frame.code != nullptr && frame.code->path == hashed->path) frame.code = hashed.get();
    }
  }
  recorded.profile.code.push_back(hashed);
  const absl::StatusOr<NamedProfile> profile = ParsePprof(Written(OutputFormat::kPprof, recorded.profile));
  ASSERT_TRUE(profile.ok()) << profile.status();
  std::vector<std::pair<std::string, std::string>> hashes;
  for (const auto& code : profile->code) hashes.emplace_back(code->path, code->file_hash);
  EXPECT_THAT(hashes, UnorderedElementsAre(Pair("/opt/app", hashed->file_hash), Pair("/usr/lib/libc.so.6", "")));
}

TEST(PprofReaderTest, FilesOfOtherToolsAreToldApartByWhatTheyHold) {
  const auto expect_refused = [](const OtherTool& tool, const std::string& message) {
    ExpectError(FileOf(tool), absl::StatusCode::kInvalidArgument, message);
  };
  // Parca's agent, and perf_data_converter with its two values for each event of perf.
  expect_refused({.types = {{"samples", "count"}}}, "it holds samples/count and not");
  expect_refused({.types = {{"cycles_sample", "count"}, {"cycles_event", "count"}}, .comment = "perf-version:6.1"},
                 "it holds cycles_sample/count, cycles_event/count and not");
  // Alloy's of processes, and what it has scraped of a Go program's locks: these values are called as ours are.
  expect_refused({.types = {{"cpu", "nanoseconds"}}}, "it holds cpu/nanoseconds and not");
  expect_refused({.types = {{"contentions", "count"}, {"delay", "nanoseconds"}}}, "was not written by offcpu");
}

TEST(PprofReaderTest, AnotherFormatIsCalledSoHoweverLargeItIs) {
  const RecordedProfile all = RecordedProfile::All();
  const std::string otlp = Written(OutputFormat::kOtlp, all.profile);
  PprofLimits entries;
  entries.entry_bytes = 100;  // its dictionary is larger, which has the number of a sample
  PprofLimits rest;
  rest.rest_bytes = 100;  // its samples have that of the types of values
  for (const PprofLimits& limits : {PprofLimits(), entries, rest}) {
    ExpectError(otlp, absl::StatusCode::kDataLoss, "is damaged, or not a pprof file", limits);
  }
  const std::string bytes("\x12\x02\x08\x01", 4);  // field 2: two bytes, of which field 1 is 1
  ExpectError(bytes, absl::StatusCode::kDataLoss, "is damaged, or not a pprof file");
  entries.entry_bytes = 1;
  ExpectError(bytes, absl::StatusCode::kDataLoss, "is damaged, or not a pprof file", entries);
  const std::string with_string = bytes + std::string("\x32\x00", 2);  // field 6: ""
  ExpectError(with_string, absl::StatusCode::kResourceExhausted, "is too large: a sample of more than 1 bytes",
              entries);
}

// As `go tool pprof -proto` does, whatever its options: it does not write what it does not know.
TEST(PprofReaderTest, WhatOthersHaveWrittenAgainIsRefused) {
  const std::string bytes = Changed([](pb::Profile& message) {
    for (pb::Sample& sample : *message.mutable_sample()) sample.clear_details();
  });
  ExpectError(bytes, absl::StatusCode::kInvalidArgument,
              "was rewritten by another program, such as go tool pprof; give the file that offcpu wrote");
}

struct Damage {
  const char* what;
  std::function<void(pb::Profile&)> change;
};

TEST(PprofReaderTest, DamageIsNamed) {
  const auto text = [](pb::Profile& message, const char* added) {
    message.add_string_table(added);
    return message.string_table_size() - 1;
  };
  const auto label = [](pb::Profile& message, const char* key) -> pb::Label& { return *FindLabel(message, 0, key); };
  const std::vector<Damage> damages = {
      {"values", [](pb::Profile& m) { m.mutable_sample(0)->mutable_value()->RemoveLast(); }},
      {"values", [](pb::Profile& m) { m.mutable_sample(0)->add_value(0); }},
      {"the sum", [](pb::Profile& m) { m.mutable_sample(0)->set_value(1, 5); }},
      {"than there can be",
       [](pb::Profile& m) {
         for (int i : {1, 2}) m.mutable_sample(0)->set_value(i, std::numeric_limits<int64_t>::max());
         m.mutable_sample(0)->set_value(3, 0);
       }},
      {"than there can be",
       [&](pb::Profile& m) { m.add_comment(text(m, "lost: x: 1 times, 9223372036854775808 ns")); }},
      {"than there can be", [&](pb::Profile& m) { m.add_comment(text(m, "counters: walks 18446744073709551615")); }},
      {"no string 4294967296", [](pb::Profile& m) { m.mutable_sample(0)->mutable_label(0)->set_key(1LL << 32); }},
      {"no string -1", [](pb::Profile& m) { m.mutable_sample(0)->mutable_label(0)->set_str(-1); }},
      {"no string", [](pb::Profile& m) { m.set_comment(0, m.string_table_size()); }},
      {"no such pid", [&](pb::Profile& m) { label(m, "pid").set_num(1LL << 31); }},
      {"no such pid", [&](pb::Profile& m) { label(m, "tid").set_num(-1); }},
      {"negative", [](pb::Profile& m) { FindLabel(m, 4, "image")->set_num(-1); }},
      {"negative", [](pb::Profile& m) { m.mutable_sample(0)->mutable_details()->set_max_ns(-1); }},
      {"negative", [](pb::Profile& m) { m.mutable_sample(1)->mutable_details()->set_count_error(-1); }},
      {"negative", [](pb::Profile& m) { m.mutable_sample(1)->mutable_details()->set_time_error(-1); }},
      {"negative", [](pb::Profile& m) { m.mutable_sample(1)->mutable_details()->set_blocked_error(-1); }},
      {"negative", [](pb::Profile& m) { m.mutable_sample(1)->mutable_details()->set_runnable_error(-1); }},
      {"negative", [](pb::Profile& m) { m.mutable_sample(1)->mutable_details()->set_draws(-1); }},
      {"no string", [](pb::Profile& m) { m.mutable_sample(1)->mutable_details()->set_unwind(-1); }},
      {"system call", [&](pb::Profile& m) { label(m, "syscall").set_str(text(m, "waiting")); }},
      {"kind of wait", [&](pb::Profile& m) { label(m, "kind").set_str(text(m, "waiting")); }},
      {"unknown user stack", [&](pb::Profile& m) { label(m, "user_end").set_str(text(m, "somehow")); }},
      {"no location 99", [](pb::Profile& m) { m.mutable_sample(0)->set_location_id(0, 99); }},
      {"user code called", [](pb::Profile& m) { m.mutable_sample(0)->add_location_id(m.sample(0).location_id(0)); }},
      {"location 1", [](pb::Profile& m) { m.mutable_location(1)->set_id(1); }},
      {"location 0", [](pb::Profile& m) { m.mutable_location(0)->set_id(0); }},
      {"location 1", [](pb::Profile& m) { m.mutable_location(0)->add_line(); }},
      {"mapping of location 1", [](pb::Profile& m) { m.mutable_location(0)->set_mapping_id(99); }},
      {"function of location 1", [](pb::Profile& m) { m.mutable_location(0)->mutable_line(0)->set_function_id(99); }},
      {"function 1", [](pb::Profile& m) { m.mutable_function(1)->set_id(1); }},
      {"no string", [](pb::Profile& m) { m.mutable_function(0)->set_name(99'999); }},
      {"no string", [](pb::Profile& m) { m.mutable_function(0)->set_system_name(99'999); }},
      {"mapping 1", [](pb::Profile& m) { m.mutable_mapping(1)->set_id(1); }},
      {"no string", [](pb::Profile& m) { m.mutable_mapping(0)->set_build_id(-5); }},
      {"no string", [](pb::Profile& m) { m.mutable_mapping(0)->set_file_hash(99'999); }},
      {"duration", [](pb::Profile& m) { m.set_duration_nanos(-1); }},
      {"comment", [&](pb::Profile& m) { m.add_comment(text(m, "intervals: many")); }},
      {"comment", [&](pb::Profile& m) { m.add_comment(text(m, "counters: cookies 1, intervals many")); }},
      {"comment", [&](pb::Profile& m) { m.add_comment(text(m, "lost: budget: 3 times")); }},
      {"comment", [&](pb::Profile& m) { m.add_comment(text(m, "lost: budget: 3 times, -1 ns")); }},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.what);
    ExpectError(Changed(damage.change), absl::StatusCode::kDataLoss, damage.what);
  }
}

TEST(PprofReaderTest, WhatOthersAddIsIgnored) {
  const std::string changed = Changed([](pb::Profile& message) {
    message.add_string_table("a note");
    message.add_comment(message.string_table_size() - 1);
    pb::Label* label = message.mutable_sample(0)->add_label();
    label->set_key(message.string_table_size() - 1);
    label->set_num(5);
  });
  const absl::StatusOr<NamedProfile> stored = ParsePprof(changed + std::string("\xa2\x06\x01x", 4));  // field 100
  ASSERT_TRUE(stored.ok()) << stored.status();
  const RecordedProfile all = RecordedProfile::All();
  EXPECT_EQ(Written(OutputFormat::kPprof, *stored), Written(OutputFormat::kPprof, all.profile));
}

// What reading each row shows it to hold: PprofFrameBytes of its frames, and its names.
uint64_t FrameBytes(const pb::Profile& message, const google::protobuf::RepeatedField<uint64_t>& location_ids) {
  uint64_t bytes = 0;
  for (const uint64_t id : location_ids) {
    const pb::Location& location = message.location(static_cast<int>(id - 1));
    const auto function = static_cast<int>(location.line(0).function_id() - 1);
    bytes += message.string_table(static_cast<int>(message.function(function).name())).size() + 64;
    if (location.mapping_id() == 0) continue;
    const auto mapping = static_cast<int>(location.mapping_id() - 1);
    const std::string path = message.string_table(static_cast<int>(message.mapping(mapping).filename()));
    if (path != "[kernel.kallsyms]") bytes += std::filesystem::path(path).filename().string().size();
  }
  return bytes;
}

// The lines of all locations, each distinct stack once, then the modules and the processes.
uint64_t HeldBytes(const pb::Profile& message) {
  // Samples 0 and 1 have the same stacks, and so has 4; the kernel's are those of 0 in 2 and 5. Words for a kernel
  // stack that is not known (3, 6) take nothing.
  uint64_t bytes = static_cast<uint64_t>(message.location_size()) * sizeof(FrameLine);
  for (const int sample : {0, 2, 3, 5, 6}) bytes += FrameBytes(message, message.sample(sample).location_id());
  for (const int sample : {2, 5}) {
    const auto& ids = message.sample(sample).location_id();
    google::protobuf::RepeatedField<uint64_t> kernel(ids.begin(), ids.begin() + 2);
    bytes -= FrameBytes(message, kernel);
  }
  for (const int sample : {3, 6}) {
    const auto& ids = message.sample(sample).location_id();
    google::protobuf::RepeatedField<uint64_t> kernel(ids.begin(), ids.begin() + 1);
    bytes -= FrameBytes(message, kernel);
  }
  for (const pb::Mapping& mapping : message.mapping()) {
    bytes += message.string_table(static_cast<int>(mapping.filename())).size() +
             message.string_table(static_cast<int>(mapping.build_id())).size() +
             message.string_table(static_cast<int>(mapping.file_hash())).size();
  }
  bytes +=
      2 * sizeof(std::string) + std::string("/system.slice/server.service").size() + std::string("/kubepods").size();
  return bytes + 2 * std::string("server3f5c0b1e2a77").size() + std::string("[other]").size();
}

TEST(PprofReaderTest, EveryLimitHolds) {
  const std::string bytes = MessageOf(RecordedProfile::All());
  pb::Profile message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  pb::Profile rest = message;
  rest.clear_sample();
  rest.clear_mapping();
  rest.clear_location();
  rest.clear_function();
  rest.clear_string_table();
  size_t largest = 0;
  size_t longest = 0;
  for (const pb::Sample& sample : message.sample()) largest = std::max(largest, sample.ByteSizeLong());
  PprofLimits exact;
  exact.samples = static_cast<size_t>(message.sample_size());
  exact.mappings = static_cast<size_t>(message.mapping_size());
  exact.locations = static_cast<size_t>(message.location_size());
  exact.functions = static_cast<size_t>(message.function_size());
  exact.strings = static_cast<size_t>(message.string_table_size());
  exact.entry_bytes = largest;
  exact.rest_bytes = rest.ByteSizeLong();
  exact.comments = static_cast<size_t>(message.comment_size());
  for (const std::string& text : message.string_table()) longest = std::max(longest, text.size());
  exact.string_bytes = longest;
  exact.stack_frames = 2 + 6 + 1;  // the kernel stack, the handler, and why its callers are not known
  exact.shown_bytes = 0;
  for (int i = 0; i < message.sample_size(); ++i) {
    exact.shown_bytes += FrameBytes(message, message.sample(i).location_id());
    for (const RowLabelInfo& info : kRowLabels) {
      const pb::Label* label = FindLabel(message, i, std::string(info.name).c_str());
      if (label != nullptr && !info.is_number)
        exact.shown_bytes += message.string_table(static_cast<int>(label->str())).size();
    }
  }
  exact.held_bytes = HeldBytes(message);
  EXPECT_TRUE(ParsePprof(bytes, exact).ok()) << ParsePprof(bytes, exact).status();
  for (size_t PprofLimits::*limit :
       {&PprofLimits::samples, &PprofLimits::mappings, &PprofLimits::locations, &PprofLimits::functions,
        &PprofLimits::strings, &PprofLimits::entry_bytes, &PprofLimits::string_bytes, &PprofLimits::rest_bytes,
        &PprofLimits::comments, &PprofLimits::stack_frames}) {
    PprofLimits limits = exact;
    limits.*limit -= 1;
    ExpectError(bytes, absl::StatusCode::kResourceExhausted, "is too large", limits);
  }
  PprofLimits limits = exact;
  limits.held_bytes -= 1;
  ExpectError(bytes, absl::StatusCode::kResourceExhausted, "is too large: names and stacks of more than", limits);
  limits = exact;
  limits.shown_bytes -= 1;
  ExpectError(bytes, absl::StatusCode::kResourceExhausted, "is too large: rows of more than", limits);
}

// One stack of 1000 frames with a name of the longest kind, shared by many samples: a few bytes each.
TEST(PprofReaderTest, ManyRowsOfALargeStackAreRefused) {
  const std::string message = Changed([](pb::Profile& m) {
    const int64_t name = m.string_table_size();
    m.add_string_table(std::string(3 * 16384, 'x'));
    m.mutable_function(0)->set_name(name);
    pb::Sample& first = *m.mutable_sample(0);
    ASSERT_EQ(m.location(0).line(0).function_id(), 1u);
    std::vector<uint64_t> ids(1000, 1);
    ids.insert(ids.end(), first.location_id().begin(), first.location_id().end());
    first.mutable_location_id()->Assign(ids.begin(), ids.end());
    for (int i = 0; i < 400; ++i) *m.add_sample() = m.sample(0);  // 400 of 49 MB are more than 16 GiB
  });
  ExpectError(message, absl::StatusCode::kResourceExhausted, "is too large: rows of more than 17179869184 bytes");
}

// One location may have as many functions as its bytes allow, and a stack may refer to it again and again.
TEST(PprofReaderTest, FunctionsOfAStackAreLimited) {
  const auto with_inlined = [](int functions) {
    return Changed([functions](pb::Profile& m) {
      pb::Location& location = *m.mutable_location(static_cast<int>(m.sample(0).location_id(2)) - 1);
      const pb::Line line = location.line(0);
      for (int i = 1; i < functions; ++i) *location.add_line() = line;
    });
  };
  PprofLimits limits;
  limits.stack_frames = 108;  // of the handler: two of the kernel, this frame, five callers and a word
  EXPECT_TRUE(ParsePprof(with_inlined(100), limits).ok());
  ExpectError(with_inlined(101), absl::StatusCode::kResourceExhausted, "a stack of more than 108 functions", limits);
}

TEST(PprofReaderTest, AFunctionHasAName) {
  const std::string message = Changed([](pb::Profile& m) { m.mutable_function(0)->set_name(0); });
  ExpectError(message, absl::StatusCode::kDataLoss, "the name of a function of location");
}

TEST(PprofReaderTest, ALongerNameThanAnyIsRefused) {
  const auto with_name = [](size_t bytes) {
    return Changed([bytes](pb::Profile& m) { m.add_string_table(std::string(bytes, 'x')); });
  };
  EXPECT_TRUE(ParsePprof(with_name(3 * 16384)).ok());
  ExpectError(with_name(3 * 16384 + 1), absl::StatusCode::kResourceExhausted, "a string of more than 49152 bytes");
}

TEST(PprofReaderTest, TheLongestNameThatIsWrittenCanBeRead) {
  RecordedProfile one;
  const std::string name(16384, '\xff');  // each byte of it becomes the three of U+FFFD
  one.profile.rows = {{{{one.AddProcess({10, 1000, 1}, "server"), 0, one.AddComm("worker"), one.AddPipe(),
                         one.AddUser({one.Native({one.app, 0x1000, FrameSource::kRegisters, true}, name, "app")}),
                         WaitKind::kDisk, kNoSystemCall},
                        {2, 5000, 1, 4000}}}};
  const absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof, one.profile));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->user_stacks[0].frames[0].name().size(), 3 * name.size());
}

TEST(PprofReaderTest, ValuesOfManyTypesAreNotAddedUp) {
  pb::Profile other;
  other.add_string_table("");
  other.add_string_table(std::string(40'000, 'x'));
  for (int i = 0; i < 100'000; ++i) other.add_sample_type()->set_type(1);  // 4 GB, if they were
  ExpectError(other.SerializeAsString(), absl::StatusCode::kInvalidArgument, "it holds xxx");
}

TEST(PprofReaderTest, ControlCharactersAreReplaced) {
  const std::string message = Changed([](pb::Profile& m) {
    for (std::string& text : *m.mutable_string_table()) {
      if (text == "schedule" || text == "loop" || text == "worker" || text == "server") text += "\n\x1b[31m";
    }
  });
  const absl::StatusOr<NamedProfile> stored = ParsePprof(message);
  ASSERT_TRUE(stored.ok()) << stored.status();
  const std::string json = Written(OutputFormat::kJson, *stored);
  for (const char* name : {"schedule", "loop", "worker", "server"}) {
    EXPECT_THAT(json, HasSubstr(std::string("\"") + name + "??[31m\""));
  }
  EXPECT_THAT(json, Not(HasSubstr("\\u00")));
}

TEST(PprofReaderTest, ACompressedBombIsNotUnpacked) {
  std::string bomb;
  {
    auto sink = [&](std::string_view bytes) { bomb += bytes; };
    GzipWriter gzip(sink);
    const std::string mebibyte(1 << 20, '\0');
    for (size_t i = 0; i <= kMaxPprofBytes >> 20; ++i) gzip.Append(mebibyte);
    gzip.Finish();
  }
  EXPECT_LT(bomb.size(), 1u << 20);
  ExpectError(bomb, absl::StatusCode::kResourceExhausted, "holds more than 512 MiB");
}

class PprofFileTest : public ::testing::Test {
 protected:
  PprofFileTest() { std::filesystem::create_directory(directory_); }
  ~PprofFileTest() override { std::filesystem::remove_all(directory_); }

  void ExpectFileError(const std::string& path, absl::StatusCode code, const std::string& rest) {
    const absl::Status status = ReadPprofFile(path).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(std::string(status.message()), path + " " + rest);
  }

  std::string directory_ = testing::TempDir() + "/pprof_file_test." + std::to_string(getpid());
  std::string path_ = directory_ + "/a.pb.gz";
};

TEST_F(PprofFileTest, IsReadWhole) {
  const RecordedProfile all = RecordedProfile::All();
  std::ofstream(path_) << Written(OutputFormat::kPprof, all.profile);
  const absl::StatusOr<NamedProfile> stored = ReadPprofFile(path_);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->rows.size(), all.profile.rows.size());
}

TEST_F(PprofFileTest, ErrorsNameTheFile) {
  ExpectFileError(path_, absl::StatusCode::kNotFound, "cannot be read: No such file or directory");
  ExpectFileError(directory_, absl::StatusCode::kInvalidArgument, "is a directory: must be a regular file");
  ExpectFileError("/dev/null", absl::StatusCode::kInvalidArgument, "is a device: must be a regular file");
  std::ofstream(path_) << "\x1f\x8b";
  ExpectFileError(path_, absl::StatusCode::kDataLoss, "is truncated");
}

TEST_F(PprofFileTest, IsNotReadBeyondTheLimit) {
  std::ofstream(path_) << "x";
  std::filesystem::resize_file(path_, kMaxPprofFileBytes + 1);
  ExpectFileError(path_, absl::StatusCode::kResourceExhausted, "is larger than 256 MiB: this must be the wrong file");
  std::filesystem::resize_file(path_, kMaxPprofFileBytes);
  ExpectFileError(path_, absl::StatusCode::kDataLoss, "is damaged, or not a pprof file");
}

// Two buckets for each row, which has a third of all in the second one.
RecordedProfile WithTimes() {
  RecordedProfile all = RecordedProfile::WithSamples();
  all.profile.times = {.bucket_ns = 2'000'000'000, .begin_ns = -1'500'000'000};
  for (NamedRow& row : all.profile.rows) {
    TimeBucket first = TimeBucket::Of(0, row);
    TimeBucket second = {.number = 2};
    for (const auto figure : kBucketFigures) {
      second.*figure = first.*figure / 3;
      first.*figure -= second.*figure;
    }
    TimeBuckets buckets;
    buckets.Add(first);
    buckets.Add(second);
    row.times = PackTimes(buckets, 0, 0);
  }
  return all;
}

TEST(PprofReaderTest, TimesComeBack) {
  const RecordedProfile all = WithTimes();
  const absl::StatusOr<NamedProfile> stored = ParsePprof(Written(OutputFormat::kPprof, all.profile));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->times, all.profile.times);
  ASSERT_EQ(stored->rows.size(), all.profile.rows.size());
  for (size_t i = 0; i < stored->rows.size(); ++i) EXPECT_EQ(stored->rows[i].times, all.profile.rows[i].times);
  for (const OutputFormat format : {OutputFormat::kPprof, OutputFormat::kHtml})
    EXPECT_EQ(Written(format, *stored), Written(format, all.profile));
}

// As `go tool pprof -proto` writes it: what is none of the format's is gone.
TEST(PprofReaderTest, WithoutBucketsThereAreNoTimes) {
  pb::Profile message;
  ASSERT_TRUE(message.ParseFromString(MessageOf(WithTimes())));
  message.clear_times();
  const absl::StatusOr<NamedProfile> stored = ParsePprof(message.SerializeAsString());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->times, TimeGrid());
  for (const NamedRow& row : stored->rows) EXPECT_EQ(row.times, "");
}

TEST(PprofReaderTest, TimesThatAreNotThoseOfTheRowAreDamage) {
  pb::Profile message;
  ASSERT_TRUE(message.ParseFromString(MessageOf(WithTimes())));
  const std::string times = message.sample(0).details().times();
  std::string longer = times;
  longer.front() = static_cast<char>(longer.front() + 1);  // one more figure, which is the next bucket's head
  for (const std::string& bad : {times.substr(0, times.size() - 1), times + '\1', times + times, longer,
                                 // 2^64 - 1 ns more, and one more: nothing, to whom a sum is 64 bits
                                 times + "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\1"}) {
    message.mutable_sample(0)->mutable_details()->set_times(bad);
    ExpectError(message.SerializeAsString(), absl::StatusCode::kDataLoss, "times that are not those of its values");
  }
}

TEST(PprofReaderTest, BucketsAreThoseThatAreWritten) {
  pb::Profile message;
  ASSERT_TRUE(message.ParseFromString(MessageOf(WithTimes())));
  for (const int64_t bucket_ns : std::initializer_list<int64_t>{0, -1, 1, 7'812'500, 15'625'001, 46'875'000,
                                                                3'000'000'000, 1'000'000'001, INT64_MAX, INT64_MIN}) {
    message.mutable_times()->set_bucket_ns(bucket_ns);
    ExpectError(message.SerializeAsString(), absl::StatusCode::kDataLoss, "time buckets that offcpu does not write");
  }
  for (const int64_t bucket_ns : {int64_t{15'625'000}, int64_t{1'000'000'000}, int64_t{1'000'000'000} << 31}) {
    message.mutable_times()->set_bucket_ns(bucket_ns);
    EXPECT_TRUE(ParsePprof(message.SerializeAsString()).ok()) << bucket_ns << ": the narrowest, a second, the widest";
  }
  for (const int64_t begin_ns : {INT64_MAX, INT64_MIN}) {
    message.mutable_times()->set_begin_ns(begin_ns);
    ExpectError(message.SerializeAsString(), absl::StatusCode::kDataLoss, "time buckets that offcpu does not write");
  }
}

TEST(PprofReaderTest, ErrorsComeBack) {
  const NamedProfile was = SampledProfile().profile;
  const absl::StatusOr<NamedProfile> is = ParsePprof(Written(OutputFormat::kPprof, was));
  ASSERT_TRUE(is.ok()) << is.status();
  ASSERT_EQ(is->rows.size(), was.rows.size());
  for (const RowValue value : {RowValue::kCount, RowValue::kOffCpu, RowValue::kBlocked, RowValue::kRunnable}) {
    for (size_t i = 0; i < was.rows.size(); ++i)
      EXPECT_EQ(ErrorOf(is->rows[i], value), ErrorOf(was.rows[i], value)) << i;
  }
  // Two files of it: twice the time, and the root of twice the variance.
  const RowSums both = SumOf(MergeNamedProfiles({*is, *is}).rows);
  const RowSums one = SumOf(is->rows);
  EXPECT_EQ(both.total_ns(), 2 * one.total_ns());
  EXPECT_DOUBLE_EQ(both.ns_variance, 2 * one.ns_variance);
  EXPECT_DOUBLE_EQ(both.blocked_variance, 2 * one.blocked_variance);
  EXPECT_DOUBLE_EQ(both.runnable_variance, 2 * one.runnable_variance);
  EXPECT_EQ(both.sampled, 2 * one.sampled);
}

// The error of a part of the time is at most that of the whole then, and how many were sampled is not known.
TEST(PprofReaderTest, OlderFilesTellLessOfErrors) {
  pb::Profile message;
  ASSERT_TRUE(
      message.ParseFromString(Gunzip(Written(OutputFormat::kPprof, SampledProfile().profile), 1 << 20).value()));
  for (pb::Sample& sample : *message.mutable_sample()) {
    sample.mutable_details()->clear_blocked_error();
    sample.mutable_details()->clear_runnable_error();
    sample.mutable_details()->clear_draws();
  }
  const absl::StatusOr<NamedProfile> old = ParsePprof(message.SerializeAsString());
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(ErrorOf(old->rows[2], RowValue::kOffCpu), 1'500'000u);
  EXPECT_EQ(ErrorOf(old->rows[2], RowValue::kBlocked), 1'500'000u);
  EXPECT_EQ(ErrorOf(old->rows[2], RowValue::kRunnable), 1'500'000u);
  EXPECT_EQ(ErrorText(old->rows[3], RowValue::kOffCpu), "±87 %");
  EXPECT_EQ(ErrorText(old->rows[0], RowValue::kOffCpu), "");
}

}  // namespace
}  // namespace offcpu

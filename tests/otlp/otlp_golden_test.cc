// A small window as bytes: written field by field from the tables of opentelemetry-proto 1.11, lengths included.
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otlp/otlp.h"
#include "otlp_reader.h"
#include "otlp_requests.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

static_assert(sizeof(OFFCPU_VERSION) == 6, "the lengths around the version are of one of five characters");

RecordedProfile Small() {
  RecordedProfile small;
  small.profile.start_unix_ns = 1;
  small.profile.duration_ns = 1000;
  small.profile.host = "h";
  small.profile.stats.losses = {{"full", 1, 5}};
  const uint32_t process = small.AddProcess({10, 1, 1}, "sh");
  const uint32_t comm = small.AddComm("w");
  const uint32_t kernel = small.AddKernel({{0x1001, "k"}});
  const Module* module = small.AddModule("/a", "ab");
  const uint32_t user = small.AddUser({small.Native({module, 0x20, FrameSource::kRegisters, true}, "m", "a")});
  small.profile.rows = {{{{process, 0, comm, kernel, user, WaitKind::kSleeping, kNoSystemCall}, {2, 300, 0, 200}}}};
  return small;
}

// clang-format off
constexpr char kRequest[] =
        "\x0a\xbb\x03"  // resource_profiles
          "\x0a\x73"  // resource
            "\x0a\x10"  // Resource.attributes
              "\x0a\x09" "host.name"  // key
              "\x12\x03"  // value
                "\x0a\x01" "h"  // string_value
            "\x0a\x14"  // Resource.attributes
              "\x0a\x0c" "service.name"  // key
              "\x12\x04"  // value
                "\x0a\x02" "sh"  // string_value
            "\x0a\x1f"  // Resource.attributes
              "\x0a\x17" "process.executable.name"  // key
              "\x12\x04"  // value
                "\x0a\x02" "sh"  // string_value
            "\x0a\x11"  // Resource.attributes
              "\x0a\x0b" "process.pid"  // key
              "\x12\x02"  // value
                "\x18\x0a"  // int_value
            "\x0a\x15"  // Resource.attributes
              "\x0a\x0d" "process.title"  // key
              "\x12\x04"  // value
                "\x0a\x02" "sh"  // string_value
          "\x12\x9a\x02"  // ResourceProfiles.scope_profiles
            "\x0a\x3e"  // scope
              "\x0a\x07" "offcpud"  // name
              "\x12\x05" OFFCPU_VERSION  // version
              "\x1a\x2c"  // attributes
                "\x0a\x1f" "pprof.scope.default_sample_type"  // key
                "\x12\x09"  // value
                  "\x0a\x07" "off_cpu"  // string_value
            "\x12\x34"  // ScopeProfiles.profiles
              "\x0a\x04"  // sample_type: off_cpu/nanoseconds
                "\x08\x0a"  // type_strindex
                "\x10\x0b"  // unit_strindex
              "\x12\x0b"  // samples
                "\x08\x01"  // stack_index
                "\x12\x03\x04\x05\x06"  // attribute_indices
                "\x22\x02\xac\x02"  // values
              "\x19\x01\x00\x00\x00\x00\x00\x00\x00"  // time_unix_nano
              "\x20\xe8\x07"  // duration_nano
              "\x3a\x10\xe5\x05\x0b\x10\x1d\x16\x92\x56\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"  // profile_id
              "\x5a\x01\x07"  // attribute_indices
            "\x12\x3b"  // ScopeProfiles.profiles
              "\x0a\x04"  // sample_type: contentions/count
                "\x08\x0d"  // type_strindex
                "\x10\x0e"  // unit_strindex
              "\x12\x0a"  // samples
                "\x08\x01"  // stack_index
                "\x12\x03\x04\x05\x06"  // attribute_indices
                "\x22\x01\x02"  // values
              "\x19\x01\x00\x00\x00\x00\x00\x00\x00"  // time_unix_nano
              "\x20\xe8\x07"  // duration_nano
              "\x2a\x04"  // period_type
                "\x08\x0d"  // type_strindex
                "\x10\x0e"  // unit_strindex
              "\x30\x01"  // period
              "\x3a\x10\x8a\x14\x2b\x3a\x97\x38\xd2\xdb\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"  // profile_id
              "\x5a\x01\x07"  // attribute_indices
            "\x12\x3c"  // ScopeProfiles.profiles
              "\x0a\x04"  // sample_type: blocked/nanoseconds
                "\x08\x0f"  // type_strindex
                "\x10\x0b"  // unit_strindex
              "\x12\x0b"  // samples
                "\x08\x01"  // stack_index
                "\x12\x03\x04\x05\x06"  // attribute_indices
                "\x22\x02\xac\x02"  // values
              "\x19\x01\x00\x00\x00\x00\x00\x00\x00"  // time_unix_nano
              "\x20\xe8\x07"  // duration_nano
              "\x2a\x04"  // period_type
                "\x08\x0f"  // type_strindex
                "\x10\x0b"  // unit_strindex
              "\x30\x01"  // period
              "\x3a\x10\xf0\x28\x14\xe3\xed\x5e\x53\x1e\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"  // profile_id
              "\x5a\x01\x07"  // attribute_indices
            "\x1a\x27" "https://opentelemetry.io/schemas/1.43.0"  // schema_url
          "\x1a\x27" "https://opentelemetry.io/schemas/1.43.0"  // schema_url
        "\x0a\xf6\x02"  // resource_profiles
          "\x0a\x2d"  // resource
            "\x0a\x10"  // Resource.attributes
              "\x0a\x09" "host.name"  // key
              "\x12\x03"  // value
                "\x0a\x01" "h"  // string_value
            "\x0a\x19"  // Resource.attributes
              "\x0a\x0c" "service.name"  // key
              "\x12\x09"  // value
                "\x0a\x07" "offcpud"  // string_value
          "\x12\x9b\x02"  // ResourceProfiles.scope_profiles
            "\x0a\x40"  // scope
              "\x0a\x07" "offcpud"  // name
              "\x12\x05" OFFCPU_VERSION  // version
              "\x1a\x2e"  // attributes
                "\x0a\x1f" "pprof.scope.default_sample_type"  // key
                "\x12\x0b"  // value
                  "\x0a\x09" "recording"  // string_value
            "\x12\x38"  // ScopeProfiles.profiles
              "\x0a\x04"  // sample_type: recording/nanoseconds
                "\x08\x12"  // type_strindex
                "\x10\x0b"  // unit_strindex
              "\x12\x06"  // samples
                "\x08\x02"  // stack_index
                "\x22\x02\xe8\x07"  // values
              "\x19\x01\x00\x00\x00\x00\x00\x00\x00"  // time_unix_nano
              "\x20\xe8\x07"  // duration_nano
              "\x2a\x04"  // period_type
                "\x08\x12"  // type_strindex
                "\x10\x0b"  // unit_strindex
              "\x30\x01"  // period
              "\x3a\x10\x14\x29\x56\x74\x2c\x71\xa4\xb7\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"  // profile_id
              "\x5a\x02\x07\x08"  // attribute_indices
            "\x12\x39"  // ScopeProfiles.profiles
              "\x0a\x04"  // sample_type: lost/nanoseconds
                "\x08\x15"  // type_strindex
                "\x10\x0b"  // unit_strindex
              "\x12\x08"  // samples
                "\x08\x03"  // stack_index
                "\x12\x01\x09"  // attribute_indices
                "\x22\x01\x05"  // values
              "\x19\x01\x00\x00\x00\x00\x00\x00\x00"  // time_unix_nano
              "\x20\xe8\x07"  // duration_nano
              "\x2a\x04"  // period_type
                "\x08\x15"  // type_strindex
                "\x10\x0b"  // unit_strindex
              "\x30\x01"  // period
              "\x3a\x10\xdc\x45\xbb\xbe\x3d\x61\xbf\xb6\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"  // profile_id
              "\x5a\x01\x07"  // attribute_indices
            "\x12\x39"  // ScopeProfiles.profiles
              "\x0a\x04"  // sample_type: lost/count
                "\x08\x15"  // type_strindex
                "\x10\x0e"  // unit_strindex
              "\x12\x08"  // samples
                "\x08\x03"  // stack_index
                "\x12\x01\x09"  // attribute_indices
                "\x22\x01\x01"  // values
              "\x19\x01\x00\x00\x00\x00\x00\x00\x00"  // time_unix_nano
              "\x20\xe8\x07"  // duration_nano
              "\x2a\x04"  // period_type
                "\x08\x15"  // type_strindex
                "\x10\x0e"  // unit_strindex
              "\x30\x01"  // period
              "\x3a\x10\x6c\x33\x78\x70\x97\x07\x77\xd1\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"  // profile_id
              "\x5a\x01\x07"  // attribute_indices
            "\x1a\x27" "https://opentelemetry.io/schemas/1.43.0"  // schema_url
          "\x1a\x27" "https://opentelemetry.io/schemas/1.43.0"  // schema_url
        "\x12\xda\x04"  // dictionary
          "\x0a\x00"  // mapping_table[0]
          "\x0a\x0d"  // mapping_table[1]
            "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"  // memory_limit
            "\x20\x01"  // filename_strindex
          "\x0a\x10"  // mapping_table[2]
            "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"  // memory_limit
            "\x20\x05"  // filename_strindex
            "\x2a\x01\x02"  // attribute_indices
          "\x12\x00"  // location_table[0]
          "\x12\x0c"  // location_table[1]
            "\x08\x01"  // mapping_index
            "\x10\x80\x20"  // address
            "\x1a\x02"  // lines
              "\x08\x01"  // function_index
            "\x22\x01\x01"  // attribute_indices
          "\x12\x0b"  // location_table[2]
            "\x08\x02"  // mapping_index
            "\x10\x20"  // address
            "\x1a\x02"  // lines
              "\x08\x02"  // function_index
            "\x22\x01\x03"  // attribute_indices
          "\x12\x04"  // location_table[3]
            "\x1a\x02"  // lines
              "\x08\x03"  // function_index
          "\x12\x04"  // location_table[4]
            "\x1a\x02"  // lines
              "\x08\x04"  // function_index
          "\x1a\x00"  // function_table[0]
          "\x1a\x02"  // function_table[1]
            "\x08\x02"  // name_strindex
          "\x1a\x02"  // function_table[2]
            "\x08\x06"  // name_strindex
          "\x1a\x02"  // function_table[3]
            "\x08\x10"  // name_strindex
          "\x1a\x02"  // function_table[4]
            "\x08\x13"  // name_strindex
          "\x22\x00"  // link_table[0]
          "\x2a\x00"  // string_table[0]
          "\x2a\x11" "[kernel.kallsyms]"  // string_table[1]
          "\x2a\x01" "k"  // string_table[2]
          "\x2a\x12" "profile.frame.type"  // string_table[3]
          "\x2a\x1f" "process.executable.build_id.gnu"  // string_table[4]
          "\x2a\x02" "/a"  // string_table[5]
          "\x2a\x01" "m"  // string_table[6]
          "\x2a\x0b" "thread.name"  // string_table[7]
          "\x2a\x0b" "offcpu.kind"  // string_table[8]
          "\x2a\x0f" "offcpu.user_end"  // string_table[9]
          "\x2a\x07" "off_cpu"  // string_table[10]
          "\x2a\x0b" "nanoseconds"  // string_table[11]
          "\x2a\x0b" "offcpu.lost"  // string_table[12]
          "\x2a\x0b" "contentions"  // string_table[13]
          "\x2a\x05" "count"  // string_table[14]
          "\x2a\x07" "blocked"  // string_table[15]
          "\x2a\x0b" "[recording]"  // string_table[16]
          "\x2a\x15" "pprof.profile.comment"  // string_table[17]
          "\x2a\x09" "recording"  // string_table[18]
          "\x2a\x04" "full"  // string_table[19]
          "\x2a\x11" "offcpu.lost.where"  // string_table[20]
          "\x2a\x04" "lost"  // string_table[21]
          "\x32\x00"  // attribute_table[0]
          "\x32\x0c"  // attribute_table[1]
            "\x08\x03"  // key_strindex
            "\x12\x08"  // value
              "\x0a\x06" "kernel"  // string_value
          "\x32\x08"  // attribute_table[2]
            "\x08\x04"  // key_strindex
            "\x12\x04"  // value
              "\x0a\x02" "ab"  // string_value
          "\x32\x0c"  // attribute_table[3]
            "\x08\x03"  // key_strindex
            "\x12\x08"  // value
              "\x0a\x06" "native"  // string_value
          "\x32\x07"  // attribute_table[4]
            "\x08\x07"  // key_strindex
            "\x12\x03"  // value
              "\x0a\x01" "w"  // string_value
          "\x32\x0e"  // attribute_table[5]
            "\x08\x08"  // key_strindex
            "\x12\x0a"  // value
              "\x0a\x08" "sleeping"  // string_value
          "\x32\x0e"  // attribute_table[6]
            "\x08\x09"  // key_strindex
            "\x12\x0a"  // value
              "\x0a\x08" "complete"  // string_value
          "\x32\x28"  // attribute_table[7]
            "\x08\x0c"  // key_strindex
            "\x12\x24"  // value
              "\x2a\x22"  // array_value
                "\x0a\x20"  // values
                  "\x0a\x1e" "recording: full: 1 times, 5 ns"  // string_value
          "\x32\x4d"  // attribute_table[8]
            "\x08\x11"  // key_strindex
            "\x12\x49"  // value
              "\x2a\x47"  // array_value
                "\x0a\x1d"  // values
                  "\x0a\x1b" "offcpu recording 2, start 1"  // string_value
                "\x0a\x09"  // values
                  "\x0a\x07" "host: h"  // string_value
                "\x0a\x1b"  // values
                  "\x0a\x19" "lost: full: 1 times, 5 ns"  // string_value
          "\x32\x0f"  // attribute_table[9]
            "\x08\x14"  // key_strindex
            "\x12\x0b"  // value
              "\x0a\x09" "recording"  // string_value
          "\x3a\x00"  // stack_table[0]
          "\x3a\x04"  // stack_table[1]
            "\x0a\x02\x01\x02"  // location_indices
          "\x3a\x03"  // stack_table[2]
            "\x0a\x01\x03"  // location_indices
          "\x3a\x03"  // stack_table[3]
            "\x0a\x01\x04";  // location_indices
// clang-format on

TEST(OtlpGoldenTest, AWindowAsBytes) {
  const RecordedProfile small = Small();
  OtlpOptions options = Everything();
  // In the first half of an id 1, 2, ... mixed are added to it.
  options.window_id = {0, 0, 0, 0, 0, 0, 0, 0, 8, 9, 10, 11, 12, 13, 14, 15};
  const std::vector<std::string> requests = OtlpRequests(small.profile, options);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0], std::string(kRequest, sizeof(kRequest) - 1));
}

}  // namespace
}  // namespace offcpu

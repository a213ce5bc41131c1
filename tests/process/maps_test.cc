#include "process/maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

Mapping One(const std::string& line) {
  auto mappings = ParseMaps(line);
  EXPECT_TRUE(mappings.ok()) << mappings.status();
  EXPECT_EQ(mappings.ok() ? mappings->size() : 0, 1u);
  return mappings.ok() && !mappings->empty() ? mappings->front() : Mapping();
}

TEST(MapsTest, EveryField) {
  Mapping expected;
  expected.begin = 0x7f0012345000;
  expected.end = 0x7f0012346000;
  expected.readable = true;
  expected.executable = true;
  expected.offset = 0x26000;
  expected.dev_major = 0xfe;
  expected.dev_minor = 0x10;
  expected.inode = 123456;
  expected.path = "/usr/lib/libc.so.6";
  EXPECT_EQ(One("7f0012345000-7f0012346000 r-xp 00026000 fe:10 123456                     /usr/lib/libc.so.6\n"),
            expected);
}

TEST(MapsTest, Permissions) {
  Mapping m = One("1000-2000 -w-s 0 00:00 0 \n");
  EXPECT_FALSE(m.readable || m.executable);
  EXPECT_TRUE(m.writable && m.shared);
}

TEST(MapsTest, NoPath) {
  EXPECT_EQ(One("1000-2000 rw-p 00000000 00:00 0 \n").path, "");
  EXPECT_EQ(One("1000-2000 rw-p 00000000 00:00 0\n").path, "");
}

TEST(MapsTest, PathsWithSpacesNewlinesAndBackslashes) {
  EXPECT_EQ(One("1000-2000 rw-p 0 00:00 1 /a b  c").path, "/a b  c");
  EXPECT_EQ(One("1000-2000 rw-p 0 00:00 1 /a\\012b\\012").path, "/a\nb\n");
  EXPECT_EQ(One("1000-2000 rw-p 0 00:00 1 /a\\b\\01").path, "/a\\b\\01");
}

TEST(MapsTest, DeletedFile) {
  Mapping m = One("1000-2000 r-xp 0 00:00 1 /tmp/x.so (deleted)");
  EXPECT_EQ(m.path, "/tmp/x.so");
  EXPECT_TRUE(m.deleted);
}

TEST(MapsTest, Malformed) {
  for (const char* line : {
           "",                                       // an empty line
           "x000-2000 rw-p 0 00:00 0",               // not a number
           "-1-2000 rw-p 0 00:00 0",                 // a sign
           "1000 2000 rw-p 0 00:00 0",               // no dash
           "2000-2000 rw-p 0 00:00 0",               // empty
           "2000-1000 rw-p 0 00:00 0",               // upside down
           "1000-12345678901234567 rw-p 0 00:00 0",  // more than 64 bits
           "1000-2000 ry-p 0 00:00 0",               // unknown permission
           "1000-2000 rw-- 0 00:00 0",               // neither shared nor private
           "1000-2000 rw-p 0 0000 0",                // no colon
           "1000-2000 rw-p 0 00:00 a",               // inode
           "1000-2000 rw-p 0 123456789:00 0",        // more than 32 bits
       }) {
    EXPECT_FALSE(ParseMaps(absl::StrCat(line, "\n")).ok()) << line;
  }
}

TEST(MapsTest, OrderIsChecked) {
  EXPECT_TRUE(ParseMaps("1000-2000 r--p 0 0:0 0\n2000-3000 r--p 0 0:0 0\n").ok());
  EXPECT_FALSE(ParseMaps("1000-2000 r--p 0 0:0 0\n1fff-3000 r--p 0 0:0 0\n").ok());
}

TEST(MapsTest, EveryPrefixIsRefusedOrGivesTheLinesItHas) {
  const std::string text =
      "555500000000-555500001000 r-xp 00001000 fe:01 77 /bin/x\\012y (deleted)\n"
      "7ff000000000-7ff000002000 rw-p 00000000 00:00 0 [stack]\n";
  for (size_t size = 0; size < text.size(); ++size) {
    auto mappings = ParseMaps(std::string_view(text).substr(0, size));
    const size_t lines = size == 0 ? 0 : size <= text.find('\n') + 1 ? 1 : 2;
    EXPECT_EQ(mappings.ok() ? mappings->size() : lines, lines) << size;
  }
  EXPECT_EQ(ParseMaps(text)->size(), 2u);
}

TEST(MapsTest, AsManyAsAllowed) {
  std::string text;
  for (size_t i = 0; i < kMaxMappings; ++i) {
    absl::StrAppend(&text, absl::Hex(i * 0x1000), "-", absl::Hex(i * 0x1000 + 0x1000), " r--p 0 0:0 0\n");
  }
  auto mappings = ParseMaps(text);
  ASSERT_TRUE(mappings.ok());
  EXPECT_EQ(mappings->size(), kMaxMappings);
  absl::StrAppend(&text, "7ff000000000-7ff000002000 r--p 0 0:0 0\n");
  EXPECT_EQ(ParseMaps(text).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace offcpu

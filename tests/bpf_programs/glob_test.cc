#include "bpf_programs/glob.h"

#include <fnmatch.h>

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

// The machine as bpf/filter.bpf.h runs it.
bool Matches(const wire_glob& glob, const std::string& name) {
  uint32_t states = 1;
  for (const char c : name.substr(0, WIRE_COMM_BYTES)) {
    const auto byte = static_cast<unsigned char>(c);
    states = ((states & glob.symbol[byte]) << 1) | (states & glob.star);
  }
  return (states & glob.accept) != 0;
}

bool Matches(const std::string& pattern, const std::string& name) {
  const absl::StatusOr<wire_glob> glob = CompileGlob(pattern);
  EXPECT_TRUE(glob.ok()) << pattern;
  return glob.ok() && Matches(*glob, name);
}

TEST(Glob, PlainNamesMatchWholly) {
  EXPECT_TRUE(Matches("nginx", "nginx"));
  EXPECT_FALSE(Matches("nginx", "nginx2"));
  EXPECT_FALSE(Matches("nginx", "ngin"));
}

// fnmatch is the second source: all short patterns against all short names over two letters.
TEST(Glob, AgreesWithFnmatch) {
  const auto strings_over = [](const std::string& alphabet, size_t max) {
    std::vector<std::string> all = {""};
    for (size_t begin = 0, length = 0; length < max; ++length) {
      const size_t end = all.size();
      for (; begin < end; ++begin) {
        for (const char c : alphabet) all.push_back(all[begin] + c);
      }
    }
    return all;
  };
  for (const std::string& pattern : strings_over("ab*?", 5)) {
    if (pattern.empty()) continue;
    for (const std::string& name : strings_over("ab", 5)) {
      EXPECT_EQ(Matches(pattern, name), fnmatch(pattern.c_str(), name.c_str(), 0) == 0) << pattern << " " << name;
    }
  }
}

TEST(Glob, BytesAboveAsciiAreBytes) { EXPECT_TRUE(Matches("?\xc3*", "x\xc3\xa4")); }

TEST(Glob, FifteenSymbolsAreTheLimit) {
  EXPECT_TRUE(Matches("*" + std::string(15, 'x') + "*", std::string(15, 'x')));
  EXPECT_TRUE(Matches(std::string(15, '?'), std::string(15, 'x')));
  EXPECT_EQ(CompileGlob(std::string(16, 'x')).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CompileGlob(std::string(1000, 'x')).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CompileGlob("").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace offcpu

#include "runtimes/read_text.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>

#include "process/memory.h"

namespace offcpu {
namespace {

constexpr uint64_t kPage = 0x10000;
constexpr size_t kPageBytes = 4096;

TEST(ReadText, EndsAtZero) {
  std::string page(kPageBytes, '\0');
  page.replace(100, 5, "klass");
  page.replace(4000, 95, std::string(95, 'n'));  // up to the last byte, which is 0
  const SpanMemory memory(kPage, std::as_bytes(std::span(page)));
  EXPECT_EQ(ReadText(memory, kPage + 100, 256), "klass");
  EXPECT_EQ(ReadText(memory, kPage + 104, 256), "s");
  EXPECT_EQ(ReadText(memory, kPage + 105, 256), "");
  EXPECT_EQ(ReadText(memory, kPage + 4000, 256), std::string(95, 'n'));
}

TEST(ReadText, LongerOneIsCut) {
  const std::string page(kPageBytes, 'n');
  const SpanMemory memory(kPage, std::as_bytes(std::span(page)));
  EXPECT_EQ(ReadText(memory, kPage + 1, 100), std::string(100, 'n'));
}

TEST(ReadText, NothingIfItGoesOnWhereNothingCanBeRead) {
  const std::string page(kPageBytes, 'n');
  const SpanMemory memory(kPage, std::as_bytes(std::span(page)));
  EXPECT_EQ(ReadText(memory, kPage + 4000, 96), std::string(96, 'n'));
  EXPECT_EQ(ReadText(memory, kPage + 4000, 97), std::nullopt);
  EXPECT_EQ(ReadText(memory, UINT64_MAX, 10), std::nullopt);
}

}  // namespace
}  // namespace offcpu

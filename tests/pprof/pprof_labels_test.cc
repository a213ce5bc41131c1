#include "pprof/pprof_labels.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

using Way = std::pair<FrameSource, bool>;  // and whether it is exact

constexpr Way kLeaf = {FrameSource::kRegisters, true};
constexpr Way kSFrame = {FrameSource::kSFrame, false};
constexpr Way kEhFrame = {FrameSource::kEhFrame, false};
constexpr Way kRestorer = {FrameSource::kEhFrame, true};
constexpr Way kInterrupted = {FrameSource::kSignalTrampoline, true};

std::vector<NamedFrame> Frames(const std::vector<Way>& ways) {
  std::vector<NamedFrame> frames;
  for (const auto& [source, exact] : ways) frames.push_back({{.source = source, .exact = exact}});
  return frames;
}

TEST(SourcesTextTest, ThereAndBack) {
  const std::vector<std::pair<std::vector<Way>, std::string>> cases = {
      {{}, ""},
      {{kLeaf}, ""},
      {{kLeaf, kEhFrame}, "eh_frame*1"},
      {{kLeaf, kEhFrame, kEhFrame, kEhFrame}, "eh_frame*3"},
      {{kLeaf, kSFrame, kSFrame, kEhFrame}, "sframe*2+eh_frame*1"},
      {{kLeaf, kSFrame, kEhFrame, kSFrame, kSFrame}, "sframe*1+eh_frame*1+sframe*2"},
      {{kLeaf, kRestorer, kInterrupted, kEhFrame}, "eh_frame!*1+trampoline*1+eh_frame*1"},
      {{kLeaf, {FrameSource::kFramePointer, false}}, "fp*1"},
  };
  for (const auto& [ways, text] : cases) {
    const std::vector<NamedFrame> frames = Frames(ways);
    EXPECT_EQ(SourcesText(frames), text);
    std::vector<NamedFrame> read(frames.size());
    EXPECT_TRUE(ReadSources(text, read)) << text;
    EXPECT_EQ(read, frames) << text;
  }
}

TEST(SourcesTextTest, WhatDoesNotFitTheFramesIsRefused) {
  for (const char* text : {"", "eh_frame", "eh_frame*2", "eh_frame*4", "eh_frame*0", "eh_frame*", "eh_frame*-1",
                           "eh_frame*x", "*3", "nothing", "eh_frame!!", "eh_frame*2+", "+eh_frame*3",
                           "eh_frame*2+eh_frame", "eh_frame*3+x*1", "eh_frame*18446744073709551615+eh_frame*4"}) {
    std::vector<NamedFrame> frames(4);
    EXPECT_FALSE(ReadSources(text, frames)) << text;
  }
  std::vector<NamedFrame> none;
  EXPECT_FALSE(ReadSources("eh_frame*1", none));
}

}  // namespace
}  // namespace offcpu

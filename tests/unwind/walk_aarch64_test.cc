// Walks stacks of AArch64 that an emulator has made, and compares with the return addresses that the program found
// itself. What fixtures/aarch64/chain.c calls: functions with frames, with a frame found by the frame pointer, one that
// has saved nothing and is interrupted by a signal, a trampoline without a table, a handler, a call that never returns.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unwind/sframe_object.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

// What a capture would hold, and the truth.
struct Snapshot {
  Registers registers;
  uint64_t begin = 0;
  std::vector<uint64_t> stack;
  std::vector<uint64_t> pcs;  // innermost first

  uint64_t end() const { return begin + stack.size() * sizeof(uint64_t); }
};

std::string PathOf(const std::string& name) { return OFFCPU_SOURCE_DIR "/tests/unwind/fixtures/aarch64/" + name; }

// Lines of a letter and two numbers: a register and its value; a word of the stack that is not 0; the end of the stack;
// a pc.
Snapshot ReadSnapshot(const std::string& name) {
  Snapshot snapshot;
  std::vector<std::pair<uint64_t, uint64_t>> words;
  std::ifstream file(PathOf(name));
  char kind = 0;
  uint64_t a = 0;
  uint64_t b = 0;
  while (file >> kind >> std::hex >> a >> b) {
    if (kind == 'r') snapshot.registers.value.at(a) = b;
    if (kind == 's') words.emplace_back(a, b);
    if (kind == 'f') snapshot.pcs.push_back(a);
    if (kind != 'e') continue;
    snapshot.begin = snapshot.registers.value[kAArch64Sp];
    snapshot.stack.resize((a - snapshot.begin) / sizeof(uint64_t));
    for (const auto& [address, word] : words) snapshot.stack.at((address - snapshot.begin) / sizeof(uint64_t)) = word;
  }
  return snapshot;
}

class WalkAArch64Test : public ::testing::Test {
 protected:
  // Walks the stack of a program with those of its tables that are asked for, in a copy that ends at `end`.
  void Walk(const std::string& name, const std::string& order, uint64_t end = UINT64_MAX) {
    truth = ReadSnapshot(name + ".snapshot");
    ASSERT_FALSE(truth.stack.empty());
    const SFrameObject object = ReadSFrameObject(PathOf(name + ".elf"));
    auto module = std::make_shared<Module>();
    module->machine = &kAArch64;
    module->code = object.code;
    module->eh_frame = object.eh_frame;
    module->sframe = object.table;
    ASSERT_EQ(module->code.size(), 1u);
    MappedCode code;
    code.begin = module->code[0].begin;
    code.end = module->code[0].end;
    code.module = module;
    const AddressSpace space({code});
    const SpanMemory memory(truth.begin, std::as_bytes(std::span(truth.stack)));
    Walker walker(kAArch64, *ParseUnwindOrder(order));
    WalkTrace trace;
    walker.Walk(space, truth.registers, /*in_syscall=*/false,
                {.memory = memory, .begin = truth.begin, .end = std::min(end, truth.end()), .more = end < truth.end()},
                &stack, &trace);
    pcs = trace.pcs;
  }

  // The sources of the frames that are none of a signal.
  void ExpectOnly(FrameSource source) const {
    for (size_t i = 1; i < stack.frames.size(); ++i) {
      const FrameSource found = stack.frames[i].source;
      EXPECT_TRUE(found == source || found == FrameSource::kSignalTrampoline) << i << ": " << Name(found);
    }
  }

  Snapshot truth;
  UserStack stack;
  std::vector<uint64_t> pcs;
};

TEST_F(WalkAArch64Test, ToTheOutermostFrameByEitherTable) {
  for (const FrameSource source : {FrameSource::kSFrame, FrameSource::kEhFrame}) {
    Walk("chain", std::string(Name(source)));
    EXPECT_EQ(stack.end, EndReason::kComplete) << Name(stack.end);
    EXPECT_EQ(pcs, truth.pcs) << Name(source);
    ExpectOnly(source);
  }
}

TEST_F(WalkAArch64Test, WhatWasInterruptedIsMarkedSo) {
  Walk("chain", "sframe,eh_frame,fp");
  const auto signal = std::find_if(stack.frames.begin(), stack.frames.end(),
                                   [](const Frame& frame) { return frame.source == FrameSource::kSignalTrampoline; });
  ASSERT_NE(signal, stack.frames.end());
  EXPECT_TRUE(signal->exact) << "the instruction behind the system call";
  EXPECT_TRUE(std::prev(signal)->exact) << "the trampoline, which nobody calls";
  EXPECT_FALSE(std::next(signal)->exact) << "by x30, as the signal frame has it";
}

// Every return address but the interrupted function's is signed.
TEST_F(WalkAArch64Test, SignedReturnAddresses) {
  for (const FrameSource source : {FrameSource::kSFrame, FrameSource::kEhFrame}) {
    Walk("chain_signed", std::string(Name(source)));
    EXPECT_EQ(stack.end, EndReason::kComplete) << Name(stack.end);
    EXPECT_EQ(pcs, truth.pcs) << Name(source);
    ExpectOnly(source);
  }
}

// Where the copy is too small, the frames up to there are right and the walk says why it ends. But a part of its signal
// frame does not show a trampoline that no table describes: that looks as if it had been called.
TEST_F(WalkAArch64Test, AnyPieceOfTheStack) {
  constexpr size_t kToTrampoline = 5;
  Walk("chain", "sframe,eh_frame,fp");
  for (uint64_t end = truth.begin; end < truth.end(); end += 8) {
    Walk("chain", "sframe,eh_frame,fp", end);
    ASSERT_LE(pcs.size(), truth.pcs.size()) << end;
    EXPECT_TRUE(std::equal(pcs.begin(), pcs.end(), truth.pcs.begin())) << end;
    const bool at_trampoline = pcs.size() == kToTrampoline && stack.end == EndReason::kBadCfa;
    EXPECT_TRUE(stack.end == EndReason::kStackCopy || at_trampoline) << end << " " << Name(stack.end);
  }
}

}  // namespace
}  // namespace offcpu

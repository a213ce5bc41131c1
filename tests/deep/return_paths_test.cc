// What code says of its callers, beside what its table says, at every call of real libraries in C. Where the code is
// found to return to somebody, it is to the caller that the table says, but for a few calls in ten thousand: a guess,
// which no complete stack goes by.
#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <glob.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "process/address_space.h"
#include "process/return_path.h"
#include "unwind/eh_frame.h"
#include "unwind/eh_frame_index.h"

namespace offcpu {
namespace {

struct Library {
  const char* name;
  const char* pattern;
};

// The code of the file that the pattern names, which this process has mapped.
const MappedCode* CodeOf(const AddressSpace& space, const std::string& pattern) {
  glob_t found = {};
  std::array<char, PATH_MAX> path = {};
  const bool is_there =
      glob(pattern.c_str(), 0, nullptr, &found) == 0 && realpath(found.gl_pathv[0], path.data()) != nullptr;
  globfree(&found);
  for (const MappedCode& code : space.code()) {
    if (is_there && code.module != nullptr && code.module->path == path.data()) return &code;
  }
  return nullptr;
}

// Where the calls of a function return to, in `code`.
std::vector<size_t> ReturnAddresses(std::span<const std::byte> code, size_t begin, size_t end) {
  std::vector<size_t> addresses;
  ZydisDecoder decoder;
  ZydisDecodedInstruction instruction;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  for (size_t at = begin; at < end; at += instruction.length) {
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, &code[at], end - at, &instruction))) break;
    const size_t next = at + instruction.length;
    if (instruction.meta.category == ZYDIS_CATEGORY_CALL && next < end) addresses.push_back(next);
  }
  return addresses;
}

// A table may go by the other register, as long as the frame pointer is that of the frame.
bool SaysTheSame(const ReturnPath& path, const UnwindRow& row) {
  const uint8_t base = path.from_fp ? kRbp : kRsp;
  const CfaRule cfa = {.offset = path.cfa_offset, .addend = 0, .reg = base, .deref = false};
  const bool same_cfa = row.cfa == cfa || (row.cfa.reg == kRbp && !path.from_fp && !row.cfa.deref);
  const bool fp_moves = row.fp.place != Place::kUnchanged;
  const bool same_fp = fp_moves == path.fp_offset.has_value() && (!fp_moves || row.fp.offset == *path.fp_offset);
  return same_cfa && same_fp;
}

class ReturnPaths : public testing::TestWithParam<Library> {};

TEST_P(ReturnPaths, LeadWhereTheTableSays) {
  glob_t found = {};
  if (glob(GetParam().pattern, 0, nullptr, &found) != 0) GTEST_SKIP() << GetParam().name << " is not installed";
  ASSERT_NE(dlopen(found.gl_pathv[0], RTLD_LAZY | RTLD_LOCAL), nullptr) << dlerror();
  globfree(&found);
  ModuleCache modules;
  const auto space = LoadAddressSpace(getpid(), nullptr, modules);
  ASSERT_TRUE(space.ok());
  const MappedCode* mapped = CodeOf(**space, GetParam().pattern);
  ASSERT_NE(mapped, nullptr);
  const std::unique_ptr<EhFrameTable> table =
      EhFrameTable::Open(mapped->module->eh_frame, kX86_64, mapped->module->eh_frame_hdr);
  ASSERT_NE(table, nullptr);
  const auto index = IndexEhFrame(mapped->module->eh_frame, kX86_64, mapped->module->eh_frame_hdr);
  const uint64_t base = mapped->begin - mapped->bias;
  const std::span code(reinterpret_cast<const std::byte*>(mapped->begin), mapped->end - mapped->begin);
  size_t calls = 0;
  size_t returns = 0;
  size_t never = 0;
  size_t wrong = 0;
  for (const FdeSpan& fde : index->fdes) {
    if (fde.begin < base || fde.end - base > code.size()) continue;
    for (const size_t at : ReturnAddresses(code, fde.begin - base, fde.end - base)) {
      UnwindRow row;
      if (table->Find(base + at - 1, &row) != FindOutcome::kFound || row.signal) continue;
      ++calls;
      const ReturnPath path = FollowReturn(code, at);
      never += path.kind == ReturnPath::Kind::kNeverReturns ? 1 : 0;
      if (path.kind != ReturnPath::Kind::kReturns) continue;
      ++returns;
      wrong += SaysTheSame(path, row) ? 0 : 1;
    }
  }
  std::printf("%s: of %zu calls, %.1f %% lead to the caller, %.1f %% to nobody, %zu wrong\n", GetParam().name, calls,
              100.0 * static_cast<double>(returns) / static_cast<double>(calls),
              100.0 * static_cast<double>(never) / static_cast<double>(calls), wrong);
  EXPECT_LE(wrong, calls / 5000);
  EXPECT_GT(returns, calls * 85 / 100);
}

INSTANTIATE_TEST_SUITE_P(Libraries, ReturnPaths,
                         testing::Values(Library{"libc", "/lib/x86_64-linux-gnu/libc.so.6"},
                                         Library{"libcrypto", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"},
                                         Library{"libpython3", "/usr/lib/x86_64-linux-gnu/libpython3.*.so.1.0"}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace offcpu

#include "symbolize/demangle.h"

// libiberty's headers declare basename() unless told that someone else does.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <csetjmp>

#include "symbolize/demangle_guard.h"

namespace offcpu {
namespace {

constexpr std::array<std::string_view, 8> kCloneSuffixes = {"cold",     "part", "isra",   "constprop",
                                                            "lto_priv", "llvm", "__uniq", "localalias"};

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

// Takes what a demangler prints, and leaves it by a jump once that is too much: the demanglers have no other way to
// stop, and their output can be exponential in their input. Names that keep them busy without output are not for them.
// Plain data, so that a jump skips no destructor.
struct Output {
  std::jmp_buf full;
  bool may_own_piece;  // the Rust demangler prints decoded names, which are not ASCII, from memory that it frees later
  size_t size;
  char bytes[kMaxDemangledBytes];
};

bool IsAscii(const char* piece, size_t size) {
  return std::all_of(piece, piece + size, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

extern "C" void Take(const char* piece, size_t size, void* opaque) {
  auto* output = static_cast<Output*>(opaque);
  if (size <= sizeof(output->bytes) - output->size) {
    std::copy_n(piece, size, output->bytes + output->size);  // an empty piece may be null
    output->size += size;
    return;
  }
  output->size = sizeof(output->bytes);
  if (!output->may_own_piece || IsAscii(piece, size)) std::longjmp(output->full, 1);
}

bool Run(Demangler demangler, const char* mangled, Output& output) {
  output.size = 0;
  if (setjmp(output.full) != 0) return false;
  return demangler(mangled, 0, Take, &output) != 0 && output.size != 0 && output.size < sizeof(output.bytes);
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// One suffix less, or the same name.
std::string_view DropOneSuffix(std::string_view name) {
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return name;
  std::string_view word = name.substr(dot + 1);
  if (IsDigits(word) && dot > 0) {
    size_t before = name.rfind('.', dot - 1);
    if (before == std::string_view::npos) return name;
    word = name.substr(before + 1, dot - before - 1);
    dot = before;
  }
  bool known = std::find(kCloneSuffixes.begin(), kCloneSuffixes.end(), word) != kCloneSuffixes.end();
  return known ? name.substr(0, dot) : name;
}

}  // namespace

std::string Demangle(std::string_view name) {
  bool rust_v0 = name.starts_with("_R");
  if ((!name.starts_with("_Z") && !rust_v0) || name.size() > kMaxMangledBytes) return std::string(name);
  std::string_view bare = name;
  for (std::string_view next = DropOneSuffix(bare); next.size() < bare.size(); next = DropOneSuffix(bare)) bare = next;
  std::string mangled(bare);
  Output output;
  // A legacy Rust name is also a C++ name, with a hash at its end.
  output.may_own_piece = true;
  bool done = (!rust_v0 || IsHarmlessRust(mangled)) && Run(rust_demangle_callback, mangled.c_str(), output);
  output.may_own_piece = false;
  if (!done && !rust_v0) done = IsHarmlessCpp(mangled) && Run(cplus_demangle_v3_callback, mangled.c_str(), output);
  return done ? std::string(output.bytes, output.size) : std::string(name);
}

}  // namespace offcpu

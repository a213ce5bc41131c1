#include "symbolize/demangle_guard.h"

// libiberty's headers declare basename() unless told that someone else does.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "symbolize/demangle.h"

namespace offcpu {
namespace {

// How many lifetimes all `for<'a, 'b>` of a Rust name may have together. The demangler counts them one by one, also in
// the paths that it skips without printing them, and again for each back reference to such a path.
constexpr uint64_t kMaxLifetimes = 256;

// Components of a C++ pack expansion, with those of substitutions counted each time. For each expansion that is
// printed, the demangler searches its pattern for a pack.
constexpr uint32_t kMaxPatternSize = 256;

// Template parameters with arguments in a C++ name with a conversion operator. The parser reads such arguments twice,
// and the ones in them four times.
constexpr int kMaxConversionArguments = 8;

// "_" is 0, "0_" is 1. Overflows as it does in the demangler.
std::optional<uint64_t> Base62Number(std::string_view text, size_t at) {
  uint64_t value = 0;
  size_t end = at;
  for (; end < text.size() && absl::ascii_isalnum(static_cast<unsigned char>(text[end])); ++end) {
    const char c = text[end];
    const int digit = absl::ascii_isdigit(static_cast<unsigned char>(c))   ? c - '0'
                      : absl::ascii_islower(static_cast<unsigned char>(c)) ? c - 'a' + 10
                                                                           : c - 'A' + 36;
    value = value * 62 + static_cast<uint64_t>(digit);
  }
  if (end == text.size() || text[end] != '_') return std::nullopt;
  return end == at ? 0 : value + 1;
}

uint64_t IdentifierEnd(std::string_view text, size_t at) {
  const bool empty = text[at] == '0';
  uint64_t length = 0;
  size_t begin = at;
  do {
    length = length * 10 + static_cast<uint64_t>(text[begin] - '0');
    ++begin;
  } while (!empty && begin < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[begin])));
  if (begin < text.size() && text[begin] == '_') ++begin;
  return begin + length;
}

// Where a demangler goes on that takes what is at a place for an identifier or a back reference; 0 if it is neither.
std::vector<uint64_t> Jumps(std::string_view text) {
  std::vector<uint64_t> jumps(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == 'B') jumps[at] = Base62Number(text, at + 1).value_or(0);
    if (absl::ascii_isdigit(static_cast<unsigned char>(text[at]))) jumps[at] = IdentifierEnd(text, at);
  }
  return jumps;
}

// Whether `place` is in the hash of a crate, "Cs1234_", and no demangler can come to it but by reading that: what a
// hash happens to contain would cost one crate in a few hundred the names of its functions. A name that is made to
// deceive can jump into what looks like a hash, and behind a 'K', the C is the ABI of a function and the 's' a type.
bool IsInHash(std::string_view text, const std::vector<uint64_t>& jumps, size_t place) {
  const size_t crate = place < 2 ? std::string_view::npos : text.rfind("Cs", place - 2);
  if (crate == std::string_view::npos || text.substr(crate, place - crate).find('_') != std::string_view::npos) {
    return false;
  }
  if (crate > 0 && text[crate - 1] == 'K') return false;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_inside = at > crate && at <= place;
    if (!is_inside && jumps[at] > crate && jumps[at] <= place) return false;
  }
  return true;
}

using Component = demangle_component;

// As libiberty's own walks have them: each component is of one of these kinds or has two children.
std::array<const Component*, 2> Children(const Component& component) {
  switch (component.type) {
    case DEMANGLE_COMPONENT_NAME:
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
    case DEMANGLE_COMPONENT_FUNCTION_PARAM:
    case DEMANGLE_COMPONENT_SUB_STD:
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_OPERATOR:
    case DEMANGLE_COMPONENT_CHARACTER:
    case DEMANGLE_COMPONENT_NUMBER:
    case DEMANGLE_COMPONENT_UNNAMED_TYPE:
      return {};
    case DEMANGLE_COMPONENT_CTOR:
      return {component.u.s_ctor.name};
    case DEMANGLE_COMPONENT_DTOR:
      return {component.u.s_dtor.name};
    case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
      return {component.u.s_extended_operator.name};
    case DEMANGLE_COMPONENT_FIXED_TYPE:
      return {component.u.s_fixed.length};
    case DEMANGLE_COMPONENT_LAMBDA:
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
      return {component.u.s_unary_num.sub};
    default:
      return {component.u.s_binary.left, component.u.s_binary.right};
  }
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// What a C++ name is parsed to. Substitutions make it a graph without cycles, which the demangler walks as the tree
// that it stands for.
class CppTree {
 public:
  // Expressions are known by their text: libiberty keeps to itself which operator a component stands for.
  explicit CppTree(std::string_view mangled)
      : counts_packs_(ContainsAny(mangled, {"sZ", "sP"})),
        folds_(ContainsAny(mangled, {"fl", "fr", "fL", "fR"})),
        has_template_lambda_(ContainsAny(mangled, {"UlTy", "UlTn", "UlTt", "UlTp"})) {}

  bool IsHarmless(const Component* root) {
    Visit(root);
    return harmless_;
  }

 private:
  // What holds for a component and all below it.
  struct Facts {
    uint32_t size = 0;  // up to kMaxPatternSize + 1
    bool has_unary = false;
    bool has_scope = false;  // in which a template parameter is not one of the lambda around it
  };

  Facts Visit(const Component* component);
  void Check(const Component& component, const Facts& facts);
  void CheckPack(const Component* pack);

  const bool counts_packs_;
  const bool folds_;
  const bool has_template_lambda_;
  bool harmless_ = true;
  absl::flat_hash_map<const Component*, Facts> seen_;
};

CppTree::Facts CppTree::Visit(const Component* component) {
  if (component == nullptr) return {};
  const auto [seen, is_new] = seen_.try_emplace(component);
  if (!is_new) return seen->second;
  Facts facts;
  facts.size = 1;
  facts.has_unary = component->type == DEMANGLE_COMPONENT_UNARY;
  facts.has_scope =
      component->type == DEMANGLE_COMPONENT_TYPED_NAME || component->type == DEMANGLE_COMPONENT_CONVERSION ||
      component->type == DEMANGLE_COMPONENT_FUNCTION_TYPE || component->type == DEMANGLE_COMPONENT_ARRAY_TYPE;
  for (const Component* child : Children(*component)) {
    const Facts below = Visit(child);
    facts.size = std::min(facts.size + below.size, kMaxPatternSize + 1);
    facts.has_unary = facts.has_unary || below.has_unary;
    facts.has_scope = facts.has_scope || below.has_scope;
  }
  Check(*component, facts);
  if (component->type == DEMANGLE_COMPONENT_PACK_EXPANSION) facts.size = 1;  // a search for a pack does not go into it
  seen_[component] = facts;
  return facts;
}

void CppTree::Check(const Component& component, const Facts& facts) {
  switch (component.type) {
    case DEMANGLE_COMPONENT_PACK_EXPANSION:
      if (facts.size > kMaxPatternSize) harmless_ = false;
      return;
    case DEMANGLE_COMPONENT_UNARY:  // sizeof...(pattern)
      if (counts_packs_ && facts.size > kMaxPatternSize) harmless_ = false;
      return;
    case DEMANGLE_COMPONENT_LAMBDA:
      // In a lambda's parameters, libiberty looks for template parameters at null if it is to count packs, and for
      // those of a lambda that is a template in whatever scope it is in.
      if ((counts_packs_ && facts.has_unary) || (has_template_lambda_ && facts.has_scope)) harmless_ = false;
      return;
    case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST: {
      const Component* argument = component.u.s_binary.left;
      if (argument != nullptr && argument->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST) CheckPack(argument);
      return;
    }
    default:
      return;
  }
}

// A template parameter prints one element of a pack, and the whole of it only if a pack is an element of another, which
// no compiler writes, or in a fold expression. Then packs of two parameters that stand for such packs themselves, and
// so on, print an empty pack 2^n times.
void CppTree::CheckPack(const Component* pack) {
  int parameters = 0;
  for (; pack != nullptr && pack->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST; pack = pack->u.s_binary.right) {
    const Component* element = pack->u.s_binary.left;
    while (element != nullptr &&
           (element->type == DEMANGLE_COMPONENT_CONST || element->type == DEMANGLE_COMPONENT_VOLATILE ||
            element->type == DEMANGLE_COMPONENT_RESTRICT)) {
      element = element->u.s_binary.left;
    }
    if (element == nullptr) continue;
    if (element->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST) harmless_ = false;
    if (element->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM || element->type == DEMANGLE_COMPONENT_PACK_EXPANSION) {
      ++parameters;
    }
  }
  if (folds_ && parameters > 1) harmless_ = false;
}

bool IsParsedQuickly(std::string_view mangled) {
  if (mangled.find("cv") == std::string_view::npos) return true;
  int arguments = 0;
  for (size_t at = mangled.find('T'); at != std::string_view::npos; at = mangled.find('T', at + 1)) {
    const size_t end = mangled.find_first_not_of("0123456789", at + 1);
    if (end != std::string_view::npos && mangled.substr(end).starts_with("_I")) ++arguments;
  }
  return arguments <= kMaxConversionArguments;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

bool IsHarmlessRust(std::string_view mangled) {
  const std::string_view text = mangled.substr(2);  // back references count from behind "_R"
  std::vector<uint64_t> jumps;
  uint64_t lifetimes = 0;
  // A binder is behind the F of a function or the D of a trait object. An identifier with "FG" or "DG" is taken for
  // one, for a back reference can make a demangler read what is in an identifier. It is rare.
  for (size_t at = text.find('G', 1); at != std::string_view::npos; at = text.find('G', at + 1)) {
    if (text[at - 1] != 'F' && text[at - 1] != 'D') continue;
    const std::optional<uint64_t> number = Base62Number(text, at + 1);
    if (!number) continue;
    if (*number < kMaxLifetimes) {
      lifetimes += *number + 1;
      continue;
    }
    if (jumps.empty()) jumps = Jumps(text);
    if (!IsInHash(text, jumps, at - 1)) return false;
  }
  return lifetimes <= kMaxLifetimes;
}

bool IsHarmlessCpp(const std::string& mangled) {
  // libiberty refuses longer ones itself, but its parser does not.
  if (mangled.size() > kMaxMangledBytes / 4 || !IsParsedQuickly(mangled)) return false;
  // Pack expansions, counts of packs, empty packs, and lambdas that are templates.
  if (!ContainsAny(mangled, {"Dp", "sp", "sZ", "sP", "JE", "IE", "UlTy", "UlTn", "UlTt", "UlTp"})) return true;
  void* memory = nullptr;
  const Component* root = cplus_demangle_v3_components(mangled.c_str(), 0, &memory);
  const std::unique_ptr<void, Free> owner(memory);
  // The demangler would try such a name once more, with older rules, and make another tree of it.
  if (root == nullptr) return false;
  return CppTree(mangled).IsHarmless(root);
}

}  // namespace offcpu

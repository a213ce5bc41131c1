#include "runtimes/hotspot/java_functions.h"

#include <optional>

namespace offcpu {
namespace {

size_t BytesOf(const std::vector<CodeLine>& lines) {
  size_t bytes = 0;
  for (const CodeLine& line : lines) bytes += sizeof(line) + line.function.size() + line.file.size();
  return bytes;
}

std::vector<CodeLine> Only(std::string_view name) { return {{.function = std::string(name)}}; }

}  // namespace

uint64_t JavaFunctions::Interpreted(uint64_t method, uint64_t bcp) {
  return Intern({.kind = Kind::kInterpreted, .code = method, .place = bcp}, nullptr, {});
}

uint64_t JavaFunctions::Compiled(const Blob& blob, uint64_t pc, bool exact) {
  return Intern({.kind = Kind::kCompiled, .exact = exact, .code = blob.at, .place = pc, .compile_id = blob.compile_id},
                &blob, {});
}

uint64_t JavaFunctions::Stub(const Blob& blob, bool is_call_stub) {
  return Intern({.kind = Kind::kStub, .code = blob.at, .place = is_call_stub}, nullptr,
                is_call_stub ? "call_stub" : blob.name);
}

// `name`: of what is known already.
uint64_t JavaFunctions::Intern(const Key& key, const Blob* blob, std::string_view name) {
  std::lock_guard lock(mutex_);
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) {
    Function& function = functions_[known->second];
    // A compiled one cannot change under its number.
    if (key.kind == Kind::kInterpreted || !function.is_read) Want(known->second, &function);
    return known->second;
  }
  if (functions_.size() >= kMaxJavaFunctions || !memory.Grow(kBytesEach)) return kNoRoom;
  const uint64_t number = functions_.size();
  numbers_.emplace(key, number);
  Function& function = functions_.emplace_back(Function{.key = key});
  if (blob != nullptr) function.blob = *blob;
  if (!name.empty()) {
    if (memory.Grow(BytesOf(Only(name)))) function.lines = Only(name);
    function.is_read = true;
  } else {
    Want(number, &function);
  }
  return number;
}

void JavaFunctions::Want(uint64_t number, Function* function) {
  if (std::exchange(function->is_wanted, true)) return;
  wanted_.push_back(number);
}

bool JavaFunctions::HasUnread() const {
  std::lock_guard lock(mutex_);
  return !wanted_.empty();
}

std::vector<CodeLine> JavaFunctions::Read(const Function& function, const Methods& methods, const CodeCache& cache,
                                          MethodIdentity* method) const {
  if (function.key.kind == Kind::kInterpreted) {
    *method = methods.Identify(function.key.code).value_or(MethodIdentity());
    if (function.is_read) return function.lines;
    const std::optional<CodeLine> line = methods.Interpreted(function.key.code, function.key.place);
    return line ? std::vector<CodeLine>{*line} : std::vector<CodeLine>();
  }
  const std::optional<Blob> now = cache.Find(function.blob.begin);
  if (!now || *now != function.blob) return {};
  return methods.Compiled(function.blob, function.key.place, function.key.exact);
}

void JavaFunctions::Read(const HotSpotLayout& layout, const Memory& target, const CodeCache& cache) {
  std::vector<std::pair<uint64_t, Function>> wanted;
  {
    std::lock_guard lock(mutex_);
    for (const uint64_t number : std::exchange(wanted_, {})) {
      functions_[number].is_wanted = false;
      wanted.emplace_back(number, functions_[number]);
    }
  }
  const Methods methods(layout, target);
  for (const auto& [number, function] : wanted) {
    MethodIdentity method;
    std::vector<CodeLine> lines = Read(function, methods, cache, &method);
    Keep(number, std::move(lines), method);
  }
}

void JavaFunctions::Keep(uint64_t number, std::vector<CodeLine> lines, const MethodIdentity& method) {
  std::lock_guard lock(mutex_);
  Function& function = functions_[number];
  const bool has_changed = function.is_read && function.method != method;
  if (lines.empty() || has_changed) lines = Only(kJavaUnloaded);
  // From now on the place has the new method, under another number.
  if (has_changed) numbers_.erase(function.key);
  memory.Shrink(BytesOf(function.lines));
  function.lines = memory.Grow(BytesOf(lines)) ? std::move(lines) : std::vector<CodeLine>();
  function.method = method;
  function.is_read = true;
}

std::vector<CodeLine> JavaFunctions::LinesAt(uint64_t number) const {
  std::lock_guard lock(mutex_);
  if (number == kNoRoom || number >= functions_.size()) return Only(kJavaNoRoom);
  const Function& function = functions_[number];
  return function.is_read && function.lines.empty() ? Only(kJavaNoRoom) : function.lines;
}

}  // namespace offcpu

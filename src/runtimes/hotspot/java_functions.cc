#include "runtimes/hotspot/java_functions.h"

#include <algorithm>
#include <utility>

#include "runtimes/paged_memory.h"

namespace offcpu {
namespace {

size_t BytesOf(const std::vector<CodeLine>& lines) {
  size_t bytes = 0;
  for (const CodeLine& line : lines) bytes += sizeof(line) + line.function.size() + line.file.size();
  return bytes;
}

std::vector<CodeLine> Only(std::string_view name) { return {{.function = std::string(name)}}; }

bool IsThere(const Blob& blob, const CodeCache& cache) { return cache.Find(blob.begin) == blob; }

}  // namespace

uint64_t JavaFunctions::Interpreted(uint64_t method, uint64_t bcp, std::optional<uint64_t> version) {
  if (!version) return kUnloaded;
  return Intern({.kind = Kind::kInterpreted, .code = method, .place = bcp, .version = *version}, nullptr, version, {});
}

uint64_t JavaFunctions::Compiled(const Blob& blob, uint64_t returns_to, std::optional<uint64_t> version) {
  const Key key = {
      .kind = Kind::kCompiled, .code = blob.at, .place = returns_to, .version = static_cast<uint32_t>(blob.compile_id)};
  return Intern(key, &blob, version, {});
}

uint64_t JavaFunctions::Stub(const Blob& blob, bool is_call_stub) {
  return Intern({.kind = Kind::kStub, .code = blob.at, .place = is_call_stub}, nullptr, 0,
                is_call_stub ? "call_stub" : blob.name);
}

std::optional<uint64_t> JavaFunctions::FindNumber(const Key& key, std::optional<uint64_t> version,
                                                  std::string_view name) {
  const auto known = numbers_.find(key);
  if (known == numbers_.end()) return std::nullopt;
  Function& function = functions_[known->second];
  switch (key.kind) {
    case Kind::kStub:  // another one may have come to be where one was
      if (!function.lines.empty() && function.lines.front().function != name) return std::nullopt;
      break;
    case Kind::kCompiled:  // it cannot change under its number
      if (function.is_read || !version) break;
      function.version = *version;
      Want(known->second);
      break;
    case Kind::kInterpreted:
      break;
  }
  return known->second;
}

uint64_t JavaFunctions::Intern(const Key& key, const Blob* blob, std::optional<uint64_t> version,
                               std::string_view name) {
  std::lock_guard lock(mutex_);
  if (const std::optional<uint64_t> number = FindNumber(key, version, name)) return *number;
  if (functions_.size() >= kMaxJavaFunctions || !memory.Grow(kBytesEach)) return kNoRoom;
  const uint64_t number = functions_.size();
  numbers_.insert_or_assign(key, number);
  Function& function = functions_.emplace_back(Function{.key = key, .version = version.value_or(0)});
  if (blob != nullptr) function.blob = *blob;
  if (key.kind == Kind::kStub) {
    Name(function, Only(name));
  } else if (version) {
    Want(number);
  } else {
    Name(function, Only(kJavaUnloaded));
    function.is_read = false;
  }
  return number;
}

bool JavaFunctions::is_full() const {
  std::lock_guard lock(mutex_);
  return functions_.size() >= kMaxJavaFunctions;
}

void JavaFunctions::Want(uint64_t number) {
  if (!std::exchange(functions_[number].is_wanted, true)) wanted_.push_back(number);
}

bool JavaFunctions::HasUnread() const {
  std::lock_guard lock(mutex_);
  return !wanted_.empty();
}

std::vector<JavaFunctions::Wanted> JavaFunctions::TakeWanted() {
  std::lock_guard lock(mutex_);
  std::vector<Wanted> taken;
  const auto end = wanted_.begin() + static_cast<ptrdiff_t>(std::min(wanted_.size(), kMaxJavaFunctionsAtOnce));
  for (auto number = wanted_.begin(); number != end; ++number) {
    Function& function = functions_[*number];
    function.is_wanted = false;
    taken.push_back({.number = *number, .key = function.key, .blob = function.blob});
  }
  wanted_.erase(wanted_.begin(), end);
  return taken;
}

std::vector<CodeLine> JavaFunctions::LinesOf(const Wanted& wanted, const Methods& methods, const CodeCache& cache) {
  if (wanted.key.kind == Kind::kCompiled)
    return IsThere(wanted.blob, cache) ? methods.Compiled(wanted.blob, wanted.key.place) : std::vector<CodeLine>();
  std::optional<CodeLine> line = methods.Interpreted(wanted.key.code, wanted.key.place);
  return line ? std::vector<CodeLine>{*std::move(line)} : std::vector<CodeLine>();
}

void JavaFunctions::Read(const HotSpotLayout& layout, const Memory& target,
                         absl::FunctionRef<std::optional<uint64_t>()> version) {
  const std::vector<Wanted> wanted = TakeWanted();
  if (wanted.empty()) return;
  const std::optional<uint64_t> before = version();
  std::vector<std::vector<CodeLine>> readings = LinesOf(wanted, layout, target);
  // What a blob refers to is given free with it, and may be another's by now.
  const PagedMemory after(target);
  const CodeCache cache = CodeCache::Read(layout, after);
  for (size_t i = 0; i < readings.size(); ++i) {
    if (wanted[i].key.kind == Kind::kCompiled && !IsThere(wanted[i].blob, cache)) readings[i].clear();
  }
  const bool is_same = before == version();
  for (size_t i = 0; i < readings.size(); ++i)
    Keep(wanted[i].number, std::move(readings[i]), is_same ? before : std::nullopt);
  std::lock_guard lock(mutex_);
  for (size_t i = readings.size(); i < wanted.size(); ++i) Want(wanted[i].number);
}

std::vector<std::vector<CodeLine>> JavaFunctions::LinesOf(std::span<const Wanted> wanted, const HotSpotLayout& layout,
                                                          const Memory& target) {
  const PagedMemory paged(target);
  const CodeCache cache = CodeCache::Read(layout, paged);
  const Methods methods(layout, paged);
  std::vector<std::vector<CodeLine>> readings;
  if (cache.empty()) return readings;
  for (size_t i = 0; i < wanted.size() && !paged.is_spent(); ++i) {
    std::vector<CodeLine> lines = LinesOf(wanted[i], methods, cache);
    // One that takes more than all reads has no name: else none behind it would ever have.
    if (paged.is_spent() && i > 0) break;
    readings.push_back(std::move(lines));
  }
  return readings;
}

// If a compiled function is met again it is read again, as its blob is there still.
void JavaFunctions::Keep(uint64_t number, std::vector<CodeLine>&& lines, std::optional<uint64_t> version) {
  std::lock_guard lock(mutex_);
  Function& function = functions_[number];
  const bool is_proven = version == function.version;
  Name(function, is_proven && !lines.empty() ? std::move(lines) : Only(kJavaUnloaded));
  function.is_read = is_proven;
}

void JavaFunctions::Name(Function& function, std::vector<CodeLine>&& lines) {
  memory.Shrink(BytesOf(function.lines));
  const bool has_room = memory.Grow(BytesOf(lines));
  function.lines = has_room ? std::move(lines) : std::vector<CodeLine>();
  function.is_read = true;
}

std::vector<CodeLine> JavaFunctions::LinesAt(uint64_t number) const {
  std::lock_guard lock(mutex_);
  if (number == kUnloaded) return Only(kJavaUnloaded);
  if (number == kNoRoom || number >= functions_.size()) return Only(kJavaNoRoom);
  const Function& function = functions_[number];
  return function.is_read && function.lines.empty() ? Only(kJavaNoRoom) : function.lines;
}

}  // namespace offcpu

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
    const Function& function = functions_[known->second];
    // A compiled one cannot change under its number, but another stub may have come to be where one was.
    if (key.kind == Kind::kInterpreted || !function.is_read) Want(known->second);
    if (key.kind != Kind::kStub || function.lines.empty() || function.lines.front().function == name)
      return known->second;
  }
  if (functions_.size() >= kMaxJavaFunctions || !memory.Grow(kBytesEach)) return kNoRoom;
  const uint64_t number = functions_.size();
  numbers_.insert_or_assign(key, number);
  Function& function = functions_.emplace_back(Function{.key = key});
  if (blob != nullptr) function.blob = *blob;
  if (key.kind == Kind::kStub) {
    if (memory.Grow(BytesOf(Only(name)))) function.lines = Only(name);
    function.is_read = true;
  } else {
    Want(number);
  }
  return number;
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
    taken.push_back({.number = *number, .key = function.key, .blob = function.blob, .is_read = function.is_read});
  }
  wanted_.erase(wanted_.begin(), end);
  return taken;
}

JavaFunctions::Reading JavaFunctions::Read(const Wanted& wanted, const Methods& methods, const CodeCache& cache) {
  Reading reading;
  if (wanted.key.kind == Kind::kInterpreted) {
    reading.method = methods.Identify(wanted.key.code).value_or(MethodIdentity());
    if (wanted.is_read) return reading;
    if (std::optional<CodeLine> line = methods.Interpreted(wanted.key.code, wanted.key.place))
      reading.lines.push_back(*std::move(line));
    return reading;
  }
  const std::optional<Blob> now = cache.Find(wanted.blob.begin);
  if (now && *now == wanted.blob) reading.lines = methods.Compiled(wanted.blob, wanted.key.place, wanted.key.exact);
  return reading;
}

void JavaFunctions::Read(const HotSpotLayout& layout, const Memory& target) {
  const PagedMemory paged(target);
  const CodeCache cache = CodeCache::Read(layout, paged);
  const Methods methods(layout, paged);
  if (cache.empty()) return;
  const std::vector<Wanted> wanted = TakeWanted();
  size_t done = 0;
  for (; done < wanted.size() && !paged.is_spent(); ++done) {
    Reading reading = Read(wanted[done], methods, cache);
    // One that takes more than all reads has no name: else none behind it would ever have.
    if (paged.is_spent() && done > 0) break;
    Keep(wanted[done].number, std::move(reading));
  }
  std::lock_guard lock(mutex_);
  for (; done < wanted.size(); ++done) Want(wanted[done].number);
}

void JavaFunctions::Keep(uint64_t number, Reading&& reading) {
  std::lock_guard lock(mutex_);
  Function& function = functions_[number];
  const bool was_read = std::exchange(function.is_read, true);
  if (was_read && function.method == reading.method) return;
  if (was_read || reading.lines.empty()) reading.lines = Only(kJavaUnloaded);
  // From now on the place has the new method, under another number.
  const auto known = numbers_.find(function.key);
  if (was_read && known != numbers_.end() && known->second == number) numbers_.erase(known);
  memory.Shrink(BytesOf(function.lines));
  const bool has_room = memory.Grow(BytesOf(reading.lines));
  function.lines = has_room ? std::move(reading.lines) : std::vector<CodeLine>();
  function.method = reading.method;
}

std::vector<CodeLine> JavaFunctions::LinesAt(uint64_t number) const {
  std::lock_guard lock(mutex_);
  if (number == kNoRoom || number >= functions_.size()) return Only(kJavaNoRoom);
  const Function& function = functions_[number];
  return function.is_read && function.lines.empty() ? Only(kJavaNoRoom) : function.lines;
}

}  // namespace offcpu

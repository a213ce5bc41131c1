#include "runtimes/python/python_functions.h"

#include <string>

namespace offcpu {
namespace {

// With a table of hashes, which has room for up to twice what is in it.
size_t BytesOf(const CodeLine& line) {
  return sizeof(std::pair<CodeLine, uint64_t>) + 4 * sizeof(void*) + line.function.size() + line.file.size();
}

}  // namespace

uint64_t PythonFunctions::Intern(const CodeLine& line) {
  std::lock_guard lock(mutex_);
  const auto known = numbers_.find(line);
  if (known != numbers_.end()) return known->second;
  if (lines_.size() == kMaxPythonFunctions || !memory.Grow(BytesOf(line))) return kNoRoom;
  const uint64_t number = lines_.size() + 1;
  lines_.push_back(&numbers_.emplace(line, number).first->first);
  return number;
}

std::vector<CodeLine> PythonFunctions::LinesAt(uint64_t number) const {
  std::lock_guard lock(mutex_);
  if (number == kNoRoom || number > lines_.size()) return {{.function = std::string(kPythonNoRoom)}};
  return {*lines_[number - 1]};
}

}  // namespace offcpu

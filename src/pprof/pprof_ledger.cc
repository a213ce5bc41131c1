#include "pprof/pprof_ledger.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"

namespace offcpu {
namespace {

// The number that `text` begins with, taken off it with the blank behind it.
std::optional<uint64_t> TakeNumber(std::string_view* text) {
  const size_t blank = text->find(' ');
  uint64_t number = 0;
  if (blank == std::string_view::npos || !absl::SimpleAtoi(std::string(text->substr(0, blank)), &number)) return {};
  text->remove_prefix(blank + 1);
  return number;
}

bool IsPid(uint64_t number) { return number <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max()); }

std::string LedgerText(const LedgerEntry& entry, uint64_t process, const ProcessInfo& info) {
  std::string text = absl::StrCat(process, " ", info.key.pid, " ", entry.tid, " ", entry.wall_ns, " ", entry.on_cpu_ns,
                                  " ", entry.blocked_ns, " ", entry.runnable_ns, " ", entry.stolen_ns, " ");
  for (const uint64_t ns : entry.lost_ns) absl::StrAppend(&text, ns, " ");
  const std::string name = Printable(info.name);
  absl::StrAppend(&text, name.size(), " ", name, " ", Printable(entry.comm));
  return text;
}

}  // namespace

std::vector<std::string> LedgerTexts(const ProfileFacts& profile) {
  std::vector<std::string> texts;
  uint64_t process = 0;
  for (size_t i = 0; i < profile.ledger.size(); ++i) {
    const LedgerEntry& entry = profile.ledger[i];
    if (i != 0 && entry.process != profile.ledger[i - 1].process) ++process;
    texts.push_back(LedgerText(entry, process, profile.processes[entry.process]));
  }
  return texts;
}

bool LedgerReader::Read(std::string_view text) {
  if (profile_.ledger.size() >= kMaxLedgerEntries) return false;
  LedgerEntry entry;
  std::array<uint64_t, 3> ids = {};
  uint64_t length = 0;
  const auto take = [&text](uint64_t& number) {
    const std::optional<uint64_t> taken = TakeNumber(&text);
    number = taken.value_or(0);
    return taken.has_value();
  };
  for (uint64_t& id : ids) {
    if (!take(id)) return false;
  }
  for (uint64_t* ns : {&entry.wall_ns, &entry.on_cpu_ns, &entry.blocked_ns, &entry.runnable_ns, &entry.stolen_ns}) {
    if (!take(*ns)) return false;
  }
  for (uint64_t& ns : entry.lost_ns) {
    if (!take(ns)) return false;
  }
  if (!take(length) || length >= text.size() || text[length] != ' ' || !IsPid(ids[1]) || !IsPid(ids[2])) return false;
  if (profile_.ledger.empty() || ids[0] != process_) {
    ProcessInfo& process = profile_.processes.emplace_back();
    process.key.pid = static_cast<int32_t>(ids[1]);
    process.name = std::string(text.substr(0, length));
  }
  process_ = ids[0];
  entry.process = static_cast<uint32_t>(profile_.processes.size() - 1);
  entry.tid = static_cast<int32_t>(ids[2]);
  entry.comm = std::string(text.substr(length + 1));
  profile_.ledger.push_back(std::move(entry));
  return true;
}

}  // namespace offcpu

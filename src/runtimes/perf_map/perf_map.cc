#include "runtimes/perf_map/perf_map.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "os/credentials.h"
#include "os/proc_file.h"
#include "process/exec_random.h"
#include "process/module_cache.h"

namespace offcpu {
namespace {

constexpr size_t kMaxOwnStatusBytes = 1 << 20;  // there may be 65,536 groups

constexpr int kMaxForks = 8;

struct Identity {
  uint32_t number = 0;  // the pid in the innermost namespace: the last one of "NStgid:\t1\t2\t3"
  pid_t parent = 0;     // in this program's namespace; 0: none
  Credentials who;
};

// The last number in the line of /proc/PID/status that begins with `key`.
std::optional<uint32_t> LastNumber(std::string_view status, std::string_view key) {
  const size_t at = status.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + key.size());
  line = line.substr(0, line.find('\n'));
  uint32_t number = 0;
  if (!absl::SimpleAtoi(std::string(line.substr(line.rfind('\t') + 1)), &number)) return std::nullopt;
  return number;
}

std::optional<Identity> IdentityOf(pid_t pid) {
  const absl::StatusOr<std::string> status = ReadProcFile(absl::StrCat("/proc/", pid, "/status"), kMaxOwnStatusBytes);
  if (!status.ok()) return std::nullopt;
  const std::optional<uint32_t> number = LastNumber(*status, "\nNStgid:\t");
  std::optional<Credentials> who = ParseCredentials(*status);
  if (!number.has_value() || !who.has_value()) return std::nullopt;
  const uint32_t parent = LastNumber(*status, "\nPPid:\t").value_or(0);
  return Identity{.number = *number, .parent = static_cast<pid_t>(parent), .who = *std::move(who)};
}

// The map of the process with that number, as far as the process `pid` would read it.
PerfMap OpenMapFor(pid_t pid, const Credentials& who, uint32_t number) {
  const std::string name = absl::StrCat("perf-", number, ".map");
  TrustedFile opened = OpenTrustedFile(pid, who, "tmp", name);
  if (!opened.file) return {.code = nullptr, .refusal = opened.refusal};
  auto code = std::make_shared<CodeObject>(CodeKind::kPerfMap, absl::StrCat("/tmp/", name));
  code->file = std::move(opened.file);
  code->memory = MemoryLease(nullptr, who.uid);
  return {.code = std::move(code)};
}

bool IsSameFile(const OwnedFd& a, const OwnedFd& b) {
  struct stat a_stat;
  struct stat b_stat;
  return fstat(a.get(), &a_stat) == 0 && fstat(b.get(), &b_stat) == 0 && a_stat.st_dev == b_stat.st_dev &&
         a_stat.st_ino == b_stat.st_ino;
}

// Frames are equal only if their code objects are: the one of before, if it is of the same maps.
std::shared_ptr<const CodeObject> Known(const AddressSpace* previous, std::shared_ptr<const CodeObject> map) {
  if (previous == nullptr || map == nullptr) return map;
  const std::vector<MappedCode>& before = previous->code();
  const auto known = std::find_if(before.begin(), before.end(), [&](const MappedCode& c) {
    return c.other != nullptr && SamePerfMap(*c.other, *map);
  });
  return known != before.end() ? known->other : map;
}

}  // namespace

PerfMap OpenPerfMap(pid_t pid) {
  const std::optional<Identity> process = IdentityOf(pid);
  return process.has_value() ? OpenMapFor(pid, process->who, process->number) : PerfMap();
}

std::shared_ptr<const CodeObject> OpenPerfMapsBeforeFork(pid_t pid) {
  const std::optional<Identity> process = IdentityOf(pid);
  const std::optional<ExecRandom> random = ReadExecRandom(pid);
  if (!process.has_value() || !random.has_value()) return nullptr;
  std::vector<std::shared_ptr<CodeObject>> maps;
  pid_t parent = process->parent;
  for (int i = 0; i < kMaxForks && parent != 0 && ReadExecRandom(parent) == random; ++i) {
    const std::optional<Identity> ancestor = IdentityOf(parent);
    if (!ancestor.has_value()) break;
    std::shared_ptr<CodeObject> map = OpenMapFor(pid, process->who, ancestor->number).code;
    if (map != nullptr) maps.push_back(std::move(map));
    parent = ancestor->parent;
  }
  for (size_t i = maps.size(); i > 1; --i) maps[i - 2]->before_fork = maps[i - 1];
  return maps.empty() ? nullptr : maps.front();
}

bool SamePerfMap(const CodeObject& a, const CodeObject& b) {
  const CodeObject* one = &a;
  const CodeObject* other = &b;
  for (; one != nullptr && other != nullptr; one = one->before_fork.get(), other = other->before_fork.get()) {
    const bool are_maps = one->kind() == CodeKind::kPerfMap && other->kind() == CodeKind::kPerfMap;
    if (!are_maps || !IsSameFile(one->file, other->file)) return false;
  }
  return one == other;
}

// The map of a process that has trampolines of before the fork is opened twice: for them, and for its other code.
void NameByPerfMap(const ReadProcess& process, std::vector<MappedCode>* code) {
  bool has_made_code = false;
  bool has_trampolines = false;
  for (const MappedCode& c : *code) {
    if (c.object() != nullptr) continue;
    has_made_code = true;
    has_trampolines |= !c.copied.empty();
  }
  if (process.pid == 0 || !has_made_code) return;
  PerfMap found = OpenPerfMap(process.pid);
  if (found.refusal != FileRefusal::kNone) process.modules.CountRefused(found.refusal);
  std::shared_ptr<const CodeObject> of_trampolines = found.code;
  std::shared_ptr<const CodeObject> before = has_trampolines ? OpenPerfMapsBeforeFork(process.pid) : nullptr;
  if (before != nullptr) {
    const std::shared_ptr<CodeObject> again = found.code != nullptr ? OpenPerfMap(process.pid).code : nullptr;
    if (again != nullptr) again->before_fork = before;
    of_trampolines = again != nullptr ? again : before;
  }
  const std::shared_ptr<const CodeObject> map = Known(process.previous, std::move(found.code));
  of_trampolines = before != nullptr ? Known(process.previous, of_trampolines) : map;
  for (MappedCode& c : *code) {
    if (c.object() == nullptr) c.other = c.copied.empty() ? map : of_trampolines;
  }
}

}  // namespace offcpu

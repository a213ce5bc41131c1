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
#include "process/module_cache.h"

namespace offcpu {
namespace {

constexpr size_t kMaxOwnStatusBytes = 1 << 20;  // there may be 65,536 groups

// The pid in the innermost namespace: the last number of "NStgid:\t1\t2\t3".
std::optional<uint32_t> InnermostPid(std::string_view status) {
  const size_t at = status.find("\nNStgid:\t");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + 1);
  line = line.substr(0, line.find('\n'));
  uint32_t number = 0;
  if (!absl::SimpleAtoi(std::string(line.substr(line.rfind('\t') + 1)), &number)) return std::nullopt;
  return number;
}

}  // namespace

PerfMap OpenPerfMap(pid_t pid) {
  const absl::StatusOr<std::string> status = ReadProcFile(absl::StrCat("/proc/", pid, "/status"), kMaxOwnStatusBytes);
  if (!status.ok()) return {};
  const std::optional<uint32_t> number = InnermostPid(*status);
  const std::optional<Credentials> who = ParseCredentials(*status);
  if (!number.has_value() || !who.has_value()) return {};
  const std::string name = absl::StrCat("perf-", *number, ".map");
  TrustedFile opened = OpenTrustedFile(pid, *who, "tmp", name);
  if (!opened.file) return {.code = nullptr, .refusal = opened.refusal};
  auto code = std::make_shared<CodeObject>(CodeKind::kPerfMap, absl::StrCat("/tmp/", name));
  code->file = std::move(opened.file);
  code->memory = MemoryLease(nullptr, who->uid);
  return {.code = std::move(code)};
}

bool SamePerfMap(const CodeObject& a, const CodeObject& b) {
  struct stat a_stat;
  struct stat b_stat;
  const bool are_maps = a.kind() == CodeKind::kPerfMap && b.kind() == CodeKind::kPerfMap;
  return are_maps && fstat(a.file.get(), &a_stat) == 0 && fstat(b.file.get(), &b_stat) == 0 &&
         a_stat.st_dev == b_stat.st_dev && a_stat.st_ino == b_stat.st_ino;
}

void NameByPerfMap(const ReadProcess& process, std::vector<MappedCode>* code) {
  const bool has_made_code =
      std::any_of(code->begin(), code->end(), [](const MappedCode& c) { return c.object() == nullptr; });
  if (process.pid == 0 || !has_made_code) return;
  PerfMap found = OpenPerfMap(process.pid);
  if (found.refusal != FileRefusal::kNone) process.modules.CountRefused(found.refusal);
  std::shared_ptr<const CodeObject> map = std::move(found.code);
  if (map == nullptr) return;
  if (process.previous != nullptr) {  // frames are equal only if their code objects are
    const std::vector<MappedCode>& before = process.previous->code();
    const auto known = std::find_if(before.begin(), before.end(), [&](const MappedCode& c) {
      return c.other != nullptr && SamePerfMap(*c.other, *map);
    });
    if (known != before.end()) map = known->other;
  }
  for (MappedCode& c : *code) {
    if (c.object() == nullptr) c.other = map;
  }
}

}  // namespace offcpu

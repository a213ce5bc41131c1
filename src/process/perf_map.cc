#include "process/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "process/module_file.h"
#include "process/proc_file.h"
#include "process/regular_file.h"

namespace offcpu {
namespace {

constexpr size_t kMaxStatusBytes = 64 << 10;

// The number `index` of the line "KEY:\t1\t2\t3"; the last one if there are fewer.
std::optional<uint32_t> FieldOf(std::string_view status, std::string_view key, size_t index) {
  size_t at = status.find(absl::StrCat("\n", std::string(key), ":"));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + 1);
  line = line.substr(0, line.find('\n'));
  std::optional<uint32_t> value;
  for (size_t i = 0; i <= index; ++i) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) break;
    line.remove_prefix(tab + 1);
    uint32_t number = 0;
    if (!absl::SimpleAtoi(std::string(line.substr(0, line.find('\t'))), &number)) return std::nullopt;
    value = number;
  }
  return value;
}

bool BelongsTo(const OwnedFd& file, uint32_t uid) {
  struct stat st;
  return fstat(file.get(), &st) == 0 && (st.st_uid == uid || st.st_uid == 0);
}

}  // namespace

std::shared_ptr<const Module> OpenPerfMap(pid_t pid) {
  constexpr size_t kInnermost = 64;  // more than pid namespaces can be nested
  const absl::StatusOr<std::string> status = ReadProcFile(absl::StrCat("/proc/", pid, "/status"), kMaxStatusBytes);
  if (!status.ok()) return nullptr;
  const std::optional<uint32_t> number = FieldOf(*status, "NStgid", kInnermost);
  const std::optional<uint32_t> uid = FieldOf(*status, "Uid", 1);  // the effective one
  if (!number.has_value() || !uid.has_value()) return nullptr;
  auto module = std::make_shared<Module>();
  module->path = absl::StrCat("/tmp/perf-", *number, ".map");
  module->file = OpenRegularFile(OpenInRoot(pid, module->path));
  if (!module->file || !BelongsTo(module->file, *uid)) return nullptr;
  module->is_perf_map = true;
  module->code = {{.begin = 0, .end = UINT64_MAX}};
  return module;
}

bool SamePerfMap(const Module& a, const Module& b) {
  struct stat a_stat;
  struct stat b_stat;
  return a.is_perf_map && b.is_perf_map && fstat(a.file.get(), &a_stat) == 0 && fstat(b.file.get(), &b_stat) == 0 &&
         a_stat.st_dev == b_stat.st_dev && a_stat.st_ino == b_stat.st_ino;
}

}  // namespace offcpu

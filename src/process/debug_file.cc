#include "process/debug_file.h"

#include <elf.h>
#include <unistd.h>

#include <climits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "process/elf/debug_link.h"
#include "process/memory.h"
#include "process/module_file.h"

namespace offcpu {
namespace {

struct Place {
  std::string directory;  // below the root
  std::string name;
};

// `path` as the process sees it: a process in another root directory, but not in another mount namespace, has mapped
// files whose paths begin with that directory.
std::string PathBelowRoot(pid_t pid, const std::string& path) {
  std::string root(PATH_MAX, '\0');
  const ssize_t length = readlink(absl::StrCat("/proc/", pid, "/root").c_str(), root.data(), root.size());
  root.resize(length > 0 ? static_cast<size_t>(length) : 0);
  if (root.size() <= 1 || !path.starts_with(root + "/")) return path;
  return path.substr(root.size());
}

std::vector<Place> PlacesOf(pid_t pid, const Module& object, const ElfFile& elf) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::string debug = "usr/lib/debug";
  const std::string& build_id = object.build_id;
  std::vector<Place> places;
  if (build_id.size() >= 4 && build_id.find_first_not_of(kHex) == std::string::npos) {
    places.push_back({absl::StrCat(debug, "/.build-id/", build_id.substr(0, 2)), build_id.substr(2) + ".debug"});
  }
  const std::optional<DebugLink> link = ReadDebugLink(elf);
  if (!link || !object.path.starts_with('/')) return places;
  const std::string below = PathBelowRoot(pid, object.path);
  const std::string directory = absl::StrCat(".", below.substr(0, below.rfind('/') + 1));
  places.push_back({directory, link->name});
  places.push_back({directory + ".debug", link->name});
  places.push_back({absl::StrCat(debug, "/", directory), link->name});
  return places;
}

// The file that a link names may be a stripped one: the object itself, where a tool has given both the same name.
bool IsDebugFile(const OwnedFd& fd, const std::string& build_id) {
  const FileMemory file(fd.get());
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
  return elf.ok() && elf->FindType(SHT_SYMTAB) != nullptr && (build_id.empty() || elf->BuildId() == build_id);
}

}  // namespace

TrustedFile OpenDebugFileOfTarget(pid_t pid, const Credentials& who, const Module& object, const ElfFile& elf) {
  TrustedFile none;
  if (elf.FindType(SHT_SYMTAB) != nullptr) return none;
  const uid_t owner = PayerOf(object.file, who.uid);
  for (const Place& place : PlacesOf(pid, object, elf)) {
    TrustedFile found = OpenTrustedFile(pid, who, place.directory, place.name);
    if (found.refusal != FileRefusal::kNone) none.refusal = found.refusal;
    if (!found.file || !IsDebugFile(found.file, object.build_id)) continue;
    const uid_t by = PayerOf(found.file, who.uid);
    if (by == 0 || by == owner) return found;
    none.refusal = FileRefusal::kOtherOwner;
  }
  return none;
}

}  // namespace offcpu

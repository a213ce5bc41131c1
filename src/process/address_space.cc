#include "process/address_space.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "process/elf_image.h"
#include "process/elf_sections.h"
#include "process/module_file.h"
#include "process/perf_map.h"
#include "process/proc_file.h"

namespace offcpu {
namespace {

constexpr size_t kMaxLoads = 8192;  // of files in one process
constexpr std::string_view kVdso = "[vdso]";

bool HasFile(const Mapping& m) { return m.inode != 0 || m.path == kVdso; }

// Executable memory that a program made itself; the kernel's own special mappings have other names.
bool IsAnonymous(const Mapping& m) {
  return m.inode == 0 &&
         (m.path.empty() || m.path == "[heap]" || m.path.starts_with("[stack") || m.path.starts_with("[anon"));
}

// Files that stand for memory: compilers map their output through them.
bool IsMemoryFile(const Mapping& m) { return m.path.starts_with("/memfd:") || m.path == "/dev/zero"; }

FileMapping AsFileMapping(const Mapping& m) { return {m.begin, m.end, m.offset, m.executable}; }

class Builder {
 public:
  Builder(const std::vector<Mapping>& mappings, const Memory& memory, pid_t pid, const AddressSpace* previous,
          ModuleCache& modules)
      : mappings_(mappings), memory_(memory), pid_(pid), previous_(previous), modules_(modules) {
    for (const Mapping& m : mappings) {
      if (HasFile(m)) files_[Key(m)].push_back(AsFileMapping(m));
    }
  }

  std::shared_ptr<const AddressSpace> Build() {
    std::vector<MappedCode> code;
    const Mapping* header = nullptr;  // the last mapping below that shows the start of a file
    for (const Mapping& m : mappings_) {
      if (HasFile(m) && m.offset == 0) header = &m;
      if (!m.executable) continue;
      if (HasFile(m)) {
        code.push_back(FileCode(m));
      } else if (IsAnonymous(m)) {
        code.push_back(AnonymousCode(m, header));
      }
    }
    NameMadeCode(&code);
    return std::make_shared<AddressSpace>(std::move(code));
  }

 private:
  using FileKey = std::tuple<uint32_t, uint32_t, uint64_t>;

  // One load of a file.
  struct Load {
    FileKey file;
    ElfHead head;
    std::shared_ptr<const Module> module;
  };

  static FileKey Key(const Mapping& m) { return {m.dev_major, m.dev_minor, m.inode}; }

  static MappedCode Bare(const Mapping& m) {
    MappedCode code;
    code.begin = m.begin;
    code.end = m.end;
    code.dev_major = m.dev_major;
    code.dev_minor = m.dev_minor;
    code.inode = m.inode;
    code.offset = m.offset;
    return code;
  }

  const Load* LoadAround(const Mapping& m) const {
    auto after = loads_.upper_bound(m.begin);
    if (after == loads_.begin()) return nullptr;
    const Load& load = std::prev(after)->second;
    return m.end <= load.head.end ? &load : nullptr;
  }

  // The same mapping in `previous`, as far as /proc tells.
  const MappedCode* Known(const MappedCode& code) const {
    const MappedCode* known = previous_ == nullptr ? nullptr : previous_->Find(code.begin);
    if (known == nullptr || known->module == nullptr) return nullptr;
    auto place = [](const MappedCode& c) {
      return std::tie(c.begin, c.end, c.dev_major, c.dev_minor, c.inode, c.offset);
    };
    return place(*known) == place(code) ? known : nullptr;
  }

  static MappedCode Of(const Load& load, MappedCode code) {
    code.module = load.module;
    code.bias = load.head.bias;
    code.head_hash = load.head.hash;
    return code;
  }

  MappedCode FileCode(const Mapping& m) {
    MappedCode code = Bare(m);
    const Load* load = LoadAround(m);
    if (load == nullptr || load->file != Key(m)) load = LoadFile(m, Known(code));
    if (load != nullptr) return Of(*load, std::move(code));
    if (IsMemoryFile(m)) return code;
    if (std::optional<MappedCode> copy = CopyOfText(m, code)) return *std::move(copy);
    code.bias = m.begin - m.offset;
    const MappedCode* known = Known(code);
    code.module = known != nullptr && known->module->code.empty() ? known->module : modules_.Unreadable(m.path);
    return code;
  }

  // A program may map a piece of its own text once more, to have it near to code that it makes: V8 does so with its
  // built-in functions. It is the same module's code, at another distance from its link-time addresses.
  std::optional<MappedCode> CopyOfText(const Mapping& m, MappedCode code) {
    const bool is_first = searched_.insert(Key(m)).second;  // there may be hundreds, none of which is the load itself
    for (const Mapping& text : mappings_) {
      const bool covers = text.executable && &text != &m && Key(text) == Key(m) && text.offset <= m.offset &&
                          m.end - m.begin <= text.end - text.begin &&
                          m.offset - text.offset <= (text.end - text.begin) - (m.end - m.begin);
      if (!covers) continue;
      const Load* load = LoadAround(text);
      if (load == nullptr || load->file != Key(m)) load = is_first ? LoadFile(text, nullptr) : nullptr;
      if (load == nullptr) continue;
      code = Of(*load, std::move(code));
      code.bias += m.begin - (text.begin + (m.offset - text.offset));
      return code;
    }
    return std::nullopt;
  }

  // Memory inside of a module's span is its text, moved there to be on huge pages. Where all of the text has been moved
  // the module has not been seen yet.
  MappedCode AnonymousCode(const Mapping& m, const Mapping* header) {
    MappedCode code = Bare(m);
    const Load* load = LoadAround(m);
    if (load == nullptr && header != nullptr && !header->executable && header != tried_) {
      tried_ = header;
      LoadFile(*header, Known(code));
      load = LoadAround(m);
    }
    return load == nullptr ? code : Of(*load, std::move(code));
  }

  // Code that the process has made itself is told by its perf map, if it writes one.
  void NameMadeCode(std::vector<MappedCode>* code) const {
    const bool has_made_code =
        std::any_of(code->begin(), code->end(), [](const MappedCode& c) { return c.module == nullptr; });
    std::shared_ptr<const Module> map = pid_ == 0 || !has_made_code ? nullptr : OpenPerfMap(pid_);
    if (map == nullptr) return;
    if (previous_ != nullptr) {  // frames are equal only if their modules are
      const auto known = std::find_if(previous_->code().begin(), previous_->code().end(), [&](const MappedCode& c) {
        return c.module != nullptr && SamePerfMap(*c.module, *map);
      });
      if (known != previous_->code().end()) map = known->module;
    }
    for (MappedCode& c : *code) {
      if (c.module == nullptr) c.module = map;
    }
  }

  // Null if the file is no ELF object that can be read. `known`: what may be reused if nothing has changed.
  const Load* LoadFile(const Mapping& anchor, const MappedCode* known) {
    if (++attempts_ > kMaxLoads) return nullptr;
    const std::vector<FileMapping>& file = files_[Key(anchor)];
    absl::StatusOr<ElfHead> head = ReadElfHead(memory_, file, AsFileMapping(anchor));
    if (!head.ok()) return nullptr;
    Load load = {Key(anchor), *std::move(head), nullptr};
    // Inode numbers are used again, so the place alone does not tell that it is the same object.
    if (known != nullptr && !known->module->code.empty() && known->bias == load.head.bias &&
        known->head_hash == load.head.hash) {
      load.module = known->module;
    } else {
      absl::StatusOr<ElfImage> image = ReadElfImage(memory_, file, AsFileMapping(anchor));
      if (!image.ok()) return nullptr;
      image->module.path = anchor.path;
      AddFile(anchor, &image->module);
      load.head = std::move(image->head);
      load.module = modules_.Intern(std::move(image->module));
    }
    return &loads_.insert_or_assign(load.head.begin, std::move(load)).first->second;
  }

  void AddFile(const Mapping& mapping, Module* module) {
    const bool has_tables = !module->eh_frame_hdr.bytes.empty();
    if (pid_ == 0 || mapping.inode == 0 || (has_tables && !modules_.WantsFile())) return;
    module->file = OpenMappedFile(pid_, mapping);
    if (module->file) AddTableSections(FileMemory(module->file.get()), module);
  }

  const std::vector<Mapping>& mappings_;
  const Memory& memory_;
  pid_t pid_;
  const AddressSpace* previous_;
  ModuleCache& modules_;
  absl::flat_hash_map<FileKey, std::vector<FileMapping>> files_;
  std::map<uint64_t, Load> loads_;         // by head.begin
  absl::flat_hash_set<FileKey> searched_;  // for a load, from a copy of its text
  size_t attempts_ = 0;
  const Mapping* tried_ = nullptr;
};

}  // namespace

const MappedCode* AddressSpace::Find(uint64_t pc) const {
  auto after = std::upper_bound(code_.begin(), code_.end(), pc,
                                [](uint64_t address, const MappedCode& code) { return address < code.begin; });
  if (after == code_.begin()) return nullptr;
  const MappedCode& code = *std::prev(after);
  return pc < code.end ? &code : nullptr;
}

std::shared_ptr<const AddressSpace> BuildAddressSpace(const std::vector<Mapping>& mappings, const Memory& memory,
                                                      pid_t pid, const AddressSpace* previous, ModuleCache& modules) {
  return Builder(mappings, memory, pid, previous, modules).Build();
}

absl::StatusOr<std::shared_ptr<const AddressSpace>> LoadAddressSpace(pid_t pid, const AddressSpace* previous,
                                                                     ModuleCache& modules) {
  absl::StatusOr<std::string> text = ReadProcFile(absl::StrCat("/proc/", pid, "/maps"), kMaxMapsBytes);
  if (!text.ok()) return text.status();
  if (text->empty()) return absl::NotFoundError("the process has no memory map");
  absl::StatusOr<std::vector<Mapping>> mappings = ParseMaps(*text);
  if (!mappings.ok()) return mappings.status();
  return BuildAddressSpace(*mappings, ProcessMemory(pid), pid, previous, modules);
}

}  // namespace offcpu

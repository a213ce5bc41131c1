#include "process/address_space.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "os/credentials.h"
#include "os/proc_file.h"
#include "process/debug_file.h"
#include "process/elf/exported_symbols.h"
#include "process/elf/file.h"
#include "process/elf/image.h"
#include "process/elf/moved_text.h"
#include "process/elf/table_sections.h"
#include "process/file_hash.h"
#include "process/module_file.h"

namespace offcpu {
namespace {

constexpr size_t kMaxLoads = 8192;  // of files in one process
// A file whose mappings are no load of it is not asked again and again: there may be tens of thousands.
constexpr size_t kMaxFailures = 256;
constexpr size_t kMaxTexts = 16;  // loads of one file in which the origin of a copy is looked for
constexpr size_t kMaxStatusBytes = 1 << 20;
constexpr std::string_view kVdso = "[vdso]";

bool HasFile(const Mapping& m) { return m.inode != 0 || m.path == kVdso; }

// Executable memory that a program made itself; the kernel's own special mappings have other names.
bool IsAnonymous(const Mapping& m) {
  return m.inode == 0 &&
         (m.path.empty() || m.path == "[heap]" || m.path.starts_with("[stack") || m.path.starts_with("[anon"));
}

// Files that stand for memory: compilers map their output through them, and programs move their text to huge pages.
bool IsMemoryFile(const Mapping& m) {
  return m.path.starts_with("/memfd:") || m.path == "/dev/zero" || m.path == "/anon_hugepage";
}

FileMapping AsFileMapping(const Mapping& m) { return {m.begin, m.end, m.offset, m.executable}; }

class Builder {
 public:
  Builder(const std::vector<Mapping>& mappings, const Memory& memory, pid_t pid, const AddressSpace* previous,
          ModuleCache& modules, Credentials who, const CodeReader& reader)
      : mappings_(mappings),
        memory_(memory),
        pid_(pid),
        previous_(previous),
        modules_(modules),
        who_(std::move(who)),
        reader_(reader) {
    for (const Mapping& m : mappings) {
      if (!HasFile(m)) continue;
      File& file = files_[Key(m)];
      if (file.mappings.size() >= kMaxMappedCode) continue;
      file.mappings.push_back(AsFileMapping(m));
      if (m.executable) file.texts.push_back(&m);
    }
  }

  std::shared_ptr<const AddressSpace> Build() {
    std::vector<MappedCode> code;
    size_t left_out = 0;
    const Mapping* header = nullptr;  // the last mapping below that shows the start of a file, and does not run itself
    for (const Mapping& m : mappings_) {
      if (HasFile(m) && m.offset == 0 && !m.executable) header = &m;
      if (!m.executable) continue;
      if (code.size() >= kMaxMappedCode) {
        ++left_out;
        continue;
      }
      if (HasFile(m)) {
        code.push_back(FileCode(m, header));
      } else if (IsAnonymous(m)) {
        code.push_back(AnonymousCode(m, header));
      }
    }
    if (left_out != 0) modules_.CountLeftOut(left_out);
    if (reader_.read_made != nullptr) reader_.read_made({pid_, memory_, previous_, modules_}, &code);
    code.shrink_to_fit();
    MemoryLease memory = modules_.LeaseFor(who_.uid);
    if (!memory.Grow(code.size() * sizeof(MappedCode))) return nullptr;
    return std::make_shared<AddressSpace>(std::move(code), std::move(memory), /*is_whole=*/left_out == 0);
  }

  // Is what was built of two states? Then a file that was read is not the one of the mappings, which have changed.
  bool is_torn() const { return is_torn_; }

 private:
  using FileKey = std::tuple<uint32_t, uint32_t, uint64_t>;

  // One load of a file.
  struct Load {
    FileKey file;
    ElfHead head;
    std::shared_ptr<const Module> module;
  };

  struct File {
    std::vector<FileMapping> mappings;
    std::vector<const Mapping*> texts;         // that are executable
    std::vector<const Mapping*> loaded;        // of these, once they have been searched, those of loads
    std::shared_ptr<const Module> unreadable;  // stands for all mappings of it that cannot be read
    std::shared_ptr<const CodeObject> other;   // likewise, if it is no ELF object
    size_t failures = 0;                       // of mappings that are no load of it
    bool searched = false;                     // for loads, from a copy of its text
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
    if (known == nullptr || known->object() == nullptr) return nullptr;
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

  MappedCode FileCode(const Mapping& m, const Mapping* header) {
    MappedCode code = Bare(m);
    const Load* load = LoadAround(m);
    if (load == nullptr || load->file != Key(m)) load = LoadOnce(m, Known(code));
    if (load != nullptr) return Of(*load, std::move(code));
    if (std::optional<MappedCode> moved = MovedText(m, header, code)) return *std::move(moved);
    if (IsMemoryFile(m)) return code;
    if (std::optional<MappedCode> copy = CopyOfText(m, code)) return *std::move(copy);
    code.bias = m.begin - m.offset;
    const MappedCode* known = Known(code);
    File& file = files_[Key(m)];
    if (file.unreadable == nullptr && file.other == nullptr) Name(m, known, &file);
    code.module = file.unreadable;
    code.other = file.other;
    return code;
  }

  // A file that cannot be read as an ELF object has one name for all of its mappings.
  void Name(const Mapping& m, const MappedCode* known, File* file) {
    if (known != nullptr && known->module == nullptr && known->other->kind() == CodeKind::kOtherFile) {
      file->other = known->other;
    } else if (known != nullptr && known->module != nullptr && known->module->code.empty()) {
      file->unreadable = known->module;
    } else if (IsOtherFormat(m)) {
      file->other = std::make_shared<CodeObject>(CodeKind::kOtherFile, m.path);
    } else {
      file->unreadable = modules_.Unreadable(m.path);
    }
  }

  // Compilers that run before the program also write files of their own form, and map them. Such a file does not begin
  // as ELF objects do; one whose begin cannot be read may be anything.
  bool IsOtherFormat(const Mapping& m) {
    const std::vector<FileMapping>& file = files_[Key(m)].mappings;
    const auto first = std::find_if(file.begin(), file.end(), [](const FileMapping& part) { return part.offset == 0; });
    std::optional<uint32_t> magic;
    if (first != file.end()) {
      magic = memory_.ReadValue<uint32_t>(first->begin);
    } else if (const OwnedFd opened = pid_ == 0 || m.inode == 0 ? OwnedFd() : OpenMappedFile(pid_, m); opened) {
      magic = FileMemory(opened.get()).ReadValue<uint32_t>(0);
    }
    return magic.has_value() && std::memcmp(&*magic, ELFMAG, SELFMAG) != 0;
  }

  // A program may map a piece of its own text once more, to have it near to code that it makes. It is the same module's
  // code, at another distance from its link-time addresses.
  std::optional<MappedCode> CopyOfText(const Mapping& m, MappedCode code) {
    File& file = files_[Key(m)];
    if (!std::exchange(file.searched, true)) SearchLoads(m, &file);  // there may be hundreds, none of which is a load
    for (const Mapping* text : file.loaded) {
      const bool covers = text->offset <= m.offset && m.end - m.begin <= text->end - text->begin &&
                          m.offset - text->offset <= (text->end - text->begin) - (m.end - m.begin);
      const Load* load = covers ? LoadAround(*text) : nullptr;
      if (load == nullptr) continue;
      code = Of(*load, std::move(code));
      code.bias += m.begin - (text->begin + (m.offset - text->offset));
      return code;
    }
    return std::nullopt;
  }

  // Finds the loads of a file that are known, and one if none is.
  void SearchLoads(const Mapping& copy, File* file) {
    for (const bool may_load : {false, true}) {
      for (const Mapping* text : file->texts) {
        const Load* load = LoadAround(*text);
        if (load != nullptr && load->file != Key(copy)) load = nullptr;
        if (load == nullptr && may_load && text != &copy) load = LoadFile(*text, nullptr);
        if (load != nullptr) file->loaded.push_back(text);
        if (file->loaded.size() >= (may_load ? 1 : kMaxTexts)) return;
      }
      if (!file->loaded.empty()) return;
    }
  }

  // Memory of any kind inside of a module's span may be its text, moved there to be on huge pages. Where all of the
  // text has been moved the module has not been seen yet.
  std::optional<MappedCode> MovedText(const Mapping& m, const Mapping* header, const MappedCode& code) {
    const Load* load = LoadAround(m);
    if (load == nullptr && header != nullptr && header != tried_) {
      tried_ = header;
      LoadFile(*header, Known(code));
      load = LoadAround(m);
    }
    if (load == nullptr || load->file == Key(m)) return std::nullopt;
    if (!IsMovedText(*load->module, memory_, m.begin, m.end, load->head.bias)) return std::nullopt;
    return Of(*load, code);
  }

  MappedCode AnonymousCode(const Mapping& m, const Mapping* header) {
    MappedCode code = Bare(m);
    if (std::optional<MappedCode> moved = MovedText(m, header, code)) return *std::move(moved);
    return code;
  }

  const Load* LoadOnce(const Mapping& m, const MappedCode* known) {
    File& file = files_[Key(m)];
    if (file.failures >= kMaxFailures) return nullptr;
    const Load* load = LoadFile(m, known);
    if (load == nullptr) ++file.failures;
    return load;
  }

  // Null if the file is no ELF object that can be read. `known`: what may be reused if nothing has changed.
  const Load* LoadFile(const Mapping& anchor, const MappedCode* known) {
    if (++attempts_ > kMaxLoads) return nullptr;
    const std::vector<FileMapping>& file = files_[Key(anchor)].mappings;
    absl::StatusOr<ElfHead> head = ReadElfHead(memory_, file, AsFileMapping(anchor));
    if (!head.ok()) return nullptr;
    Load load = {Key(anchor), *std::move(head), nullptr};
    if (known != nullptr && known->module != nullptr && IsSameObject(*known, load.head)) {
      load.module = known->module;
    } else {
      OwnedFd opened = pid_ == 0 || anchor.inode == 0 ? OwnedFd() : OpenMappedFile(pid_, anchor);
      const FileIdentity identity = IdentityOf(opened);  // before it is read: what is written meanwhile changes it
      MemoryLease lease = modules_.LeaseFor(PayerOf(opened, who_.uid));
      absl::StatusOr<ElfImage> image = ReadElfImage(memory_, file, AsFileMapping(anchor), std::move(lease));
      if (!image.ok()) return nullptr;
      if (opened && (IsAnotherFile(opened, anchor) || image->head.hash != load.head.hash ||
                     IsAnotherFile(OpenMappedFile(pid_, anchor), anchor))) {
        is_torn_ = true;
      }
      image->module.path = anchor.path;
      AddFile(std::move(opened), identity, &*image);
      load.head = std::move(image->head);
      load.module = modules_.Intern(std::move(image->module));
    }
    return &loads_.insert_or_assign(load.head.begin, std::move(load)).first->second;
  }

  // Inode numbers are used again, so the place alone does not tell that it is the same object. Nor do its headers: who
  // writes a program anew without a build id may leave them as they were. `known` may be used again if neither they
  // nor the file, if there is one, have changed.
  static bool IsSameObject(const MappedCode& known, const ElfHead& head) {
    const Module& module = *known.module;
    if (module.code.empty() || module.over_budget || known.bias != head.bias || known.head_hash != head.hash) {
      return false;
    }
    return IsUnchanged(module.file, module.identity);
  }

  // Adds what the file says that the memory does not. Where there is no file that says it, the memory names the
  // functions that the object exports.
  void AddFile(OwnedFd file, const FileIdentity& identity, ElfImage* image) const {
    Module& module = image->module;
    module.file = std::move(file);
    module.identity = identity;
    const FileMemory memory(module.file.get());
    module.file_hash = FileHash(module.file);
    if (module.file) AddTableSections(memory, &module, reader_);
    const absl::StatusOr<ElfFile> elf = ElfFile::Parse(memory);
    const bool is_it =
        elf.ok() && !elf->sections().empty() && (module.build_id.empty() || elf->BuildId() == module.build_id);
    if (!is_it) AddExportedSymbols(memory_, image);
    if (is_it) AddDebugFile(*elf, &module);
  }

  void AddDebugFile(const ElfFile& elf, Module* module) const {
    TrustedFile debug = OpenDebugFileOfTarget(pid_, who_, *module, elf);
    module->debug_file = std::move(debug.file);
    module->debug_identity = IdentityOf(module->debug_file);
    module->names_left_out |= !module->debug_file && debug.refusal != FileRefusal::kNone;
  }

  const std::vector<Mapping>& mappings_;
  const Memory& memory_;
  pid_t pid_;
  const AddressSpace* previous_;
  ModuleCache& modules_;
  const Credentials who_;
  const CodeReader reader_;
  absl::flat_hash_map<FileKey, File> files_;
  std::map<uint64_t, Load> loads_;  // by head.begin
  size_t attempts_ = 0;
  const Mapping* tried_ = nullptr;
  bool is_torn_ = false;
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
                                                      pid_t pid, const AddressSpace* previous, ModuleCache& modules,
                                                      uid_t owner, const CodeReader& reader) {
  return Builder(mappings, memory, pid, previous, modules, {.uid = owner}, reader).Build();
}

absl::StatusOr<std::shared_ptr<const AddressSpace>> LoadAddressSpace(pid_t pid, const AddressSpace* previous,
                                                                     ModuleCache& modules, const CodeReader& reader) {
  absl::StatusOr<std::string> text = ReadProcFile(absl::StrCat("/proc/", pid, "/maps"), kMaxMapsBytes);
  if (!text.ok()) return text.status();
  if (text->empty()) return absl::NotFoundError("the process has no memory map");
  absl::StatusOr<std::vector<Mapping>> mappings = ParseMaps(*text);
  if (!mappings.ok()) return mappings.status();
  text->clear();
  text->shrink_to_fit();
  const absl::StatusOr<std::string> status = ReadProcFile(absl::StrCat("/proc/", pid, "/status"), kMaxStatusBytes);
  const std::optional<Credentials> who = status.ok() ? ParseCredentials(*status) : std::nullopt;
  if (!who.has_value()) return absl::NotFoundError("the process has no owner");
  const ProcessMemory memory(pid);
  Builder builder(*mappings, memory, pid, previous, modules, *who, reader);
  auto space = builder.Build();
  if (builder.is_torn()) return absl::AbortedError("the mappings have changed");
  if (space == nullptr) return absl::ResourceExhaustedError("no memory for the mappings of this user's processes");
  return space;
}

}  // namespace offcpu

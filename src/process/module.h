// What offcpu keeps of one ELF object that a target has mapped. Read once from the target's own memory, checked, never
// changed, and shared by every process that maps the same file under the same path; safe to read from any thread.
//
// Names come from that very file, which is held open: symbols are not mapped and are read later, after the target may
// be gone. Tables say the same in whatever file they are, so modules of equal content share them.
#ifndef OFFCPU_PROCESS_MODULE_H_
#define OFFCPU_PROCESS_MODULE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "process/code_object.h"
#include "process/machine.h"

namespace offcpu {

// A table of the object, with the link-time address of its first byte. Empty if the object has none.
struct ModuleTable {
  uint64_t address = 0;
  std::vector<std::byte> bytes;

  bool operator==(const ModuleTable&) const = default;
};

// Link-time addresses [begin, end) of a PT_LOAD that may be executed.
struct CodeRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator==(const CodeRange&) const = default;
};

// Is `address` in one of `ranges`, which are sorted?
inline bool Contains(std::span<const CodeRange> ranges, uint64_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t at, const CodeRange& range) { return at < range.begin; });
  return after != ranges.begin() && address < (after - 1)->end;
}

// Where bytes of the object are in its file.
struct FilePart {
  uint64_t address = 0;  // link-time, of the first
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: nowhere

  bool operator==(const FilePart&) const = default;
};

// A function at which stacks begin or change, which no table says.
struct StackLandmark {
  enum class Kind : uint8_t {
    kBase,          // nobody calls it
    kBaseOfCallee,  // what it has called is the only thing on the stack: a thread begins there, or has left its
                    // caller's stack for good
    kWithoutFrame,  // its return address is at the stack pointer, whatever it has called
    kSwitch,        // what it has called runs on another stack than its caller
  };
  CodeRange code;
  Kind kind = Kind::kBase;

  bool operator==(const StackLandmark&) const = default;
};

class Module : public CodeObject {
 public:
  const Machine* machine = &kHostMachine;  // whose code it is
  std::vector<CodeRange> code;
  // Where a program or a dynamic linker begins, a link-time address; 0 in other libraries, where it has no meaning.
  uint64_t entry = 0;
  ModuleTable eh_frame_hdr;  // PT_GNU_EH_FRAME, with its search table
  ModuleTable eh_frame;      // as far as its entries follow one another, and what the search table names besides
  ModuleTable sframe;        // PT_GNU_SFRAME, else the section of that name; as found, not parsed here
  ModuleTable debug_frame;   // the section of that name of the file, which is not mapped; uncompressed
  // The functions that it exports, if its file has no section headers or cannot be read: see elf/exported_symbols.h.
  ModuleTable dynamic_symbols;
  ModuleTable dynamic_strings;
  ModuleTable text;       // .text, if hardly any table describes it and it is small: see return_path.h
  FilePart text_in_file;  // .text, of which pieces are read from `file` where it is not kept
  // As OpenTelemetry's attribute profile.frame.type has it; a literal.
  std::string_view language = "native";
  // The code keeps a frame pointer wherever it has a frame. So .debug_frame, which may be wrong of callers then, is
  // asked only of code that was interrupted, and where the frame pointer cannot be one.
  bool keeps_frame_pointer = false;
  // Functions that have a frame, which the frame pointer shows, whenever they call another one: see framed_calls.h.
  std::vector<CodeRange> framed;
  // Where everything is as the call left it, though no table says so.
  std::vector<CodeRange> without_frames;
  std::vector<StackLandmark> landmarks;
  // The program headers name a table that could not be read. One says nothing about the other.
  bool damaged_eh_frame = false;
  bool damaged_sframe = false;
  // There was no room for a table, which is then named as damaged: another reading may bring it.
  bool over_budget = false;
  bool too_large = false;  // a table has more than kMaxTableBytes, and not all of it is here
  // What its file lacks of names, where the process that mapped it first has that: see debug_file.h.
  OwnedFd debug_file;
  FileIdentity debug_identity;  // of `debug_file`
  bool names_left_out = false;  // there is one that is not trusted, or there was no room for what is exported
  bool matches_file = false;    // the process has not changed its copies of the tables: they are the file's
  // Has the tables of this one, which are empty here: it was read first, from another file with the same content.
  std::shared_ptr<const Module> same_tables;

  // Makes room for what is read of it; false, which is noted, if there is none.
  [[nodiscard]] bool Afford(size_t bytes) {
    const bool has_room = memory.Grow(bytes);
    over_budget |= !has_room;
    return has_room;
  }

  const Module& tables() const { return same_tables != nullptr ? *same_tables : *this; }
};

// Null unless it is one.
inline const Module* AsModule(const CodeObject* code) {
  return code != nullptr && code->kind() == CodeKind::kElf ? static_cast<const Module*>(code) : nullptr;
}

inline constexpr ModuleTable Module::*kAllModuleTables[] = {
    &Module::eh_frame_hdr,    &Module::eh_frame,        &Module::sframe, &Module::debug_frame,
    &Module::dynamic_symbols, &Module::dynamic_strings, &Module::text};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MODULE_H_

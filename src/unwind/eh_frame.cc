#include "unwind/eh_frame.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "process/elf/eh_frame_hdr.h"
#include "unwind/eh_frame_index.h"

namespace offcpu {
namespace {

// libdw looks for the tables of an ELF object, so one is made around the table: file header, one program header, the
// table itself, and an .eh_frame_hdr whose search table lists the entries that were found good.
struct SearchHeader {
  uint8_t version = 1;
  uint8_t pointer_encoding = DW_EH_PE_udata8;
  uint8_t count_encoding = DW_EH_PE_udata4;
  uint8_t entry_encoding = DW_EH_PE_udata8;
  uint32_t eh_frame_low = 0;  // the address in two halves: it is not aligned
  uint32_t eh_frame_high = 0;
  uint32_t count = 0;
};
struct SearchEntry {
  uint64_t begin = 0;
  uint64_t fde = 0;
};
static_assert(sizeof(SearchHeader) == 16 && sizeof(SearchEntry) == 16);

template <typename T>
void Append(std::vector<std::byte>& image, const T& value) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(&value, 1));
  image.insert(image.end(), bytes.begin(), bytes.end());
}

// The header of the file, and the one of its segment of `size` bytes that is at `offset`, and at the address `address`.
template <typename Header, typename Segment>
void AppendHeaders(const Machine& machine, size_t offset, uint64_t address, size_t size,
                   std::vector<std::byte>* image) {
  Header file = {};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = machine.word_bytes == 8 ? ELFCLASS64 : ELFCLASS32;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_ident[EI_VERSION] = EV_CURRENT;
  file.e_type = ET_DYN;
  file.e_machine = machine.elf_machine;
  file.e_version = EV_CURRENT;
  file.e_phoff = sizeof(Header);
  file.e_ehsize = sizeof(Header);
  file.e_phentsize = sizeof(Segment);
  file.e_phnum = 1;
  Append(*image, file);
  Segment segment = {};
  segment.p_type = PT_GNU_EH_FRAME;
  segment.p_offset = static_cast<decltype(segment.p_offset)>(offset);
  segment.p_vaddr = static_cast<decltype(segment.p_vaddr)>(address);
  segment.p_filesz = segment.p_memsz = static_cast<decltype(segment.p_filesz)>(size);
  Append(*image, segment);
}

// Where the table is in the image.
size_t TableAt(const Machine& machine) {
  const bool is_wide = machine.word_bytes == 8;
  return is_wide ? sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) : sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
}

std::vector<std::byte> MakeImage(const ModuleTable& table, const Machine& machine, const std::vector<FdeSpan>& fdes) {
  // Zeros behind the table end the chain of entries, and libdw may look at a few bytes behind the last one.
  constexpr size_t kTail = 64;
  const bool is_wide = machine.word_bytes == 8;
  const size_t table_at = TableAt(machine);
  const size_t behind = table.bytes.size() + kTail;
  const size_t search_bytes = sizeof(SearchHeader) + fdes.size() * sizeof(SearchEntry);
  std::vector<std::byte> image;
  image.reserve(table_at + behind + search_bytes);
  // As far behind the table as in the image.
  const auto append_headers = is_wide ? AppendHeaders<Elf64_Ehdr, Elf64_Phdr> : AppendHeaders<Elf32_Ehdr, Elf32_Phdr>;
  append_headers(machine, table_at + behind, table.address + behind, search_bytes, &image);
  image.insert(image.end(), table.bytes.begin(), table.bytes.end());
  image.insert(image.end(), kTail, std::byte{0});
  SearchHeader header;
  header.eh_frame_low = static_cast<uint32_t>(table.address);
  header.eh_frame_high = static_cast<uint32_t>(table.address >> 32);
  header.count = static_cast<uint32_t>(fdes.size());
  Append(image, header);
  for (const FdeSpan& fde : fdes) Append(image, SearchEntry{fde.begin, table.address + fde.offset});
  return image;
}

// Are all addresses of the table, and of what is put behind it, those of the machine?
bool FitsMachine(const ModuleTable& table, const Machine& machine, size_t image_bytes) {
  return machine.word_bytes == 8 || table.address + image_bytes <= UINT32_MAX;
}

// The first one that begins behind the address, else the end. Halves without a branch: which half it is cannot be
// foreseen.
const FdeSpan* FirstBehind(const std::vector<FdeSpan>& fdes, uint64_t address) {
  const FdeSpan* at = fdes.data();
  size_t left = fdes.size();
  for (; left > 1; left -= left / 2) at += at[left / 2 - 1].begin <= address ? left / 2 : 0;
  return left == 1 && at->begin <= address ? at + 1 : at;
}

// The one that describes the address, else null.
const FdeSpan* FdeAt(const std::vector<FdeSpan>& fdes, uint64_t address) {
  const FdeSpan* after = FirstBehind(fdes, address);
  return after != fdes.data() && address < after[-1].end ? after - 1 : nullptr;
}

bool FitOffset(uint64_t number, int32_t* offset) {
  const int64_t value = static_cast<int64_t>(number);
  *offset = static_cast<int32_t>(value);
  return *offset == value;
}

// reg + offset
bool IsBase(const Machine& machine, const Dwarf_Op& op, uint8_t* reg, int32_t* offset) {
  const bool numbered = op.atom == DW_OP_bregx;
  if (!numbered && (op.atom < DW_OP_breg0 || op.atom > DW_OP_breg31)) return false;
  const uint64_t number = numbered ? op.number : uint64_t{op.atom} - DW_OP_breg0;
  *reg = static_cast<uint8_t>(number);
  return number < machine.pc && FitOffset(numbered ? op.number2 : op.number, offset);
}

// reg + offset, or *(reg + offset) + addend. What is added may be a number that is pushed first, as SBCL's assembler
// code has it.
bool ToCfaRule(const Machine& machine, std::span<const Dwarf_Op> ops, CfaRule* rule) {
  if (ops.empty() || !IsBase(machine, ops[0], &rule->reg, &rule->offset)) return false;
  rule->deref = ops.size() > 1;
  if (rule->deref && ops[1].atom != DW_OP_deref) return false;
  const bool is_pushed = ops.size() == 4 && ops[2].atom >= DW_OP_lit0 && ops[2].atom <= DW_OP_lit31;
  if (is_pushed) rule->addend = ops[2].atom - DW_OP_lit0;
  if (is_pushed) return ops[3].atom == DW_OP_plus;
  return ops.size() < 3 ||
         (ops.size() == 3 && ops[2].atom == DW_OP_plus_uconst && FitOffset(ops[2].number, &rule->addend));
}

// The rule that GNU ld writes for a whole PLT: a word above sp, and one more behind the word that each block of 16
// bytes pushes.
//   breg(sp) word; breg(pc) 0; lit15; and; lit(offset of what follows the push); ge; lit(3 or 2); shl; plus
bool ToPltRule(const Machine& machine, std::span<const Dwarf_Op> ops, UnwindRow* row) {
  const uint64_t block_bytes = machine.plt_block_bytes;
  const auto operation = [](int atom) { return static_cast<uint8_t>(atom); };
  const std::array<uint8_t, 9> atoms = {operation(DW_OP_breg0 + machine.sp),
                                        operation(DW_OP_breg0 + machine.pc),
                                        operation(DW_OP_lit0 + machine.plt_block_bytes - 1),
                                        DW_OP_and,
                                        0,
                                        DW_OP_ge,
                                        operation(machine.word_bytes == 8 ? DW_OP_lit3 : DW_OP_lit2),
                                        DW_OP_shl,
                                        DW_OP_plus};
  constexpr size_t kLimit = 4;
  if (block_bytes == 0 || ops.size() != atoms.size()) return false;
  if (ops[0].number != machine.word_bytes || ops[1].number != 0) return false;
  for (size_t i = 0; i < atoms.size(); ++i) {
    if (i != kLimit && ops[i].atom != atoms[i]) return false;
  }
  if (ops[kLimit].atom < DW_OP_lit0 || ops[kLimit].atom > DW_OP_lit15) return false;
  const uint64_t pushed_at = ops[kLimit].atom - DW_OP_lit0;
  const uint64_t block = row->begin - row->begin % block_bytes;
  const bool pushed = row->begin - block >= pushed_at;
  const int32_t word = machine.word_bytes;
  row->cfa = {.offset = pushed ? 2 * word : word, .addend = 0, .reg = machine.sp, .deref = false};
  row->end = std::min(row->end, block + (pushed ? block_bytes : pushed_at));
  return true;
}

bool ToValueRule(const Machine& machine, std::span<const Dwarf_Op> ops, ValueRule* rule) {
  if (ops.size() == 1 && ops[0].atom == DW_OP_regx) {
    rule->place = Place::kInRegister;
    rule->reg = static_cast<uint8_t>(ops[0].number);
    return ops[0].number < machine.pc;
  }
  if (ops.empty() || ops.size() > 2 || ops[0].atom != DW_OP_call_frame_cfa) return false;
  rule->place = Place::kAtCfa;
  if (ops.size() == 1) return true;
  if (ops[1].atom == DW_OP_plus_uconst) return FitOffset(ops[1].number, &rule->offset);
  rule->place = Place::kAtRegister;  // an expression, which may ignore the CFA that it is given
  return IsBase(machine, ops[1], &rule->reg, &rule->offset);
}

}  // namespace

struct EhFrameTable::Impl {
  ~Impl() {
    if (cfi != nullptr) dwarf_cfi_end(cfi);
    if (elf != nullptr) elf_end(elf);
  }

  FindOutcome RowAt(uint64_t address, UnwindRow* row);

  const Machine* machine = nullptr;
  std::vector<std::byte> image;
  EhFrameIndex index;
  Elf* elf = nullptr;
  Dwarf_CFI* cfi = nullptr;  // null if there is no entry
  size_t expression_bytes = 0;

 private:
  void CountExpression(size_t operations);
  bool RuleOf(Dwarf_Frame* frame, int reg, ValueRule* rule);
  FindOutcome ToRow(Dwarf_Frame* frame, uint64_t address, UnwindRow* row);
};

// libdw keeps each expression that it was asked for. One that is asked for again counts again, as an entry does.
void EhFrameTable::Impl::CountExpression(size_t operations) {
  constexpr size_t kPerExpression = 96;  // what it is found by, and three allocations
  expression_bytes += operations * sizeof(Dwarf_Op) + kPerExpression;
}

// What libdw says of `reg`. False, and the rule is that of a register that nobody knows: a row cannot hold it.
bool EhFrameTable::Impl::RuleOf(Dwarf_Frame* frame, int reg, ValueRule* rule) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  *rule = ValueRule();
  if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0) return false;
  if (count != 0) {
    if (ops != memory) CountExpression(count);
    if (ToValueRule(*machine, {ops, count}, rule)) return true;
    *rule = ValueRule();
    return false;
  }
  if (ops == nullptr) rule->place = Place::kUnchanged;
  return true;
}

FindOutcome EhFrameTable::Impl::ToRow(Dwarf_Frame* frame, uint64_t address, UnwindRow* row) {
  static constexpr UnwindRow kEmpty;  // copied as a whole: one that is made in place is put together byte by byte
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  *row = kEmpty;
  if (dwarf_frame_info(frame, &begin, &end, &row->signal) < 0 || address >= end) return FindOutcome::kCorrupt;
  row->begin = address;  // libdw's begin is wrong behind a restored state
  row->end = end;
  if (!RuleOf(frame, machine->ra, &row->ra)) return FindOutcome::kExpression;
  if (row->ra.place == Place::kUnchanged) {  // it is still where the call has left it
    if (machine->call_pushes) return FindOutcome::kExpression;
    row->ra = {.offset = 0, .place = Place::kInRegister, .reg = machine->ra};
  }
  RuleOf(frame, machine->fp, &row->fp);
  // Functions preserve it, and tables name it only where it is saved. libdw knows that of rbp, but calls rbx undefined.
  const bool held = RuleOf(frame, machine->extra, &row->extra);
  if (held && row->extra.place == Place::kUndefined) row->extra.place = Place::kUnchanged;
  // An outermost frame needs no CFA, and start code often has none.
  if (row->ra.place == Place::kUndefined) return FindOutcome::kFound;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0) return FindOutcome::kExpression;
  const bool is_plain = count == 0 || (count == 1 && ops->atom == DW_OP_bregx);  // a part of the frame itself
  if (!is_plain) CountExpression(count);
  const bool known = ToCfaRule(*machine, {ops, count}, &row->cfa) || ToPltRule(*machine, {ops, count}, row);
  return known ? FindOutcome::kFound : FindOutcome::kExpression;
}

FindOutcome EhFrameTable::Impl::RowAt(uint64_t address, UnwindRow* row) {
  Dwarf_Frame* frame = nullptr;
  if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) return FindOutcome::kCorrupt;
  const FindOutcome outcome = ToRow(frame, address, row);
  std::free(frame);
  return outcome;
}

EhFrameTable::EhFrameTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EhFrameTable::~EhFrameTable() = default;

std::unique_ptr<EhFrameTable> EhFrameTable::Open(const ModuleTable& table, const Machine& machine,
                                                 const ModuleTable& header) {
  std::optional<EhFrameIndex> index = IndexEhFrame(table, machine, header);
  if (!index) return nullptr;
  auto impl = std::make_unique<Impl>();
  impl->machine = &machine;
  impl->index = *std::move(index);
  if (!impl->index.fdes.empty()) {
    impl->image = MakeImage(table, machine, impl->index.fdes);
    if (!FitsMachine(table, machine, impl->image.size())) return nullptr;
    elf_version(EV_CURRENT);
    impl->elf = elf_memory(reinterpret_cast<char*>(impl->image.data()), impl->image.size());
    if (impl->elf == nullptr) return nullptr;
    impl->cfi = dwarf_getcfi_elf(impl->elf);
    if (impl->cfi == nullptr) return nullptr;
  }
  return std::unique_ptr<EhFrameTable>(new EhFrameTable(std::move(impl)));
}

FindOutcome EhFrameTable::Find(uint64_t address, UnwindRow* row) {
  return FdeAt(impl_->index.fdes, address) != nullptr ? impl_->RowAt(address, row) : FindOutcome::kNotHere;
}

std::optional<bool> EhFrameTable::BeginsSignalFrame(uint64_t address) const {
  const FdeSpan* fde = FdeAt(impl_->index.fdes, address);
  if (fde == nullptr) return std::nullopt;
  return fde->signal && fde->begin == address;
}

CodeRange EhFrameTable::HoleAt(uint64_t address) const {
  const std::vector<FdeSpan>& fdes = impl_->index.fdes;
  const FdeSpan* after = FirstBehind(fdes, address);
  const uint64_t begin = after == fdes.data() ? 0 : after[-1].end;
  if (address < begin) return {};
  return {.begin = begin, .end = after == fdes.data() + fdes.size() ? UINT64_MAX : after->begin};
}

uint64_t EhFrameTable::DescribedBytes() const {
  uint64_t bytes = 0;
  for (const FdeSpan& fde : impl_->index.fdes) bytes += fde.end - fde.begin;
  return bytes;
}

size_t EhFrameTable::bad_entries() const { return impl_->index.bad_entries; }

size_t EhFrameTable::bytes() const {
  return impl_->image.capacity() + impl_->index.fdes.capacity() * sizeof(FdeSpan) + impl_->expression_bytes;
}

size_t EhFrameTable::Estimate(std::span<const std::byte> table, const ModuleTable& header) {
  // An entry of the index twice, for sorting, one of the search table, and what is known of it if it is a CIE.
  constexpr size_t kPerEntry = 2 * sizeof(FdeSpan) + sizeof(SearchEntry) + 48;
  const size_t searched = EhFrameSearch::Of(header).size();
  return table.size() + (CountEntries(table) + searched) * kPerEntry + 4096;
}

}  // namespace offcpu

#include "unwind/sframe_section.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr uint16_t kMagic = 0xdee2;
constexpr uint16_t kReversedMagic = 0xe2de;
constexpr uint64_t kHeaderBytes = 28;
constexpr uint64_t kFunctionBytes = 16;  // an element of the index
constexpr uint64_t kAttributeBytes = 5;  // in front of a function's rows
constexpr uint64_t kSmallestRow = 2;     // one byte of start, one of info
constexpr uint8_t kFlagSorted = 0x1;
constexpr uint8_t kFlagPcRelative = 0x4;
constexpr int kMaxWords = 6;
constexpr int kLargestWord = 4;

// The value at `at`, which must fit.
template <typename T>
T Read(std::span<const std::byte> bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// Null: none whose stacks are walked.
const Machine* MachineOf(uint8_t abi) {
  for (const Machine* machine : {&kX86_64, &kAArch64}) {
    if (machine->sframe_abi == abi) return machine;
  }
  return nullptr;
}

bool MaySignReturnAddresses(const SFrameHeader& header) { return header.machine == &kAArch64; }

SFrameRule AtCfa(int64_t offset) { return {.base = SFrameRule::Base::kCfa, .deref = true, .reg = 0, .offset = offset}; }

// The data words of a row. Offsets are signed; what else they hold is not.
class Words {
 public:
  Words(std::span<const std::byte> bytes, uint64_t at, int size, int count)
      : bytes_(bytes), at_(at), size_(size), left_(count) {}

  int left() const { return left_; }
  int size() const { return size_; }
  // 0 if none is left.
  int64_t TakeOffset() { return Take<int8_t, int16_t, int32_t>(); }
  uint32_t TakeControl() { return static_cast<uint32_t>(Take<uint8_t, uint16_t, uint32_t>()); }

 private:
  template <typename One, typename Two, typename Four>
  int64_t Take() {
    if (left_ == 0) return 0;
    --left_;
    const uint64_t at = at_;
    at_ += static_cast<uint64_t>(size_);
    if (size_ == 1) return Read<One>(bytes_, at);
    return size_ == 2 ? int64_t{Read<Two>(bytes_, at)} : int64_t{Read<Four>(bytes_, at)};
  }

  std::span<const std::byte> bytes_;
  uint64_t at_;
  int size_;
  int left_;
};

// Words in a fixed order; 0 for RA or FP: not saved.
bool TakeDefaultRules(const SFrameHeader& header, bool base_sp, Words& words, SFrameRow* row) {
  row->cfa = {.base = SFrameRule::Base::kRegister,
              .deref = false,
              .reg = base_sp ? header.machine->sp : header.machine->fp,
              .offset = words.TakeOffset()};
  for (auto [fixed, rule] : {std::pair(header.fixed_ra, &row->ra), std::pair(header.fixed_fp, &row->fp)}) {
    const int64_t offset = fixed == 0 ? words.TakeOffset() : 0;
    if (offset != 0) *rule = AtCfa(offset);
  }
  return words.left() == 0;
}

// A control word, and behind it an offset unless it is 0, which stands for no rule: so a rule on the CFA always says
// what lies there.
bool TakeFlexibleRule(Words& words, SFrameRule* rule) {
  const bool given = words.left() != 0;
  const uint32_t control = words.TakeControl();
  if (control == 0) return !given || words.left() != 0;  // nothing pads at the end
  if (words.left() == 0 || (control & 0x4) != 0) return false;
  const bool is_register = (control & 0x1) != 0;
  rule->base = is_register ? SFrameRule::Base::kRegister : SFrameRule::Base::kCfa;
  rule->deref = (control & 0x2) != 0;
  rule->reg = control >> 3;
  rule->offset = words.TakeOffset();
  return is_register || control == 0x2;
}

bool TakeFlexibleRules(Words& words, SFrameRow* row) {
  if (!TakeFlexibleRule(words, &row->cfa) || row->cfa.base != SFrameRule::Base::kRegister) return false;
  const int before_ra = words.left();
  if (!TakeFlexibleRule(words, &row->ra)) return false;
  const bool has_ra = before_ra - words.left() > 1;
  row->doubtful_ra = has_ra && row->ra.deref && words.size() < kLargestWord;
  if (!TakeFlexibleRule(words, &row->fp)) return false;
  return words.left() == 0;
}

absl::Status Damaged(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("SFrame: ", what)); }

absl::Status CheckVersion(std::span<const std::byte> bytes) {
  switch (SFrameVersionOf(bytes)) {
    case SFrameVersion::kV3:
      return absl::OkStatus();
    case SFrameVersion::kNone:
      return Damaged("no header");
    case SFrameVersion::kBigEndian:
      return absl::UnimplementedError("SFrame: big-endian");
    default:
      return absl::UnimplementedError(absl::StrCat("SFrame: version ", std::to_integer<int>(bytes[2])));
  }
}

// Is this machine's return address where it always is?
bool RightFixedRa(const SFrameHeader& header) { return header.fixed_ra == (header.machine->call_pushes ? -8 : 0); }

}  // namespace

SFrameVersion SFrameVersionOf(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) return SFrameVersion::kNone;
  const uint16_t magic = Read<uint16_t>(bytes, 0);
  if (magic == kReversedMagic) return SFrameVersion::kBigEndian;
  if (magic != kMagic) return SFrameVersion::kNone;
  switch (std::to_integer<int>(bytes[2])) {
    case 1:
      return SFrameVersion::kV1;
    case 2:
      return SFrameVersion::kV2;
    case 3:
      return SFrameVersion::kV3;
    default:
      return SFrameVersion::kUnknown;
  }
}

template <typename T>
T SFrameSection::Get(uint64_t at) const {
  return Read<T>(bytes_, at);
}

absl::StatusOr<SFrameSection> SFrameSection::Parse(std::span<const std::byte> bytes, uint64_t address) {
  if (absl::Status version = CheckVersion(bytes); !version.ok()) return version;
  if (bytes.size() < kHeaderBytes) return Damaged("truncated header");
  SFrameSection section;
  section.bytes_ = bytes;
  section.address_ = address;
  const uint8_t flags = section.Get<uint8_t>(3);
  if ((flags & ~kFlagSorted) != kFlagPcRelative) return Damaged("unknown flags");
  SFrameHeader& header = section.header_;
  header.machine = MachineOf(section.Get<uint8_t>(4));
  if (header.machine == nullptr) return Damaged("unknown ABI");
  header.sorted = (flags & kFlagSorted) != 0;
  header.fixed_fp = section.Get<int8_t>(5);
  header.fixed_ra = section.Get<int8_t>(6);
  header.functions = section.Get<uint32_t>(8);
  header.rows = section.Get<uint32_t>(12);
  header.row_bytes = section.Get<uint32_t>(16);
  const uint64_t parts_at = kHeaderBytes + section.Get<uint8_t>(7);
  header.index_at = parts_at + section.Get<uint32_t>(20);
  header.rows_at = parts_at + section.Get<uint32_t>(24);
  if (!RightFixedRa(header)) return Damaged("return address at an unknown place");
  if (header.index_at + kFunctionBytes * header.functions > header.rows_at) return Damaged("functions overlap rows");
  if (section.size() > bytes.size()) return Damaged("truncated");
  section.bytes_ = bytes.first(section.size());
  return section;
}

SFrameFunction SFrameSection::Function(uint32_t number) const {
  SFrameFunction function;
  const uint64_t at = header_.index_at + kFunctionBytes * number;
  function.begin = address_ + at + Get<uint64_t>(at);
  function.size = Get<uint32_t>(at + 8);
  function.damaged = true;
  const uint64_t attributes = Get<uint32_t>(at + 12);
  if (attributes + kAttributeBytes > header_.row_bytes) return function;
  const uint64_t from = header_.rows_at + attributes;
  const uint8_t info = Get<uint8_t>(from + 2);
  const uint8_t info2 = Get<uint8_t>(from + 3);
  const uint8_t block_size = Get<uint8_t>(from + 4);
  const uint8_t start_code = info & 0xf;
  const bool blocks = (info & 0x10) != 0;
  const bool key_b = (info & 0x20) != 0;
  if (start_code > 2 || (info & 0x40) != 0 || info2 > 1 || blocks != (block_size != 0)) return function;
  if (key_b && !MaySignReturnAddresses(header_)) return function;
  const uint16_t rows = Get<uint16_t>(from);
  const uint8_t start_size = static_cast<uint8_t>(1 << start_code);
  if (uint64_t{rows} * (start_size + 1u) > header_.row_bytes - attributes - kAttributeBytes) return function;
  function.rows_at = static_cast<uint32_t>(attributes + kAttributeBytes);
  function.rows = rows;
  function.start_size = start_size;
  function.block_size = block_size;
  function.flexible = info2 == 1;
  function.signal = (info & 0x80) != 0;
  function.key_b = key_b;
  function.damaged = false;
  return function;
}

void SFrameSection::ForEach(absl::FunctionRef<void(uint32_t, const SFrameFunction&)> use) const {
  uint64_t left = std::min<uint64_t>(header_.rows, header_.row_bytes / kSmallestRow);
  for (uint32_t number = 0; number < header_.functions; ++number) {
    SFrameFunction function = Function(number);
    if (function.rows > left) function.damaged = true;
    if (!function.damaged) left -= function.rows;
    use(number, function);
  }
}

SFrameSection::Rows::Rows(const SFrameSection& section, const SFrameFunction& function)
    : section_(section),
      function_(function),
      at_(section.header_.rows_at + function.rows_at),
      left_(function.damaged ? 0u : function.rows),
      damaged_(function.damaged) {}

std::optional<SFrameRow> SFrameSection::Rows::Next() {
  if (left_ == 0) return std::nullopt;
  SFrameRow row;
  damaged_ = !Take(&row);
  left_ = damaged_ ? 0 : left_ - 1;
  return damaged_ ? std::nullopt : std::optional(row);
}

// Goes behind the row. A row may start where the function ends, but not where the next block begins.
template <typename Start>
inline bool SFrameSection::Rows::TakeHead(Head* head) {
  const uint64_t size = section_.bytes_.size();
  if (size - at_ < sizeof(Start) + 1) return false;
  head->start = section_.Get<Start>(at_);
  head->info = section_.Get<uint8_t>(at_ + sizeof(Start));
  head->words_at = at_ + sizeof(Start) + 1;
  const uint64_t word_bytes = static_cast<uint64_t>(head->count()) << head->size_code();
  if (head->count() > kMaxWords || head->size_code() == 3 || size - head->words_at < word_bytes) return false;
  const bool inside = function_.block_size != 0 ? head->start < function_.block_size : head->start <= function_.size;
  if (!inside || head->start < start_) return false;
  if (head->mangled_ra() && !MaySignReturnAddresses(section_.header_)) return false;
  start_ = head->start;
  at_ = head->words_at + word_bytes;
  return true;
}

bool SFrameSection::Rows::TakeAnyHead(Head* head) {
  if (function_.start_size == 1) return TakeHead<uint8_t>(head);
  return function_.start_size == 2 ? TakeHead<uint16_t>(head) : TakeHead<uint32_t>(head);
}

bool SFrameSection::Rows::Take(SFrameRow* row) {
  Head head;
  if (!TakeAnyHead(&head)) return false;
  row->start = head.start;
  row->mangled_ra = head.mangled_ra();
  row->outermost = head.count() == 0;
  if (row->outermost) return true;
  const SFrameHeader& header = section_.header_;
  Words words(section_.bytes_, head.words_at, 1 << head.size_code(), head.count());
  if (header.fixed_ra != 0) row->ra = AtCfa(header.fixed_ra);
  if (header.fixed_fp != 0) row->fp = AtCfa(header.fixed_fp);
  return function_.flexible ? TakeFlexibleRules(words, row)
                            : TakeDefaultRules(header, (head.info & 1) != 0, words, row);
}

}  // namespace offcpu

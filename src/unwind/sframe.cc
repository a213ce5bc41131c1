#include "unwind/sframe.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "unwind/sframe_row.h"

namespace offcpu {
namespace {

constexpr uint64_t kSectionAlign = 8;

bool IsWithin(std::span<const CodeRange> code, const SFrameFunction& function) {
  return std::any_of(code.begin(), code.end(), [&](const CodeRange& range) {
    return function.begin >= range.begin && function.begin < range.end && function.size <= range.end - function.begin;
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<SFrameTable>> SFrameTable::Open(const ModuleTable& table,
                                                               std::span<const CodeRange> code, SFrameAbi abi) {
  std::unique_ptr<SFrameTable> result(new SFrameTable());
  std::span<const std::byte> rest = table.bytes;
  uint64_t address = table.address;
  // What a linker left unused of a table's segment is zeros, and no header. The first one must be there.
  do {
    absl::StatusOr<SFrameSection> section = SFrameSection::Parse(rest, address);
    if (!section.ok()) return section.status();
    if (section->header().abi != abi) return absl::InvalidArgumentError("SFrame: not the ABI of this object");
    if (absl::Status added = result->AddSection(*section, code); !added.ok()) return added;
    const uint64_t size = section->size() + (-section->size() & (kSectionAlign - 1));
    address += size;
    rest = rest.subspan(std::min<uint64_t>(size, rest.size()));
  } while (SFrameVersionOf(rest) != SFrameVersion::kNone);
  result->Sort();
  return result;
}

absl::Status SFrameTable::AddSection(const SFrameSection& section, std::span<const CodeRange> code) {
  if (section.header().functions == 0) return absl::OkStatus();
  if (sections_.size() >= kMaxSFrameSections || section.header().functions > kMaxSFrameFunctions - index_.size()) {
    return absl::ResourceExhaustedError("SFrame: too many functions");
  }
  const uint32_t section_number = static_cast<uint32_t>(sections_.size());
  sections_.push_back(section);
  section.ForEach([&](uint32_t, const SFrameFunction& function) {
    const bool within = IsWithin(code, function);
    if (function.damaged || !within) ++bad_functions_;
    if (!within || function.size == 0) return;  // an empty one may stand where another one begins
    index_.push_back({.function = function, .section = section_number});
  });
  return absl::OkStatus();
}

void SFrameTable::Sort() {
  auto before = [](const Entry& a, const Entry& b) { return a.function.begin < b.function.begin; };
  if (!std::is_sorted(index_.begin(), index_.end(), before)) std::stable_sort(index_.begin(), index_.end(), before);
  uint64_t end = 0;
  std::erase_if(index_, [&](const Entry& entry) {
    const bool overlaps = entry.function.begin < end;
    if (overlaps && !entry.function.damaged) ++bad_functions_;
    if (!overlaps) end = entry.function.begin + entry.function.size;
    return overlaps;
  });
  begins_.reserve(index_.size());
  for (const Entry& entry : index_) begins_.push_back(entry.function.begin);
}

// The function that the address belongs to, else null. Halves without a branch: which half it is cannot be foreseen.
const SFrameTable::Entry* SFrameTable::EntryAt(uint64_t address) const {
  if (begins_.empty() || address < begins_.front()) return nullptr;
  const uint64_t* at = begins_.data();
  for (size_t left = begins_.size(); left > 1; left -= left / 2) at += at[left / 2] <= address ? left / 2 : 0;
  const Entry& entry = index_[static_cast<size_t>(at - begins_.data())];
  return address - entry.function.begin < entry.function.size ? &entry : nullptr;
}

std::optional<bool> SFrameTable::BeginsSignalFrame(uint64_t address) const {
  const Entry* entry = EntryAt(address);
  if (entry == nullptr || entry->function.damaged) return std::nullopt;
  return entry->function.signal && entry->function.begin == address;
}

CodeRange SFrameTable::HoleAt(uint64_t address) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), address);
  CodeRange hole = {.begin = 0, .end = after == begins_.end() ? UINT64_MAX : *after};
  if (after != begins_.begin()) {
    const SFrameFunction& before = index_[static_cast<size_t>(after - begins_.begin()) - 1].function;
    hole.begin = before.begin + before.size;
  }
  return address < hole.begin ? CodeRange() : hole;
}

FindOutcome SFrameTable::Find(uint64_t address, Row* row) {
  const Entry* entry = EntryAt(address);
  if (entry == nullptr) return FindOutcome::kNotHere;
  if (entry->function.damaged) return FindOutcome::kCorrupt;
  Row result;
  const FindOutcome outcome = FindIn(sections_[entry->section], entry->function, address, &result);
  if (outcome == FindOutcome::kFound) *row = result;
  return outcome;
}

// Leaves out rows that others follow which do not start behind `start`, either. False if one is damaged.
bool SFrameTable::SkipTo(uint64_t start, const SFrameSection& section, const SFrameFunction& function,
                         SFrameSection::Rows* rows) {
  using Position = SFrameSection::Rows::Position;
  if (function.rows <= kSFrameRowsPerMark) return true;
  const auto [place, is_new] = marks_.try_emplace(function.begin);
  std::vector<Position>& marks = place->second;
  if (is_new) {
    SFrameSection::Rows all(section, function);
    marks.reserve(function.rows / kSFrameRowsPerMark + 1);
    for (uint32_t number = 0; number < function.rows; ++number) {
      Position mark = all.position();
      const std::optional<SFrameRow> row = all.Next();
      if (!row) break;
      ++rows_read_;
      mark.start = row->start;
      if (number % kSFrameRowsPerMark == 0) marks.push_back(mark);
    }
    if (all.damaged()) marks.clear();
    mark_bytes_ += sizeof(*place) + marks.capacity() * sizeof(Position);
  }
  auto after = std::upper_bound(marks.begin(), marks.end(), start,
                                [](uint64_t at, const Position& mark) { return at < mark.start; });
  if (after != marks.begin()) rows->Seek(*std::prev(after));
  return !marks.empty();
}

// Has the place that `row` names for the frame pointer been part of the frame before?
bool SFrameTable::FpWasInFrame(const SFrameSection& section, const SFrameFunction& function, const Row& row) {
  SFrameSection::Rows rows(section, function);
  for (int left = kMaxEarlierRows; left > 0; --left) {
    const std::optional<SFrameRow> next = rows.Next();
    Row earlier;
    if (!next || function.begin + next->start >= row.begin) return false;
    ++rows_read_;
    if (ToRow(section.header(), function, *next, &earlier) != FindOutcome::kFound) return false;
    if (earlier.fp == row.fp && !IsBelowStack(earlier, earlier.fp)) return true;
  }
  return false;
}

// The last row that starts at or before the address holds until the next one starts.
FindOutcome SFrameTable::FindIn(const SFrameSection& section, const SFrameFunction& function, uint64_t address,
                                Row* row) {
  const uint64_t offset = address - function.begin;
  const uint64_t in_block = function.block_size == 0 ? offset : offset % function.block_size;
  const uint64_t block = address - in_block;
  const uint64_t function_end = function.begin + function.size;
  const uint64_t block_end = function.block_size == 0 ? function_end : block + function.block_size;
  SFrameSection::Rows rows(section, function);
  if (!SkipTo(in_block, section, function, &rows)) return FindOutcome::kCorrupt;
  // No row starts behind the 32 bits of a function's size.
  const SFrameSection::Rows::Search search = rows.SearchFor(static_cast<uint32_t>(in_block));
  rows_read_ += search.read;
  if (rows.damaged()) return FindOutcome::kCorrupt;
  if (function.rows != 0 && !search.last) return FindOutcome::kNotHere;
  SFrameRow found;
  if (search.last) {
    rows.Seek(*search.last);
    if (!rows.Next(&found)) return FindOutcome::kCorrupt;
  }
  const FindOutcome outcome =
      search.last ? ToRow(section.header(), function, found, row) : ToRow(section.header(), function, row);
  row->begin = search.last ? block + found.start : function.begin;
  row->end =
      search.last ? std::min(search.next_start ? block + *search.next_start : block_end, function_end) : function_end;
  if (outcome == FindOutcome::kFound && IsBelowStack(*row, row->fp) && FpWasInFrame(section, function, *row)) {
    row->fp = {.offset = 0, .place = Place::kUnchanged, .reg = 0};
  }
  return outcome;
}

size_t SFrameTable::bytes() const {
  return index_.capacity() * sizeof(Entry) + begins_.capacity() * sizeof(uint64_t) +
         sections_.capacity() * sizeof(SFrameSection) + mark_bytes_;
}

}  // namespace offcpu

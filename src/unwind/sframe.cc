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
                                                               std::span<const CodeRange> code,
                                                               const Machine& machine) {
  std::unique_ptr<SFrameTable> result(new SFrameTable());
  std::span<const std::byte> rest = table.bytes;
  uint64_t address = table.address;
  // What a linker left unused of a table's segment is zeros, and no header. The first one must be there.
  do {
    absl::StatusOr<SFrameSection> section = SFrameSection::Parse(rest, address);
    if (!section.ok()) return section.status();
    if (section->header().machine != &machine) {
      return absl::InvalidArgumentError("SFrame: the table is for another machine");
    }
    if (absl::Status added = result->AddSection(*section, code); !added.ok()) return added;
    const uint64_t size = section->size() + (-section->size() & (kSectionAlign - 1));
    address += size;
    rest = rest.subspan(std::min<uint64_t>(size, rest.size()));
  } while (SFrameVersionOf(rest) != SFrameVersion::kNone);
  result->Sort();
  return result;
}

size_t SFrameTable::Estimate(const ModuleTable& table) {
  std::span<const std::byte> rest = table.bytes;
  size_t functions = 0;
  size_t sections = 0;
  while (SFrameVersionOf(rest) != SFrameVersion::kNone && ++sections <= kMaxSFrameSections) {
    const absl::StatusOr<SFrameSection> section = SFrameSection::Parse(rest, table.address);
    if (!section.ok()) break;
    functions += section->header().functions;
    rest = rest.subspan(std::min<uint64_t>(section->size() + (-section->size() & (kSectionAlign - 1)), rest.size()));
  }
  // While the index grows, and while it is sorted, there are two of it or a little more.
  return std::min(functions, kMaxSFrameFunctions) * (3 * sizeof(Entry) + sizeof(uint64_t)) +
         2 * sections * sizeof(SFrameSection);
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
    if (function.damaged || !within) ++bad_entries_;
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
    if (overlaps && !entry.function.damaged) ++bad_entries_;
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

uint64_t SFrameTable::DescribedBytes() const {
  uint64_t bytes = 0;
  for (const Entry& entry : index_) bytes += entry.function.size;
  return bytes;
}

FindOutcome SFrameTable::Find(uint64_t address, UnwindRow* row) {
  const Entry* described = EntryAt(address);
  if (described == nullptr) return FindOutcome::kNotHere;
  if (described->function.damaged) return FindOutcome::kCorrupt;
  UnwindRow result;
  const FindOutcome outcome = FindIn(index_[static_cast<size_t>(described - index_.data())], address, &result);
  if (outcome == FindOutcome::kFound) *row = result;
  return outcome;
}

void SFrameTable::Add(uint32_t start, FindOutcome outcome, const UnwindRow& row) {
  starts_.push_back(start);
  prepared_.push_back({.cfa = row.cfa, .ra = row.ra, .fp = row.fp, .mangled_ra = row.mangled_ra, .outcome = outcome});
}

// Behind a damaged row nothing is known, nor how far the one before it holds.
void SFrameTable::Prepare(Entry& entry) {
  const SFrameFunction& function = entry.function;
  const SFrameHeader& header = sections_[entry.section].header();
  const size_t needed = std::max<size_t>(function.rows, 1) + 1;
  if (starts_.size() + needed > kMaxSFramePrepared) {
    starts_.clear();
    prepared_.clear();
    for (Entry& other : index_) other.prepared = kNotPrepared;
  }
  const size_t begin = starts_.size();
  SFrameSection::Rows rows(sections_[entry.section], function);
  while (const std::optional<SFrameRow> from = rows.Next()) {
    ++rows_read_;
    UnwindRow row;
    const FindOutcome outcome = ToRow(header, function, *from, &row);
    Add(from->start, outcome, row);
  }
  UnwindRow row;
  if (function.rows == 0) Add(0, FindOutcome::kFound, RowlessRow(header, function));
  if (rows.damaged()) {
    if (starts_.size() == begin) Add(0, FindOutcome::kCorrupt, row);
    prepared_.back().outcome = FindOutcome::kCorrupt;
  }
  entry.prepared = static_cast<uint32_t>(begin);
  entry.count = static_cast<uint32_t>(starts_.size() - begin);
  Add(function.block_size != 0 ? function.block_size : function.size, FindOutcome::kCorrupt, row);
}

// The last row that starts at or before the address holds until the next one starts. Halves without a branch, as above.
FindOutcome SFrameTable::FindIn(Entry& entry, uint64_t address, UnwindRow* row) {
  if (entry.prepared == kNotPrepared) Prepare(entry);
  const SFrameFunction& function = entry.function;
  const uint64_t offset = address - function.begin;
  const uint64_t in_block = function.block_size == 0 ? offset : offset % function.block_size;
  const uint64_t block = address - in_block;
  const uint32_t* const starts = &starts_[entry.prepared];
  if (in_block < *starts) return FindOutcome::kNotHere;
  const uint32_t* at = starts;
  for (uint32_t left = entry.count; left > 1; left -= left / 2) at += at[left / 2] <= in_block ? left / 2 : 0;
  const uint32_t number = static_cast<uint32_t>(at - starts);
  const Prepared& found = prepared_[entry.prepared + number];
  row->begin = block + at[0];
  row->end = std::min(block + at[1], function.begin + function.size);
  row->cfa = found.cfa;
  row->ra = found.ra;
  row->fp = found.fp;
  row->extra = {};
  row->signal = function.signal;
  row->mangled_ra = found.mangled_ra;
  row->source = FrameSource::kSFrame;
  return found.outcome;
}

size_t SFrameTable::bytes() const {
  return index_.capacity() * sizeof(Entry) + begins_.capacity() * sizeof(uint64_t) +
         sections_.capacity() * sizeof(SFrameSection) + starts_.capacity() * sizeof(uint32_t) +
         prepared_.capacity() * sizeof(Prepared);
}

}  // namespace offcpu

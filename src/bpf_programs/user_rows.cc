#include "bpf_programs/user_rows.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>

namespace offcpu {
namespace {

constexpr int64_t kWord = 8;
constexpr uint32_t kVersionUnit = 4;

uint64_t WordOf(UserRow::Cfa cfa) {
  switch (cfa) {
    case UserRow::Cfa::kStackPointer:
      return WIRE_CFA_SP;
    case UserRow::Cfa::kFramePointer:
      return WIRE_CFA_FP;
    case UserRow::Cfa::kNone:
      return WIRE_CFA_NONE;
    case UserRow::Cfa::kContext:
      return WIRE_CFA_CONTEXT;
  }
  return WIRE_CFA_NONE;
}

uint64_t WordOf(UserRow::FramePointer fp) {
  switch (fp) {
    case UserRow::FramePointer::kSame:
      return WIRE_FP_SAME;
    case UserRow::FramePointer::kAtCfa:
      return WIRE_FP_AT_CFA;
    case UserRow::FramePointer::kLost:
      return WIRE_FP_LOST;
  }
  return WIRE_FP_LOST;
}

// So many bits of an offset; nothing if it has no such form.
std::optional<uint64_t> PackOffset(int64_t offset, int bits) {
  const int64_t limit = kWord << (bits - 1);
  if (offset % kWord != 0 || offset < -limit || offset >= limit) return std::nullopt;
  return static_cast<uint64_t>(offset / kWord) & ((uint64_t{1} << bits) - 1);
}

// Those of where the return address is, which need not be said where calls push it.
std::optional<uint64_t> PackReturnAddress(int64_t offset) {
  if constexpr (WIRE_ROW_RA_BITS != 0) return PackOffset(offset, WIRE_ROW_RA_BITS);
  return offset == -kWord ? std::optional<uint64_t>(0) : std::nullopt;
}

void Store(uint64_t& place, uint64_t value) { std::atomic_ref(place).store(value, std::memory_order_release); }

}  // namespace

uint64_t PackUserRow(const UserRow& row) {
  const std::optional<uint64_t> cfa = PackOffset(row.cfa_offset, WIRE_ROW_CFA_BITS);
  const std::optional<uint64_t> fp = PackOffset(row.fp_offset, WIRE_ROW_FP_BITS);
  const std::optional<uint64_t> ra = PackReturnAddress(row.ra_offset);
  if (!cfa || !fp || !ra) return 0;
  const uint64_t guess = row.is_guess ? WIRE_ROW_GUESS : 0;
  const uint64_t kept_sp = row.keeps_sp ? WIRE_ROW_KEPT_SP : 0;
  uint64_t shown = 0;
  for (size_t i = 0; i < row.shown.size(); ++i) {
    if (row.shown[i] >> WIRE_ROW_SHOWN_BITS != 0) return 0;
    shown |= uint64_t{row.shown[i]} << (WIRE_ROW_SHOWN_SHIFT + i * WIRE_ROW_SHOWN_BITS);
  }
  return WIRE_ROW_SET | guess | kept_sp | shown | *ra << WIRE_ROW_RA_SHIFT | *fp << WIRE_ROW_FP_SHIFT |
         *cfa << WIRE_ROW_CFA_SHIFT | WordOf(row.fp) << 2 | WordOf(row.cfa);
}

uint64_t PackVersionRow(const UserRow& row) {
  const uint64_t offset = row.version_offset / kVersionUnit;
  if (row.version_address >> WIRE_VERSION_ADDRESS_BITS != 0 || offset >> WIRE_VERSION_OFFSET_BITS != 0 ||
      row.version_offset % kVersionUnit != 0)
    return 0;
  return WIRE_ROW_SET | WIRE_ROW_VERSIONED | offset << WIRE_VERSION_ADDRESS_BITS | row.version_address;
}

void UserRowTables::Tell(const ToldWalk& walk) {
  const auto is_packed = [](const UserRow& row) {
    return PackUserRow(row) != 0 && (row.version == 0 || PackVersionRow(row) != 0);
  };
  if (!std::all_of(walk.rows.begin(), walk.rows.end(), is_packed)) return;
  const uint64_t begin = wire_user_rows_begin(key_, walk.code_hash);
  for (const UserRow& row : walk.rows) {
    PutRow(wire_user_row_key(begin ^ row.version, row.lookup_pc), PackUserRow(row));
    if (row.version != 0) PutRow(wire_user_row_key(begin, row.lookup_pc), PackVersionRow(row));
  }
  PutStack(walk.stack_id);
}

// Between the two stores the place has no row: its check is none of a key that is in use.
void UserRowTables::PutRow(uint64_t key, uint64_t row) {
  auto& places = rows_[wire_bucket(key, static_cast<uint32_t>(rows_.size()))].rows;
  const auto has_key = [key](const wire_user_row& place) { return (place.check ^ place.row) == key; };
  const auto is_free = [](const wire_user_row& place) { return place.row == 0; };
  auto* place = std::find_if(std::begin(places), std::end(places), has_key);
  if (place == std::end(places)) place = std::find_if(std::begin(places), std::end(places), is_free);
  if (place == std::end(places)) place = &places[next_++ % WIRE_BUCKET_ROWS];
  if (place->row == row && has_key(*place)) return;
  if (is_free(*place)) ++row_count_;
  Store(place->row, 0);
  Store(place->check, key ^ row);
  Store(place->row, row);
}

void UserRowTables::PutStack(uint64_t id) {
  auto& ids = stacks_[wire_bucket(id, static_cast<uint32_t>(stacks_.size()))].ids;
  auto* place = std::find(std::begin(ids), std::end(ids), id);
  if (place == std::end(ids)) place = std::find(std::begin(ids), std::end(ids), uint64_t{0});
  if (place == std::end(ids)) place = &ids[next_++ % WIRE_BUCKET_STACKS];
  if (*place == 0) ++stack_count_;
  Store(*place, id);
}

void UserRowTables::Clear() {
  for (wire_user_stack_bucket& bucket : stacks_) {
    for (uint64_t& id : bucket.ids) Store(id, 0);
  }
  for (wire_user_row_bucket& bucket : rows_) {
    for (wire_user_row& place : bucket.rows) Store(place.row, 0);
  }
  row_count_ = stack_count_ = 0;
}

}  // namespace offcpu

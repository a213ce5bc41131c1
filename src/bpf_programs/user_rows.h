// What the BPF programs walk user stacks by: rows, each for one address of one version of the code, and the ids of
// stacks that are known. Both are tables that the BPF programs read while they are written; a place that is taken
// twice has what came last.
//
// The caller maps the tables. One thread writes. Does not walk, and does not know where rows come from.
#ifndef OFFCPU_BPF_PROGRAMS_USER_ROWS_H_
#define OFFCPU_BPF_PROGRAMS_USER_ROWS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpf/wire.h"

namespace offcpu {

// How a frame's caller is found. Offsets in bytes.
struct UserRow {
  // Where a frame pointer leads on, one of 0 ends the walk. None: it ends here. Context: a signal trampoline's, at the
  // stack pointer.
  enum class Cfa : uint8_t { kStackPointer, kFramePointer, kNone, kContext };
  enum class FramePointer : uint8_t { kSame, kAtCfa, kLost };

  uint64_t lookup_pc = 0;  // address in the process of the leaf, or of the byte before a return address
  Cfa cfa = Cfa::kStackPointer;
  int64_t cfa_offset = 0;
  FramePointer fp = FramePointer::kSame;  // the caller's
  int64_t fp_offset = 0;                  // from the CFA
  int64_t ra_offset = -8;                 // likewise; 0: the return address is in the register that calls leave it in
  bool is_guess = false;  // the walk ends, and its name is as one that was cut, where there can be no frame

  // Where the process has made the code: see wire.h.
  uint64_t version = 0;  // 0: the code is mapped
  uint64_t version_address = 0;
  uint32_t version_offset = 0;  // in bytes
  std::array<uint8_t, WIRE_SHOWN_WORDS> shown = {};
  bool keeps_sp = false;

  bool operator==(const UserRow&) const = default;
};

// A stack that was walked to its end, and the rows by which.
struct ToldWalk {
  uint64_t code_hash = 0;
  uint64_t stack_id = 0;
  std::vector<UserRow> rows;
};

// The word of a row; 0: it has no such form.
uint64_t PackUserRow(const UserRow& row);
// The word that says where the version of a row's code lies; 0 likewise.
uint64_t PackVersionRow(const UserRow& row);

class UserRowTables {
 public:
  // The number of buckets of each is a power of two.
  UserRowTables(const wire_hash_key& key, std::span<wire_user_row_bucket> rows,
                std::span<wire_user_stack_bucket> stacks)
      : key_(key), rows_(rows), stacks_(stacks) {}

  // Rows first, so that a stack which is known can be walked. Tells nothing of a walk with a row that has no words.
  void Tell(const ToldWalk& walk);
  // Forgets all that Tell has told.
  void Clear();
  // How many there are. Any thread.
  size_t rows() const { return row_count_; }
  size_t stacks() const { return stack_count_; }

 private:
  void PutRow(uint64_t key, uint64_t row);
  void PutStack(uint64_t id);

  const wire_hash_key key_;
  std::span<wire_user_row_bucket> rows_;
  std::span<wire_user_stack_bucket> stacks_;
  std::atomic<size_t> row_count_{0};
  std::atomic<size_t> stack_count_{0};
  size_t next_ = 0;  // whose place is taken where there is no free one
};

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_USER_ROWS_H_

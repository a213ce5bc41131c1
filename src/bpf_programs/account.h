// The account that the BPF programs keep of a thread for the ledger. Decoding is a pure function of bytes; needs no
// libbpf.
#ifndef OFFCPU_BPF_PROGRAMS_ACCOUNT_H_
#define OFFCPU_BPF_PROGRAMS_ACCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "process/identity.h"
#include "profile/ledger.h"

namespace offcpu {

// When a recording began and ended, on the scheduler's clock.
struct RecordedSpan {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

// Where the time of one thread under one program went. Instants are of the scheduler's clock.
struct ThreadAccount {
  ProcessKey process;
  int32_t tid = 0;
  std::string comm;
  bool is_new = false;         // it has not run yet since it was made
  uint64_t since_ns = 0;       // 0: since recording began
  uint64_t until_ns = 0;       // 0: it went on at the end; then its last stretch is not in the sums
  uint64_t arrived_ns = 0;     // when it came to a CPU last
  uint64_t out_ns = 0;         // when it left it; 0: it is on one, or has never been
  uint64_t not_booked_ns = 0;  // that it has been charged for since it came
  // The sums; of `lost_ns` what the programs know.
  uint64_t on_cpu_ns = 0;
  uint64_t stolen_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  std::array<uint64_t, kLostTimeCount> lost_ns = {};
};

// Nothing if `record` is no account.
std::optional<ThreadAccount> DecodeAccount(std::span<const std::byte> record);
// As many whole ones as there are.
std::vector<ThreadAccount> DecodeAccounts(std::span<const std::byte> bytes);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_ACCOUNT_H_

#include "bpf_programs/account.h"

#include <algorithm>
#include <cstring>

#include "bpf/wire.h"
#include "bpf_programs/wire_names.h"

namespace offcpu {
namespace {

static_assert(static_cast<uint32_t>(LostTime::kRingFull) == WIRE_COUNT_INTERVAL_RING_FULL);
static_assert(static_cast<uint32_t>(LostTime::kRingBusy) == WIRE_COUNT_INTERVAL_RING_BUSY);
static_assert(static_cast<uint32_t>(LostTime::kBelowMinWait) == WIRE_COUNT_BELOW_MIN_WAIT);
static_assert(static_cast<uint32_t>(LostTime::kAboveMaxWait) == WIRE_COUNT_ABOVE_MAX_WAIT);
static_assert(static_cast<uint32_t>(LostTime::kOtherKind) == WIRE_COUNT_OTHER_KIND);
static_assert(static_cast<uint32_t>(LostTime::kNotSelected) == WIRE_COUNT_JOINED_AWAY);
static_assert(WIRE_LOSSES <= kLostTimeCount);

}  // namespace

std::optional<ThreadAccount> DecodeAccount(std::span<const std::byte> record) {
  wire_account wire;
  if (record.size() < sizeof(wire)) return std::nullopt;
  std::memcpy(&wire, record.data(), sizeof(wire));
  if (wire.type != WIRE_ACCOUNT) return std::nullopt;
  ThreadAccount account{.process = KeyOf(wire.process),
                        .tid = static_cast<int32_t>(wire.process.tid),
                        .comm = std::string(wire.comm, strnlen(wire.comm, sizeof(wire.comm))),
                        .is_new = wire.is_new != 0,
                        .since_ns = wire.since_ns,
                        .until_ns = wire.until_ns,
                        .arrived_ns = wire.arrived_ns,
                        .out_ns = wire.out_ns,
                        .not_booked_ns = wire.charged_ns > wire.exec_ns ? wire.charged_ns - wire.exec_ns : 0,
                        .on_cpu_ns = wire.on_cpu_ns,
                        .stolen_ns = wire.stolen_ns,
                        .blocked_ns = wire.blocked_ns,
                        .runnable_ns = wire.runnable_ns};
  std::copy(std::begin(wire.lost_ns), std::end(wire.lost_ns), account.lost_ns.begin());
  return account;
}

std::vector<ThreadAccount> DecodeAccounts(std::span<const std::byte> bytes) {
  std::vector<ThreadAccount> accounts;
  for (; bytes.size() >= sizeof(wire_account); bytes = bytes.subspan(sizeof(wire_account))) {
    if (std::optional<ThreadAccount> account = DecodeAccount(bytes)) accounts.push_back(*std::move(account));
  }
  return accounts;
}

}  // namespace offcpu

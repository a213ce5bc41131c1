#include "bpf_programs/account.h"

#include <cstring>

#include "bpf/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

wire_account Wire() {
  wire_account wire = {.type = WIRE_ACCOUNT,
                       .process = {.start_ns = 1, .exec_id = 2, .tgid = 10, .tid = 11},
                       .since_ns = 100,
                       .until_ns = 200,
                       .on_cpu_ns = 1,
                       .stolen_ns = 2,
                       .blocked_ns = 3,
                       .runnable_ns = 4,
                       .lost_ns = {10, 11, 12, 13, 14, 15},
                       .arrived_ns = 150,
                       .out_ns = 160,
                       .exec_ns = 1'000,
                       .charged_ns = 1'030};
  std::memcpy(wire.comm, "sixteen bytes ok", sizeof(wire.comm));  // no NUL behind it
  return wire;
}

template <typename T>
std::vector<std::byte> BytesOf(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

TEST(AccountTest, Decodes) {
  const std::optional<ThreadAccount> account = DecodeAccount(BytesOf(Wire()));
  ASSERT_TRUE(account.has_value());
  EXPECT_EQ(account->process, (ProcessKey{.pid = 10, .start_ns = 1, .exec_id = 2}));
  EXPECT_EQ(account->tid, 11);
  EXPECT_EQ(account->comm, "sixteen bytes ok");
  EXPECT_FALSE(account->is_new);
  EXPECT_EQ(account->since_ns, 100u);
  EXPECT_EQ(account->until_ns, 200u);
  EXPECT_EQ(account->arrived_ns, 150u);
  EXPECT_EQ(account->out_ns, 160u);
  EXPECT_EQ(account->not_booked_ns, 30u);
  EXPECT_EQ(account->on_cpu_ns, 1u);
  EXPECT_EQ(account->stolen_ns, 2u);
  EXPECT_EQ(account->blocked_ns, 3u);
  EXPECT_EQ(account->runnable_ns, 4u);
  EXPECT_EQ(account->lost_ns[static_cast<size_t>(LostTime::kRingFull)], 10u);
  EXPECT_EQ(account->lost_ns[static_cast<size_t>(LostTime::kBelowMinWait)], 12u);
  EXPECT_EQ(account->lost_ns[static_cast<size_t>(LostTime::kNotSelected)], 15u);
  EXPECT_EQ(account->lost_ns[static_cast<size_t>(LostTime::kQueueFull)], 0u);
}

TEST(AccountTest, ChargesNeverGoBack) {
  wire_account wire = Wire();
  wire.charged_ns = wire.exec_ns - 1;
  EXPECT_EQ(DecodeAccount(BytesOf(wire))->not_booked_ns, 0u);
}

TEST(AccountTest, RefusesWhatIsNone) {
  std::vector<std::byte> bytes = BytesOf(Wire());
  bytes.pop_back();
  EXPECT_FALSE(DecodeAccount(bytes).has_value());
  wire_account wire = Wire();
  wire.type = WIRE_INTERVAL;
  EXPECT_FALSE(DecodeAccount(BytesOf(wire)).has_value());
}

TEST(AccountTest, TakesWholeOnesOnly) {
  std::vector<std::byte> bytes = BytesOf(Wire());
  const std::vector<std::byte> one = bytes;
  bytes.insert(bytes.end(), one.begin(), one.end());
  EXPECT_THAT(DecodeAccounts(bytes), SizeIs(2));
  bytes.pop_back();
  EXPECT_THAT(DecodeAccounts(bytes), SizeIs(1));
  EXPECT_THAT(DecodeAccounts({}), IsEmpty());
}

}  // namespace
}  // namespace offcpu

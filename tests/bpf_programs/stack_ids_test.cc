#include "bpf_programs/stack_ids.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace offcpu {
namespace {

constexpr wire_hash_key kKey = {.low = 5, .high = 6};
constexpr uint64_t kCodeHash = 77;
const std::vector<uint64_t> kAddresses = {1, 2};

TEST(StackIds, TellAddressesTheirOrderAndTheCodeApart) {
  const std::vector<uint64_t> turned = {2, 1};
  const std::vector<uint64_t> leaf = {1};
  EXPECT_EQ(UserStackId(kKey, kCodeHash, kAddresses), UserStackId(kKey, kCodeHash, kAddresses));
  EXPECT_NE(UserStackId(kKey, kCodeHash, kAddresses), UserStackId(kKey, kCodeHash, turned));
  EXPECT_NE(UserStackId(kKey, kCodeHash, kAddresses), UserStackId(kKey, kCodeHash, leaf));
  EXPECT_NE(UserStackId(kKey, kCodeHash, kAddresses), UserStackId(kKey, kCodeHash + 1, kAddresses));
  EXPECT_NE(KernelStackId(kKey, kAddresses), KernelStackId(kKey, turned));
  EXPECT_NE(KernelStackId(kKey, kAddresses), KernelStackId(kKey, leaf));
}

// The same words: the code's hash is what a frame of the kernel would be.
TEST(StackIds, TellUsersStacksFromTheKernels) {
  const std::vector<uint64_t> with_code = {kCodeHash, 1, 2};
  EXPECT_NE(UserStackId(kKey, kCodeHash, kAddresses), KernelStackId(kKey, with_code));
}

TEST(StackIds, AreOthersUnderAnotherKey) {
  for (const wire_hash_key& other : {wire_hash_key{.low = 4, .high = 6}, wire_hash_key{.low = 5, .high = 7}}) {
    EXPECT_NE(UserStackId(kKey, kCodeHash, kAddresses), UserStackId(other, kCodeHash, kAddresses));
    EXPECT_NE(KernelStackId(kKey, kAddresses), KernelStackId(other, kAddresses));
  }
}

TEST(StackIds, EachKeyIsNewInBothHalves) {
  const absl::StatusOr<wire_hash_key> first = NewHashKey();
  const absl::StatusOr<wire_hash_key> second = NewHashKey();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->low, second->low);
  EXPECT_NE(first->high, second->high);
}

}  // namespace
}  // namespace offcpu

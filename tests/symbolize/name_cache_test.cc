#include "symbolize/name_cache.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

class NameCacheTest : public ::testing::Test {
 protected:
  std::shared_ptr<CodeObject> module_ = std::make_shared<CodeObject>(CodeKind::kOtherFile);
  NameCache cache_{1 << 20};
};

TEST_F(NameCacheTest, KnowsWhatWasPutThere) {
  cache_.Add(module_, 16, {.name = "main", .named = true});
  cache_.AddKernel(16, "schedule");
  ASSERT_NE(cache_.Find(*module_, 16), nullptr);
  EXPECT_EQ(cache_.Find(*module_, 16)->name, "main");
  EXPECT_TRUE(cache_.Find(*module_, 16)->named);
  EXPECT_EQ(cache_.Find(*module_, 17), nullptr);
  EXPECT_EQ(cache_.Find(CodeObject(CodeKind::kOtherFile), 16), nullptr);
  ASSERT_NE(cache_.FindKernel(16), nullptr);
  EXPECT_EQ(*cache_.FindKernel(16), "schedule");
}

TEST_F(NameCacheTest, ForgetsModulesThatNobodyHolds) {
  auto other = std::make_shared<CodeObject>(CodeKind::kOtherFile);
  const CodeObject* const gone = other.get();
  cache_.Add(module_, 16, {.name = "main"});
  const size_t bytes = cache_.bytes();
  cache_.Add(other, 16, {.name = "other"});
  other.reset();
  cache_.Begin("");
  EXPECT_EQ(cache_.Find(*gone, 16), nullptr);
  EXPECT_NE(cache_.Find(*module_, 16), nullptr);
  EXPECT_EQ(cache_.bytes(), bytes);
}

TEST_F(NameCacheTest, ForgetsTheKernelsNamesWhenItsModulesChange) {
  cache_.Begin("ext4 0x1000");
  cache_.AddKernel(16, "ext4_read");
  cache_.Begin("ext4 0x1000");
  EXPECT_NE(cache_.FindKernel(16), nullptr);
  cache_.Begin("xfs 0x1000");
  EXPECT_EQ(cache_.FindKernel(16), nullptr);
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(NameCacheTest, DoesNotKeepWhatMayHaveAnotherNameTomorrow) {
  module_ = std::make_shared<CodeObject>(CodeKind::kPerfMap);
  cache_.Add(module_, 16, {.name = "jitted"});
  cache_.AddKernel(16, "bpf_prog_1234");
  EXPECT_EQ(cache_.Find(*module_, 16), nullptr);
  EXPECT_EQ(cache_.FindKernel(16), nullptr);
}

TEST_F(NameCacheTest, HoldsNoMoreThanItMay) {
  NameCache small(1000);
  const std::string name(100, 'a');
  for (uint64_t address = 0; address < 1000; ++address) {
    small.Add(module_, address, {.name = name, .named = true});
    small.AddKernel(address, name);
    EXPECT_LE(small.bytes(), 1000u);
    EXPECT_NE(small.FindKernel(address), nullptr);
  }
}

TEST_F(NameCacheTest, ANameThatIsThereIsNotCountedTwice) {
  cache_.Add(module_, 16, {.name = "main"});
  cache_.AddKernel(16, "schedule");
  const size_t bytes = cache_.bytes();
  cache_.Add(module_, 16, {.name = "main"});
  cache_.AddKernel(16, "schedule");
  EXPECT_EQ(cache_.bytes(), bytes);
}

}  // namespace
}  // namespace offcpu

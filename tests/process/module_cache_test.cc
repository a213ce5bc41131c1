#include "process/module_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace offcpu {
namespace {

Module Make(uint8_t content, size_t bytes = 10) {
  Module module;
  module.path = "/lib/x.so";
  module.code = {{0x1000, 0x2000}};
  module.eh_frame.address = 0x400;
  module.eh_frame.bytes.assign(bytes, std::byte{content});
  return module;
}

TEST(ModuleCacheTest, SameBytesAreOneModule) {
  ModuleCache cache;
  auto a = cache.Intern(Make(1));
  auto b = cache.Intern(Make(1));
  auto c = cache.Intern(Make(2));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(cache.stats().modules, 2u);
  EXPECT_EQ(cache.stats().table_bytes, 20u);
  EXPECT_EQ(cache.stats().shared, 1u);
}

TEST(ModuleCacheTest, EveryByteCounts) {
  ModuleCache cache;
  std::vector<std::shared_ptr<const Module>> all = {cache.Intern(Make(1))};
  auto expect_new = [&](Module module) {
    all.push_back(cache.Intern(std::move(module)));
    for (size_t i = 0; i + 1 < all.size(); ++i) EXPECT_NE(all[i], all.back()) << all.size();
  };
  Module m = Make(1);
  m.build_id = "00";
  expect_new(std::move(m));
  m = Make(1);
  m.entry = 1;
  expect_new(std::move(m));
  m = Make(1);
  m.code[0].end = 0x2001;
  expect_new(std::move(m));
  m = Make(1);
  m.eh_frame.address = 0x401;
  expect_new(std::move(m));
  m = Make(1);
  std::swap(m.eh_frame, m.sframe);
  expect_new(std::move(m));
  m = Make(1);
  std::swap(m.eh_frame, m.eh_frame_hdr);
  expect_new(std::move(m));
  m = Make(1);
  m.is_go = true;
  expect_new(std::move(m));
  m = Make(1);
  m.go_without_frames = {{0x1000, 0x1010}};
  expect_new(std::move(m));
  m = Make(1);
  std::swap(m.eh_frame, m.debug_frame);
  expect_new(std::move(m));
}

TEST(ModuleCacheTest, KnowsOnlyThoseInUse) {
  std::optional<ModuleCache> cache(std::in_place);
  auto a = cache->Intern(Make(1));
  a.reset();
  EXPECT_EQ(cache->stats().modules, 0u);
  EXPECT_EQ(cache->stats().table_bytes, 0u);
  a = cache->Intern(Make(1));
  cache.reset();
  EXPECT_EQ(a->eh_frame.bytes.size(), 10u) << "outlives the cache";
}

TEST(ModuleCacheTest, LimitOfModules) {
  ModuleCache cache({.modules = 2, .table_bytes = 1000, .files = 10});
  auto a = cache.Intern(Make(1));
  auto b = cache.Intern(Make(2));
  auto c = cache.Intern(Make(3));
  EXPECT_FALSE(b->code.empty());
  EXPECT_TRUE(c->code.empty() && c->eh_frame.bytes.empty());
  EXPECT_EQ(c->path, "/lib/x.so");
  EXPECT_EQ(cache.stats().over_limit, 1u);
  EXPECT_EQ(cache.Intern(Make(1)), a) << "what is there may be had at the limit";
  b.reset();
  EXPECT_FALSE(cache.Intern(Make(3))->code.empty());
}

TEST(ModuleCacheTest, LimitOfBytes) {
  ModuleCache cache({.modules = 10, .table_bytes = 100, .files = 10});
  auto a = cache.Intern(Make(1, 60));
  auto b = cache.Intern(Make(2, 40));
  EXPECT_FALSE(b->code.empty());
  EXPECT_EQ(cache.stats().table_bytes, 100u);
  EXPECT_TRUE(cache.Intern(Make(3, 1))->code.empty());
  EXPECT_EQ(cache.stats().over_limit, 1u);
}

TEST(ModuleCacheTest, LimitOfFiles) {
  ModuleCache cache({.modules = 10, .table_bytes = 1000, .files = 1});
  auto with_file = [](uint8_t content) {
    Module module = Make(content);
    module.file = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return module;
  };
  EXPECT_TRUE(cache.WantsFile());
  auto a = cache.Intern(with_file(1));
  EXPECT_TRUE(a->file);
  EXPECT_FALSE(cache.WantsFile());
  auto b = cache.Intern(with_file(2));
  EXPECT_FALSE(b->file);
  EXPECT_FALSE(b->code.empty());
  EXPECT_EQ(cache.stats().over_file_limit, 1u);
  a.reset();
  EXPECT_TRUE(cache.WantsFile());
}

TEST(ModuleCacheTest, Unreadable) {
  ModuleCache cache;
  auto a = cache.Unreadable("/dev/x");
  EXPECT_EQ(a->path, "/dev/x");
  EXPECT_TRUE(a->code.empty());
  EXPECT_EQ(cache.stats().unreadable, 1u);
}

// For the thread sanitizer: the last user of a module may let go of it while another asks for it.
TEST(ModuleCacheTest, ManyThreads) {
  ModuleCache cache;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cache] {
      for (int n = 0; n < 2000; ++n) {
        auto module = cache.Intern(Make(static_cast<uint8_t>(n % 3)));
        EXPECT_EQ(module->eh_frame.bytes[0], std::byte(n % 3));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.stats().modules, 0u);
}

}  // namespace
}  // namespace offcpu

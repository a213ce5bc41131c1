#include "process/module_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
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
  for (const auto table : kAllModuleTables) {
    m = Make(1);
    (m.*table).bytes.push_back(std::byte{1});
    expect_new(std::move(m));
  }
  m = Make(1);
  std::swap(m.eh_frame, m.eh_frame_hdr);
  expect_new(std::move(m));
  m = Make(1);
  m.language = "go";
  expect_new(std::move(m));
  m = Make(1);
  m.keeps_frame_pointer = true;
  expect_new(std::move(m));
  m = Make(1);
  m.without_frames = {{0x1000, 0x1010}};
  expect_new(std::move(m));
  m = Make(1);
  m.framed = {{0x1000, 0x1010}};
  expect_new(std::move(m));
  m = Make(1);
  m.landmarks = {{.code = {0x1000, 0x1010}}};
  expect_new(std::move(m));
}

Module MakeOf(uint64_t inode, const std::string& path = "/lib/x.so") {
  Module module = Make(1);
  module.path = path;
  module.without_frames = {{0x1000, 0x1010}};
  module.identity = {.device = 1, .inode = inode, .bytes = 3, .changed_ns = 5};
  return module;
}

// A copy of a program with another string table has the same tables and other names.
TEST(ModuleCacheTest, AnotherFileSharesTablesAndNothingElse) {
  ModuleCache cache;
  auto a = cache.Intern(MakeOf(1));
  auto b = cache.Intern(MakeOf(2));
  auto c = cache.Intern(MakeOf(1, "/home/me/x.so"));
  EXPECT_EQ(cache.Intern(MakeOf(2)), b);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(b->identity.inode, 2u);
  EXPECT_EQ(c->path, "/home/me/x.so");
  EXPECT_EQ(&b->tables(), a.get());
  EXPECT_EQ(&c->tables(), a.get());
  EXPECT_TRUE(b->eh_frame.bytes.empty());
  EXPECT_TRUE(b->without_frames.empty());
  EXPECT_EQ(b->code.size(), 1u);
  EXPECT_EQ(cache.stats().modules, 3u);
  EXPECT_EQ(cache.stats().shared_tables, 2u);
  EXPECT_EQ(cache.stats().table_bytes, 10 + sizeof(CodeRange));
  // They live as long as anybody needs them.
  a.reset();
  c.reset();
  EXPECT_EQ(b->tables().eh_frame.bytes.size(), 10u);
  EXPECT_EQ(&cache.Intern(MakeOf(1))->tables(), &b->tables());
  b.reset();
  EXPECT_EQ(cache.stats().modules, 0u);
  EXPECT_EQ(cache.stats().table_bytes, 0u);
}

TEST(ModuleCacheTest, EveryPartOfTheIdentityCounts) {
  ModuleCache cache;
  const auto a = cache.Intern(MakeOf(1));
  for (uint64_t FileIdentity::*field : {&FileIdentity::device, &FileIdentity::bytes, &FileIdentity::changed_ns}) {
    Module other = MakeOf(1);
    ++(other.identity.*field);
    EXPECT_NE(cache.Intern(std::move(other)), a);
  }
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
  ModuleCache cache({.modules = 2, .memory_bytes = 1000, .files = 10});
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

TEST(ModuleCacheTest, WhatAModuleHoldsIsGivenBackWithIt) {
  ModuleCache cache({.modules = 10, .memory_bytes = 100, .files = 10});
  const auto intern = [&cache](uint8_t content) {
    Module module = Make(content);
    module.memory = cache.LeaseFor(7);
    EXPECT_TRUE(module.memory.Grow(10));
    return cache.Intern(std::move(module));
  };
  auto a = intern(1);
  auto b = intern(1);  // has none of its own
  EXPECT_EQ(cache.budget().bytes, 10u);
  auto c = intern(2);
  EXPECT_EQ(cache.budget().bytes, 20u);
  EXPECT_FALSE(cache.LeaseFor(7).Grow(90));
  EXPECT_EQ(cache.stats().memory_refused, 1u);
  a = b = c = nullptr;
  EXPECT_EQ(cache.budget().bytes, 0u);
}

TEST(ModuleCacheTest, LimitOfFiles) {
  ModuleCache cache({.modules = 10, .memory_bytes = 1000, .files = 1});
  auto with_file = [](uint8_t content) {
    Module module = Make(content);
    module.file = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return module;
  };
  auto a = cache.Intern(with_file(1));
  EXPECT_TRUE(a->file);
  auto b = cache.Intern(with_file(2));
  EXPECT_FALSE(b->file);
  EXPECT_FALSE(b->code.empty());
  EXPECT_EQ(cache.stats().over_file_limit, 1u);
  EXPECT_EQ(cache.Intern(with_file(2)), b) << "without a file it does not matter which it was";
  a.reset();
  EXPECT_TRUE(cache.Intern(with_file(3))->file);
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

#include "os/cached_read.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

namespace offcpu {
namespace {

// Just written, so in memory.
TEST(CachedReadTest, OfAFileThatIsInMemory) {
  std::string path = testing::TempDir() + "offcpu-cached-XXXXXX";
  const OwnedFd file(mkstemp(path.data()));
  ASSERT_TRUE(file);
  unlink(path.c_str());
  const std::string text = "0123456789";
  ASSERT_EQ(write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::array<char, 4> bytes = {};
  EXPECT_EQ(ReadCached(file, 3, std::as_writable_bytes(std::span(bytes))), CachedRead::kRead);
  EXPECT_EQ(std::memcmp(bytes.data(), "3456", bytes.size()), 0);
  EXPECT_EQ(ReadCached(file, 7, std::as_writable_bytes(std::span(bytes))), CachedRead::kFailed) << "it is not as long";
  EXPECT_EQ(ReadCached(file, UINT64_MAX - 1, std::as_writable_bytes(std::span(bytes))), CachedRead::kFailed);
  EXPECT_EQ(ReadCached(OwnedFd(), 0, std::as_writable_bytes(std::span(bytes))), CachedRead::kFailed);
}

// What has left the page cache is not fetched. That this is so when the call is made nobody can promise.
TEST(CachedReadTest, NeverWaitsForADisk) {
  std::string path = "offcpu-uncached-XXXXXX";  // in the build, which is on a disk
  const OwnedFd file(mkstemp(path.data()));
  ASSERT_TRUE(file);
  unlink(path.c_str());
  std::array<std::byte, 4096> bytes = {};
  ASSERT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(fsync(file.get()), 0);
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const CachedRead read = ReadCached(file, 0, bytes);
  EXPECT_TRUE(read == CachedRead::kNotInMemory || read == CachedRead::kRead);
  ASSERT_EQ(pread(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(ReadCached(file, 0, bytes), CachedRead::kRead) << "somebody has read it";
}

// A pipe takes its time, or does not read so at all.
TEST(CachedReadTest, WhatIsNoFileIsNotWaitedFor) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd reads(ends[0]);
  const OwnedFd writes(ends[1]);
  std::array<std::byte, 4> bytes = {};
  EXPECT_EQ(ReadCached(reads, 0, bytes), CachedRead::kFailed);
}

}  // namespace
}  // namespace offcpu

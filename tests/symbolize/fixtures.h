// The ELF files that the build makes from fixture.S, and small helpers around files.
#ifndef OFFCPU_TESTS_SYMBOLIZE_FIXTURES_H_
#define OFFCPU_TESTS_SYMBOLIZE_FIXTURES_H_

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"
#include "os/owned_fd.h"
#include "process/elf/file.h"
#include "process/memory.h"

namespace offcpu {

inline constexpr char kFull[] = FIXTURE_FULL;
inline constexpr char kStripped[] = FIXTURE_DIR "/stripped.so";
inline constexpr char kSeparate[] = FIXTURE_DIR "/separate.debug";
inline constexpr char kMini[] = FIXTURE_DIR "/mini.so";

inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline SpanMemory MemoryOf(const std::string& bytes) { return {0, std::as_bytes(std::span(bytes))}; }

inline OwnedFd OpenFixture(const std::string& path) {
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd) << path;
  return fd;
}

inline std::string BuildIdOf(const std::string& path) {
  std::string bytes = Contents(path);
  SpanMemory memory = MemoryOf(bytes);
  auto elf = ElfFile::Parse(memory);
  EXPECT_TRUE(elf.ok());
  return elf.ok() ? elf->BuildId() : "";
}

// An empty directory that goes with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = ::testing::TempDir() + "offcpu-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path() const { return path_; }
  // Makes the directories that `relative` names.
  void Write(const std::string& relative, const std::string& bytes) const {
    std::filesystem::path file = std::filesystem::path(path_) / relative;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
  }

 private:
  std::string path_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_SYMBOLIZE_FIXTURES_H_

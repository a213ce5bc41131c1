#include "process/file_hash.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace offcpu {
namespace {

std::string HashOf(const std::string& content) {
  std::string path = testing::TempDir() + "offcpu-hash-XXXXXX";
  const OwnedFd file(mkstemp(path.data()));
  unlink(path.c_str());
  EXPECT_EQ(write(file.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
  return FileHash(file);
}

// Those that Python's hashlib.sha256(f[:4096] + f[-4096:] + len(f).to_bytes(8, "big")) has.
TEST(FileHashTest, IsOfBothEndsAndTheLength) {
  std::string large(10000, 0);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i % 251);
  EXPECT_EQ(HashOf(large), "29e3194e821b97b5565d43a5156ad97a");
  large[5000] = 'x';
  EXPECT_EQ(HashOf(large), "29e3194e821b97b5565d43a5156ad97a") << "the middle is not read";
  EXPECT_EQ(HashOf(std::string(5000, 7)), "e26ec706e14f980c2ac160ad46196096") << "both ends overlap";
  EXPECT_EQ(HashOf("abc"), "a7e79e8a85da69bad5c3fea209342ac9");
  EXPECT_EQ(HashOf(""), "af5570f5a1810b7af78caf4bc70a660f");
}

TEST(FileHashTest, OfNoFileThereIsNone) { EXPECT_EQ(FileHash(OwnedFd()), ""); }

}  // namespace
}  // namespace offcpu

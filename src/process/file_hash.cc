#include "process/file_hash.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/escaping.h"

namespace offcpu {
namespace {

constexpr uint64_t kPart = 4096;
constexpr size_t kKept = 16;

bool Append(const OwnedFd& file, uint64_t offset, uint64_t count, std::vector<unsigned char>* out) {
  const size_t begin = out->size();
  out->resize(begin + count);
  for (uint64_t done = 0; done < count;) {
    const ssize_t read = pread(file.get(), out->data() + begin + done, count - done, static_cast<off_t>(offset + done));
    if (read <= 0) return false;
    done += static_cast<uint64_t>(read);
  }
  return true;
}

}  // namespace

std::string FileHash(const OwnedFd& file) {
  struct stat info = {};
  if (!file || fstat(file.get(), &info) != 0) return "";
  const auto bytes = static_cast<uint64_t>(info.st_size);
  const uint64_t part = std::min(kPart, bytes);
  std::vector<unsigned char> hashed;
  if (!Append(file, 0, part, &hashed) || !Append(file, bytes - part, part, &hashed)) return "";
  for (int shift = 56; shift >= 0; shift -= 8) hashed.push_back(static_cast<unsigned char>(bytes >> shift));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  if (EVP_Digest(hashed.data(), hashed.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) return "";
  return absl::BytesToHexString(std::string(digest.begin(), digest.begin() + kKept));
}

}  // namespace offcpu

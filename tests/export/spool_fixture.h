// A spool in a directory of its own, and what the tests do to both.
#ifndef OFFCPU_TESTS_EXPORT_SPOOL_FIXTURE_H_
#define OFFCPU_TESTS_EXPORT_SPOOL_FIXTURE_H_

#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "export/spool.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {

class SpoolTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kStart = 1'790'000'000 * kSecond;

  explicit SpoolTest(const std::string& parent = ::testing::TempDir()) {
    std::string name = parent + "offcpu-spool-XXXXXX";
    base_ = mkdtemp(name.data());
    directory_ = base_ + "/spool";
  }
  ~SpoolTest() override {
    spool_.reset();
    std::filesystem::remove_all(base_);
  }

  // At that second, with all clocks right.
  static SpoolTime At(uint64_t seconds) {
    return {.unix_ns = kStart + seconds * kSecond, .boot_ns = (1000 + seconds) * kSecond, .boot = 1};
  }
  // The window of ten seconds that begins there.
  static SpoolRecord Window(uint64_t seconds, const std::string& body, uint32_t part = 0, uint32_t parts = 1) {
    return {.number = 0,
            .start_unix_ns = kStart + seconds * kSecond,
            .duration_ns = 10 * kSecond,
            .part = part,
            .parts = parts,
            .body = body};
  }
  // A record's file.
  static std::string FileOf(uint64_t number, const SpoolRecord& record, const SpoolTime& appended) {
    return EncodeSpoolHeader(MakeSpoolHeader(record, number, appended).value()) + record.body;
  }

  Spool& OpenSpool(const SpoolLimits& limits = {}) {
    spool_.reset();
    auto spool = Spool::Open(directory_, limits);
    if (!spool.ok()) {
      fprintf(stderr, "%s\n", spool.status().ToString().c_str());
      abort();
    }
    spool_ = *std::move(spool);
    return *spool_;
  }
  void Close() { spool_.reset(); }

  // Takes all there is, as a sender that is always answered.
  std::vector<std::string> Drain(const SpoolTime& now = At(0)) {
    std::vector<std::string> bodies;
    while (const std::optional<SpoolRecord> record = spool_->Oldest(now)) {
      bodies.push_back(record->body);
      spool_->Done(record->number);
    }
    return bodies;
  }
  SpoolLost Lost(SpoolLoss loss) const { return spool_->stats().lost[static_cast<size_t>(loss)]; }
  uint64_t LostRecords() const {
    uint64_t sum = 0;
    for (const SpoolLost& lost : spool_->stats().lost) sum += lost.records;
    return sum;
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  static std::string Record(uint64_t number) {
    std::string digits = std::to_string(number);
    return std::string(20 - digits.size(), '0') + digits + ".record";
  }
  std::string Contents(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Fill(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary | std::ios::trunc) << bytes;
  }
  std::vector<std::string> Names(const std::string& below = "") const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path(below))) {
      if (entry.path().filename() != kLockFile) names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string base_;
  std::string directory_;
  std::unique_ptr<Spool> spool_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_EXPORT_SPOOL_FIXTURE_H_

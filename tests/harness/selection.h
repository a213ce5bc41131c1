// A fixture for tests of what is selected.
#ifndef OFFCPU_TESTS_HARNESS_SELECTION_H_
#define OFFCPU_TESTS_HARNESS_SELECTION_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/harness/harness.h"

namespace offcpu::integration {

// Two of one kind, of which one is selected.
class SelectionTest : public testing::Test {
 protected:
  explicit SelectionTest(std::string seconds) : seconds_(std::move(seconds)) {}

  void SetUp() override {
    wanted_ = Target::Start({"waits", "--seconds", seconds_});
    other_ = Target::Start({"waits", "--seconds", seconds_});
    ASSERT_NE(wanted_, nullptr);
    ASSERT_NE(other_, nullptr);
  }

  Recording RecordBoth(const RecordConfig& config) {
    other_->Go();
    Recording recording = Record(config, *wanted_);
    other_->AwaitDone();
    return recording;
  }

  static uint64_t NsOf(const Recording& recording, pid_t pid) {
    return recording.Sum([pid](const StackRow& row) { return row.process->key.pid == pid; }).ns;
  }

  const std::string seconds_;  // for how long each waits
  std::unique_ptr<Target> wanted_;
  std::unique_ptr<Target> other_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_SELECTION_H_

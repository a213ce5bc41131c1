#include "tests/harness/record_until.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "symbolize/symbolizer.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::milliseconds kWindow{200};
constexpr std::chrono::seconds kPatience{60};

}  // namespace

void RecordUntil(const RecordConfig& config, Target& target, const std::function<bool(const Recording&)>& take) {
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  target.Go();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end && !testing::Test::HasFailure()) {
    std::this_thread::sleep_for(kWindow);
    absl::StatusOr<Profile> profile = (*recorder)->Cut();
    ASSERT_TRUE(profile.ok()) << profile.status();
    const Recording window = {.profile = Symbolize(*std::move(profile))};
    if (take(window)) return;
  }
  ADD_FAILURE() << "what is wanted has not come";
}

void RecordUntilThereAre(std::vector<WantedRows> wanted, const RecordConfig& config, Target& target,
                         const std::function<void(const StackRow&)>& check) {
  RecordUntil(config, target, [&](const Recording& window) {
    if (check) {
      for (const StackRow& row : window.Rows([](const StackRow&) { return true; })) check(row);
    }
    for (WantedRows& rows : wanted) rows.count -= std::min(rows.count, window.Sum(rows.predicate).count);
    return std::all_of(wanted.begin(), wanted.end(), [](const WantedRows& rows) { return rows.count == 0; });
  });
  for (const WantedRows& rows : wanted) EXPECT_EQ(rows.count, 0u) << "missing of " << rows.name;
}

}  // namespace offcpu::integration

#include "profiler/process_stacks.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr pid_t kNobody = 0x3fffff;

absl::Status Read(pid_t pid, const absl::StatusOr<std::vector<WaitingThread>>& threads) {
  Listing listing;
  listing.list = [&threads](pid_t) { return threads; };
  return ReadProcessStacks(pid, UnwindOrder(), listing).status();
}

TEST(ProcessStacksTest, AProcessThatIsNotListedIsNotCalledMissing) {
  const absl::Status status = Read(getpid(), std::vector<WaitingThread>());
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("the kernel lists no thread of process"));
}

TEST(ProcessStacksTest, NoProcessIsNotFound) {
  EXPECT_EQ(Read(kNobody, std::vector<WaitingThread>()), absl::NotFoundError("there is no process 4194303"));
}

TEST(ProcessStacksTest, WhyNothingCanBeListedIsTheError) {
  const absl::Status refused = absl::PermissionDeniedError("cannot list tasks: Operation not permitted");
  EXPECT_EQ(Read(getpid(), refused), refused);
  EXPECT_EQ(Read(kNobody, refused), refused) << "whether there is one is not known";
}

}  // namespace
}  // namespace offcpu

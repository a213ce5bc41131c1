#include "output/frame_sources.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "output/folded.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

TEST(FrameSourcesTest, NamesOfUserFramesEndWithTheirSource) {
  RecordedProfile recorded;
  const uint32_t process = recorded.AddProcess({10, 1000, 1}, "server");
  const uint32_t comm = recorded.AddComm("worker");
  const uint32_t kernel = recorded.AddPipe();
  recorded.profile.rows = {
      {{{process, 0, comm, kernel, recorded.AddHandler(), WaitKind::kSleeping, kNoSystemCall}, {1, 1000, 0, 1000}}},
      {{{process, 0, comm, kernel, recorded.AddNoUser(NoUserStack::kLost), WaitKind::kSleeping, kNoSystemCall},
        {1, 1000, 0, 1000}}},
  };
  const NamedProfile sourced = WithFrameSources(recorded.profile);
  std::string text;
  WriteFolded(sourced, sourced.rows, {}, [&](std::string_view bytes) { text += bytes; });
  EXPECT_EQ(
      text,
      "server;worker;[no user stack: lost];-;pipe_read_[k];schedule_[k] 1\n"
      "server;worker;[truncated: stack copy];app+0x3006 [fp];[unknown] 0x7f0001 [trampoline];__restore_rt [eh_frame];"
      "log [sframe];on_signal [sframe];read [registers];-;pipe_read_[k];schedule_[k] 1\n");
}

}  // namespace
}  // namespace offcpu

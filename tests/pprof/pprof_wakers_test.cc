// Who ended a wait, in pprof: behind the leaf of its stack, from the other side. What is written is read as the same.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bytes/gzip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_reader.h"
#include "tests/output/written.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Each chain that there can be: a thread, an interrupt, four wakers, others; stacks that are missing, cut, or lost.
RecordedProfile WithWakers() {
  RecordedProfile all = RecordedProfile::All();
  NamedProfile& profile = all.profile;
  const auto reader = profile.rows[0].user_stack;
  const auto handler = profile.rows[2].user_stack;
  const auto budget = profile.rows[3].user_stack;
  const auto unmapped = profile.rows[5].user_stack;
  const auto pipe = profile.rows[0].kernel_stack;
  const auto lost = profile.rows[3].kernel_stack;
  const uint32_t kernel_thread = all.AddNoUser(NoUserStack::kKernelThread);
  const uint32_t client = all.AddProcess({20, 2000, 1}, "client", "0123456789ab");
  const uint32_t waker = all.AddComm("waker");
  const uint32_t write = all.AddKernel({{0xffffffff81000030, "try_to_wake_up"}, {0xffffffff81000040, "pipe_write"}});
  const uint32_t timer = all.AddKernel({{0xffffffff81000030, "try_to_wake_up"}, {0xffffffff81000050, "asm_timer"}});
  const Waker thread = {.process = client, .comm = waker, .kernel_stack = write, .user_stack = handler};
  const Waker cut = {.process = 1, .comm = 0, .kernel_stack = write, .user_stack = unmapped};
  const Waker missing = {.process = client, .comm = waker, .kernel_stack = lost, .user_stack = budget};
  const Waker kworker = {.process = client, .comm = waker, .kernel_stack = pipe, .user_stack = kernel_thread};
  const Waker interrupt = {.interrupt = true, .kernel_stack = timer, .user_stack = kernel_thread};
  const Waker unknown_interrupt = {.interrupt = true, .kernel_stack = lost, .user_stack = kernel_thread};
  const Waker same = {.process = 0, .comm = 0, .kernel_stack = pipe, .user_stack = reader};
  profile.wakers = {{thread, interrupt}, {interrupt}, {cut, missing, kworker, unknown_interrupt}, {}, {same, same}};
  for (uint32_t i = 0; i < 5; ++i) profile.rows[i].waker = i + 1;
  return all;
}

class PprofWakersTest : public ::testing::Test {
 protected:
  PprofWakersTest() {
    EXPECT_TRUE(message_.ParseFromString(Gunzip(Written(OutputFormat::kPprof, all_.profile), 1 << 20).value()));
  }

  const std::string& Text(int64_t index) const { return message_.string_table(static_cast<int>(index)); }
  std::string NameOf(uint64_t location_id) const {
    const pprof::Location& location = message_.location(static_cast<int>(location_id - 1));
    return Text(message_.function(static_cast<int>(location.line(0).function_id() - 1)).name());
  }
  NamedProfile Read() const {
    absl::StatusOr<NamedProfile> stored = ParsePprof(message_.SerializeAsString());
    EXPECT_TRUE(stored.ok()) << stored.status();
    return stored.ok() ? *std::move(stored) : NamedProfile();
  }

  std::vector<std::string> NamesOf(int sample) const {
    std::vector<std::string> names;
    for (const uint64_t id : message_.sample(sample).location_id()) names.push_back(NameOf(id));
    return names;
  }

  RecordedProfile all_ = WithWakers();
  pprof::Profile message_;
};

TEST_F(PprofWakersTest, TheChainIsBehindTheLeaf) {
  EXPECT_THAT(NamesOf(0),
              ElementsAre("[interrupt]", "asm_timer", "try_to_wake_up", "--", "[truncated: stack copy]", "app+0x3006",
                          "[unknown] 0x7f0001", "__restore_rt", "log", "on_signal", "read", "pipe_write",
                          "try_to_wake_up", "--", "schedule", "pipe_read", "read", "loop", "app+0x3006"));
  EXPECT_EQ(NamesOf(3)[0], "[other]");
  EXPECT_EQ(NamesOf(3)[1], "--");
}

TEST_F(PprofWakersTest, EveryFormatIsWhatItWouldHaveBeen) {
  const NamedProfile stored = Read();
  for (OutputFormat format : {OutputFormat::kFolded, OutputFormat::kText, OutputFormat::kJson, OutputFormat::kPprof}) {
    const std::string was = Written(format, all_.profile);
    EXPECT_EQ(Written(format, stored), was);
    if (format == OutputFormat::kPprof) continue;
    EXPECT_THAT(was, HasSubstr(format == OutputFormat::kText ? "by [interrupt]" : "asm_timer"));
  }
}

TEST_F(PprofWakersTest, FramesAreThoseThatWereFound) {
  const NamedProfile stored = Read();
  for (size_t i = 0; i < 5; ++i) {
    const ProfileRow& is = stored.rows[i];
    const WakerChain& chain_was = all_.profile.wakers[i];
    ASSERT_NE(is.waker, 0u);
    const WakerChain& chain = stored.wakers[is.waker - 1];
    ASSERT_EQ(chain.size(), chain_was.size());
    for (size_t waker = 0; waker < chain.size(); ++waker) {
      EXPECT_EQ(chain[waker].interrupt, chain_was[waker].interrupt);
      EXPECT_EQ(stored.kernel_stacks[chain[waker].kernel_stack].frames,
                all_.profile.kernel_stacks[chain_was[waker].kernel_stack].frames);
      const NamedUserStack& user = stored.user_stacks[chain[waker].user_stack];
      const NamedUserStack& user_was = all_.profile.user_stacks[chain_was[waker].user_stack];
      EXPECT_EQ(user.missing, user_was.missing);
      EXPECT_EQ(user.end, user_was.end);
      ASSERT_EQ(user.frames.size(), user_was.frames.size());
      for (size_t frame = 0; frame < user.frames.size(); ++frame) {
        EXPECT_EQ(user.frames[frame].address, user_was.frames[frame].address);
        EXPECT_EQ(user.frames[frame].source, user_was.frames[frame].source);
      }
      if (chain[waker].interrupt) continue;
      EXPECT_EQ(stored.comms[chain[waker].comm], all_.profile.comms[chain_was[waker].comm]);
      EXPECT_EQ(stored.processes[chain[waker].process].key.pid,
                all_.profile.processes[chain_was[waker].process].key.pid);
      EXPECT_EQ(stored.processes[chain[waker].process].container,
                all_.profile.processes[chain_was[waker].process].container);
    }
  }
}

TEST_F(PprofWakersTest, AMarkThatIsMissingIsDamage) {
  auto& ids = *message_.mutable_sample(0)->mutable_location_id();
  ids.erase(std::find_if(ids.begin(), ids.end(), [&](uint64_t id) { return NameOf(id) == "--"; }));
  const absl::Status status = ParsePprof(message_.SerializeAsString()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("other wakers than its labels name"));
}

TEST_F(PprofWakersTest, ALabelThatIsMissingIsDamage) {
  for (pprof::Sample& sample : *message_.mutable_sample()) {
    auto& labels = *sample.mutable_label();
    const auto is_waker = [&](const auto& label) { return Text(label.key()).starts_with("waker"); };
    labels.erase(std::remove_if(labels.begin(), labels.end(), is_waker), labels.end());
  }
  EXPECT_EQ(ParsePprof(message_.SerializeAsString()).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace offcpu

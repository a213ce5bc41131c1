// What the command line program takes, and what it says of a command's life.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

constexpr int kOk = 0;

class Cli : public CliTest {};

// The rings are what a small recording takes: a quarter of a second of the host's CPUs, 8 and 4 MiB for each, rounded
// up to a power of two, and each page of them twice, because they are mapped so. The rest is code, what libbpf keeps of
// the programs, and the tables of what was recorded.
TEST_F(Cli, ASmallRecordingTakesLittleMemory) {
  ASSERT_EQ(Run({"record", "-o", Path("out.json"), "--", "sleep", "1"}), kOk) << errors_;
  const std::string json = ReadFile(Path("out.json"));
  const std::string name = "\"own_memory_bytes\":";
  const size_t found = json.find(name);
  ASSERT_NE(found, std::string::npos);
  const uint64_t mib = std::stoull(json.substr(found + name.size())) >> 20;
  const auto cpus = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  const uint64_t rings_mib =
      2 * (std::min<uint64_t>(std::bit_ceil(8 * cpus), 32) + std::min<uint64_t>(std::bit_ceil(4 * cpus), 32));
  EXPECT_LE(mib, rings_mib + 24);
  EXPECT_GE(mib, rings_mib) << "what the rings take is not what this test takes it to be";
}

// What a command did before its execve, until it was let go, is no part of the recording.
TEST_F(Cli, TheLedgerOfACommandBeginsAtItsExecve) {
  const std::string burn = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
  ASSERT_EQ(Run({"record", "--ledger", "-o", Path("out.json"), "--", "sh", "-c", burn}), kOk) << errors_;
  const std::string json = ReadFile(Path("out.json"));
  const auto number = [&json](const std::string& key) {
    const size_t at = json.find("\"" + key + "\":", json.find("\"ledger\":"));
    return at == std::string::npos ? -1 : std::stoll(json.substr(at + key.size() + 3));
  };
  const long long wall_ns = number("wall_ns");
  EXPECT_GT(number("on_cpu_ns"), 1'000'000) << output_;
  // Some time of a short life is charged to nobody, as ledger_test has it.
  EXPECT_LT(std::abs(number("rest_ns")), wall_ns / 500 + 200'000) << output_;
}

}  // namespace
}  // namespace offcpu::integration

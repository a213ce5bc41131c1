// Simulated hosts that export windows to one collector, and what a window costs to export. scripts/bench-export runs
// it.
//
//   export_hosts size                               a table: bytes of a window, by its processes and stacks
//   export_hosts fleet URL HOSTS SECONDS PERIOD DIR hosts add a window every PERIOD seconds; their spools are in DIR
#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bytes/gzip.h"
#include "export/exporter.h"
#include "otlp/otlp.h"
#include "pprof/pprof.h"
#include "symbolize/symbolizer.h"
#include "tests/export/windows.h"

namespace offcpu {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kUserFrames = 24;
constexpr size_t kKernelFrames = 12;
constexpr size_t kLibraries = 30;

// What a host's windows have in common: libraries, and functions in which threads wait.
class Host {
 public:
  Host(uint64_t seed, size_t processes, size_t stacks) : random_(seed), processes_(processes), stacks_(stacks) {
    for (size_t i = 0; i < kLibraries; ++i) {
      auto module = std::make_shared<Module>();
      module->path = "/usr/lib/x86_64-linux-gnu/libsimulated" + std::to_string(i) + ".so.1";
      for (int digit = 0; digit < 40; ++digit) module->build_id += "0123456789abcdef"[Any(16)];
      modules_.push_back(std::move(module));
    }
    for (size_t i = 0; i < stacks_; ++i) users_.push_back(AUserStack());
    for (size_t i = 0; i < 50; ++i) kernels_.push_back(AKernelStack(i + 1));
  }

  // Each process waits at some of the stacks; times differ from window to window.
  std::shared_ptr<const Profile> AWindow(uint64_t start_unix_ns, uint64_t duration_ns) {
    Profile profile;
    profile.start_unix_ns = start_unix_ns;
    profile.duration_ns = duration_ns;
    profile.host = "simulated";
    profile.comms = {"main", "worker", "io", "timer"};
    profile.kernel_stacks = kernels_;
    profile.user_stacks = users_;
    profile.code = {modules_.begin(), modules_.end()};
    for (size_t i = 0; i < processes_; ++i) {
      profile.processes.push_back({.key = {.pid = static_cast<int32_t>(1000 + i), .start_ns = i, .exec_id = 0},
                                   .name = "program" + std::to_string(i),
                                   .container = ""});
    }
    for (size_t i = 0; i < stacks_; ++i) {
      profile.rows.push_back({{.process = static_cast<uint32_t>(i % processes_),
                               .comm = static_cast<uint32_t>(i % 4),
                               .kernel_stack = static_cast<uint32_t>(i % kernels_.size()),
                               .user_stack = static_cast<uint32_t>(i)},
                              {.count = 1 + Any(1000),
                               .blocked_ns = Any(10 * kSecond),
                               .runnable_ns = Any(kSecond / 100),
                               .max_ns = Any(kSecond)}});
    }
    profile.stats.sample_ns = 50'000;
    return std::make_shared<const Profile>(std::move(profile));
  }

 private:
  uint64_t Any(uint64_t below) { return random_() % below; }

  // Stacks share their outer frames, as those of programs do.
  UserStackEntry AUserStack() {
    UserStackEntry entry;
    for (size_t i = 0; i < kUserFrames; ++i) {
      const uint64_t choices = i < 6 ? 4096 : 64;
      const uint64_t choice = Any(choices);
      entry.stack.frames.push_back({.code = modules_[choice % kLibraries].get(),
                                    .address = 0x10000 + choice * 0x140,
                                    .source = i == 0 ? FrameSource::kRegisters : FrameSource::kEhFrame,
                                    .exact = i == 0});
    }
    return entry;
  }

  KernelStack AKernelStack(uint64_t id) {
    KernelStack stack{.id = id};
    for (size_t i = 0; i < kKernelFrames; ++i) stack.addresses.push_back(0xffffffff81000000 + Any(2000) * 0x400);
    return stack;
  }

  std::mt19937_64 random_;
  const size_t processes_;
  const size_t stacks_;
  std::vector<std::shared_ptr<const Module>> modules_;
  std::vector<UserStackEntry> users_;
  std::vector<KernelStack> kernels_;
};

template <typename Write>
size_t GzippedBytes(Write write) {
  size_t bytes = 0;
  const auto count = [&bytes](std::string_view piece) { bytes += piece.size(); };
  GzipWriter gzip(count);
  write(gzip);
  gzip.Finish();
  return bytes;
}

void PrintSize(size_t processes, size_t stacks) {
  Host host(1, processes, stacks);
  const std::shared_ptr<const Profile> window = host.AWindow(1'790'000'000 * kSecond, 60 * kSecond);
  const NamedProfile named = Symbolize(*window);
  size_t pprof = 0;
  WritePprof(named, [&pprof](std::string_view piece) { pprof += piece.size(); });
  const auto begin = std::chrono::steady_clock::now();
  size_t requests = 0, bytes = 0, gzipped = 0;
  WriteOtlp(named, {}, [&](std::string request) {
    ++requests;
    bytes += request.size();
    gzipped += GzippedBytes([&request](GzipWriter& gzip) { gzip.Append(request); });
  });
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("| %zu | %zu | %zu | %.1f | %.1f | %.1f | %.0f |\n", processes, stacks, requests,
              static_cast<double>(bytes) / 1024, static_cast<double>(gzipped) / 1024, static_cast<double>(pprof) / 1024,
              took.count());
}

int RunSize() {
  std::printf("| processes | stacks | requests | OTLP, KiB | gzipped | pprof, gzipped | ms |\n");
  std::printf("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const size_t stacks : {100, 1000, 10'000, 100'000}) PrintSize(100, stacks);
  for (const size_t processes : {1, 10, 1000, 10'000}) PrintSize(processes, 10'000);
  return 0;
}

uint64_t ResidentKiB() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

size_t OpenFiles() {
  size_t files = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++files;
  closedir(directory);
  return files - 3;  // ".", ".." and the directory itself
}

ExporterStats Sum(const std::vector<std::unique_ptr<Exporter>>& exporters) {
  ExporterStats sum;
  for (const auto& exporter : exporters) {
    const ExporterStats stats = exporter->stats();
    sum.windows += stats.windows;
    sum.requests_sent += stats.requests_sent;
    sum.bytes_sent += stats.bytes_sent;
    sum.retries += stats.retries;
    sum.requests_waiting += stats.requests_waiting;
    sum.losses.insert(sum.losses.end(), stats.losses.begin(), stats.losses.end());
  }
  return sum;
}

void PrintFleet(const char* when, const std::vector<std::unique_ptr<Exporter>>& exporters) {
  const ExporterStats sum = Sum(exporters);
  uint64_t lost = 0;
  for (const Loss& loss : sum.losses) lost += loss.count;
  std::printf("| %s | %lu | %lu | %lu | %lu | %lu | %lu | %zu |\n", when, sum.windows, sum.requests_sent, sum.retries,
              sum.requests_waiting, lost, ResidentKiB() / 1024, OpenFiles());
  std::fflush(stdout);
}

int RunFleet(const std::string& url, size_t hosts, uint64_t seconds, uint64_t period, const std::string& directory) {
  std::vector<std::unique_ptr<Host>> machines;
  std::vector<std::unique_ptr<Exporter>> exporters;
  for (size_t i = 0; i < hosts; ++i) {
    ExportConfig config;
    config.target.url = url;
    config.resource = {{"host.id", "host" + std::to_string(i)}};
    config.spool = directory + "/host" + std::to_string(i);
    config.spool_bytes = 256u << 20;
    config.spool_age_ns = 24 * 3600 * kSecond;
    machines.push_back(std::make_unique<Host>(i + 1, 100, 5000));
    exporters.push_back(std::make_unique<Exporter>(
        config, [](bool, const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }));
  }
  std::printf("| after | windows | requests taken | retries | waiting | lost | MiB | descriptors |\n");
  std::printf("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t round = 1; round * period <= seconds; ++round) {
    // Hosts end their windows at different times.
    for (size_t i = 0; i < hosts; ++i) {
      const auto due =
          std::chrono::seconds((round - 1) * period) + std::chrono::milliseconds(period * 1000 * i / hosts);
      std::this_thread::sleep_until(start + due);
      const uint64_t now =
          static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
      exporters[i]->Add(Ended({machines[i]->AWindow(now - period * kSecond, period * kSecond)}));
    }
    std::this_thread::sleep_until(start + std::chrono::seconds(round * period));
    PrintFleet((std::to_string(round * period) + " s").c_str(), exporters);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (Sum(exporters).requests_waiting != 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  PrintFleet("the end", exporters);
  const ExporterStats sum = Sum(exporters);
  std::printf(
      "\n%zu hosts, a window of 5000 stacks in 100 processes every %lu s: %.1f KiB a host and minute.\n", hosts, period,
      static_cast<double>(sum.bytes_sent) / 1024 / static_cast<double>(hosts) / (static_cast<double>(seconds) / 60));
  return sum.requests_waiting == 0 && sum.losses.empty() ? 0 : 1;
}

}  // namespace
}  // namespace offcpu

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "size") == 0) return offcpu::RunSize();
  if (argc == 7 && std::strcmp(argv[1], "fleet") == 0) {
    return offcpu::RunFleet(argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10),
                            std::strtoull(argv[5], nullptr, 10), argv[6]);
  }
  std::fprintf(stderr, "usage: export_hosts size | export_hosts fleet URL HOSTS SECONDS PERIOD DIRECTORY\n");
  return 2;
}

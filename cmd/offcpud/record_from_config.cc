#include "offcpud/record_from_config.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "recorder/operands.h"

namespace offcpu {
namespace {

absl::Status AddDirectories(const std::vector<std::string>& names,
                            absl::StatusOr<std::string> (*find)(const std::string& name),
                            std::vector<std::string>* directories) {
  for (const std::string& name : names) {
    absl::StatusOr<std::string> directory = find(name);
    if (!directory.ok()) return directory.status();
    directories->push_back(*std::move(directory));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RecordConfig> RecordConfigOf(const DaemonConfig& config) {
  RecordConfig record;
  record.sample_ns = config.record.sample_ns.value_or(0);
  record.adapts_sample = !config.record.sample_ns.has_value();
  record.cpu_budget_ppm = config.record.cpu_budget_ppm;
  record.min_wait_ns = config.record.min_wait_ns;
  record.max_wait_ns = config.record.max_wait_ns;
  record.kernel_threads = config.record.kernel_threads;
  record.max_frames = config.record.max_frames;
  record.wakers = config.record.wakers;
  record.show_sleepers = config.record.idle;
  record.oncpu_hz = static_cast<uint32_t>(config.record.oncpu_hz);
  record.comms = config.record.comms;
  record.pids.assign(config.record.pids.begin(), config.record.pids.end());
  record.follow_forks = true;
  record.excluded_comms = config.record.exclude_comms;
  record.excluded_pids.assign(config.record.exclude_pids.begin(), config.record.exclude_pids.end());
  absl::Status found = AddDirectories(config.record.cgroups, CgroupDirectory, &record.cgroups);
  if (found.ok()) found = AddDirectories(config.record.containers, ContainerDirectory, &record.cgroups);
  if (found.ok()) found = AddDirectories(config.record.exclude_cgroups, CgroupDirectory, &record.excluded_cgroups);
  if (found.ok())
    found = AddDirectories(config.record.exclude_containers, ContainerDirectory, &record.excluded_cgroups);
  if (!found.ok()) return found;
  record.finish_ms = 1500;  // of the nine seconds in which the service ends
  for (const std::string& name : config.record.users) {
    const absl::StatusOr<uid_t> uid = FindUser(name);
    if (!uid.ok()) return uid.status();
    record.uids.push_back(*uid);
  }
  // Parts of the whole: 4, 8 and 16 MiB of 256. The rings are mapped twice, and a new configuration has a recorder of
  // its own before the old one stops.
  record.interval_ring_bytes = static_cast<uint32_t>(std::min<uint64_t>(config.memory_bytes / 64, 32u << 20));
  record.capture_ring_bytes = static_cast<uint32_t>(std::min<uint64_t>(config.memory_bytes / 32, 32u << 20));
  record.queue_bytes = static_cast<uint32_t>(std::min<uint64_t>(config.memory_bytes / 16, 128u << 20));
  return record;
}

ModuleCacheLimits ModuleLimitsOf(const DaemonConfig& config) { return {.memory_bytes = config.memory_bytes / 2}; }

}  // namespace offcpu

#include "recorder/listing.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bpf_programs/kernel.h"
#include "bpf_programs/process_context.h"

namespace offcpu {

Listing ListingOf(const std::shared_ptr<const Programs>& programs) {
  Listing listing;
  listing.describe = [programs](pid_t tid) -> std::optional<ProcessVersion> {
    std::optional<Programs::ProcessDescription> found = programs->DescribeProcess(tid);
    if (!found.has_value()) return std::nullopt;
    return ProcessVersion{found->task.process, found->task.code, std::move(found->mappings)};
  };
  listing.find = [programs](pid_t tid) -> std::optional<WaitingThread> {
    absl::StatusOr<std::vector<WaitingThread>> threads = programs->ListThreads({.tid = tid});
    if (!threads.ok() || threads->empty()) return std::nullopt;
    return std::move(threads->front());
  };
  listing.list = [programs](pid_t process) { return programs->ListThreads({.process = process}); };
  return listing;
}

absl::StatusOr<Listing> LoadListing() {
  if (absl::Status status = CheckProcessContext(); !status.ok()) return status;
  absl::StatusOr<KernelFeatures> features = ProbeKernel();
  if (!features.ok()) return features.status();
  absl::StatusOr<std::unique_ptr<Programs>> programs = Programs::LoadListing(*features);
  if (!programs.ok()) return programs.status();
  return ListingOf(*std::move(programs));
}

}  // namespace offcpu

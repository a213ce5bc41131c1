// Where the threads of a process stand now, for clients. All of them ask the kernel through one set of programs, which
// the first loads; two are served at a time, and the others wait in the order in which they came.
//
// Threads: any.
#ifndef OFFCPU_DAEMON_STACK_REQUESTS_H_
#define OFFCPU_DAEMON_STACK_REQUESTS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/turns.h"
#include "os/reader_pool.h"
#include "process/module_cache.h"
#include "recorder/listing.h"
#include "symbolize/name_cache.h"
#include "symbolize/symbolizer.h"
#include "unwind/unwind_order.h"

namespace offcpu {

struct StacksWanted {
  int pid = 0;
  UnwindOrder unwind;
  bool json = false;
};

class StackRequests {
 public:
  using Clock = Turns::Clock;
  using LoadListing = std::function<absl::StatusOr<Listing>()>;

  static constexpr size_t kAtOnce = 2;
  static constexpr size_t kNameBytes = 4 << 20;  // that are kept from one request to the next

  StackRequests(std::shared_ptr<ReaderPool> readers, std::shared_ptr<ModuleCache> modules, LoadListing load)
      : readers_(std::move(readers)), modules_(std::move(modules)), load_(std::move(load)) {}

  // As text. ResourceExhausted if its turn has not come by `deadline`, Cancelled as soon as `is_cancelled` says so.
  absl::StatusOr<std::string> Format(const StacksWanted& wanted, Clock::time_point deadline,
                                     const IsCancelled& is_cancelled);

 private:
  absl::StatusOr<Listing> SharedListing();
  NamedProfile Name(Profile profile, const SymbolizerOptions& options);

  const std::shared_ptr<ReaderPool> readers_;
  const std::shared_ptr<ModuleCache> modules_;
  const LoadListing load_;
  Turns turns_{kAtOnce};
  std::mutex loading_;
  std::optional<Listing> listing_;  // guarded by loading_
  std::mutex naming_;
  NameCache names_{kNameBytes};  // guarded by naming_
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_STACK_REQUESTS_H_

// Where `offcpu top` has its profiles from: the service where one answers, else a recorder of its own. One thread.
#ifndef OFFCPU_CMD_OFFCPU_TOP_SOURCE_H_
#define OFFCPU_CMD_OFFCPU_TOP_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profile/named_profile.h"

namespace offcpu {

struct TopSelection {
  std::vector<int> pids;
  std::vector<std::string> comms;  // globs; both empty: the whole host
};

class TopSource {
 public:
  virtual ~TopSource() = default;
  // Begins with the time from now on. The status says why neither the service nor a recorder is to be had.
  static absl::StatusOr<std::unique_ptr<TopSource>> Open(const std::string& socket, const TopSelection& selection);

  virtual std::string name() const = 0;
  // What was recorded since the last call, or since the beginning. Blocks, for seconds at worst. After
  // ResourceExhausted it may be called again, and loses nothing.
  virtual absl::StatusOr<NamedProfile> Next() = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_TOP_SOURCE_H_

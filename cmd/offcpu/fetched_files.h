// What --debuginfod gets: debug files from the servers of DEBUGINFOD_URLS, with the progress on a terminal.
#ifndef OFFCPU_CMD_OFFCPU_FETCHED_FILES_H_
#define OFFCPU_CMD_OFFCPU_FETCHED_FILES_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "offcpu/flag.h"
#include "symbolize/debuginfod.h"
#include "symbolize/symbolizer.h"

namespace offcpu {

Flag DebuginfodFlag(bool* value);

class FetchedFiles {
 public:
  // Nothing is fetched unless it is `wanted`. An error, which says what to do, if it is and cannot be. `is_stopped`:
  // somebody waits no longer.
  static absl::StatusOr<std::unique_ptr<FetchedFiles>> Open(bool wanted, std::function<bool()> is_stopped);
  FetchedFiles(const FetchedFiles&) = delete;
  FetchedFiles& operator=(const FetchedFiles&) = delete;

  // Empty if nothing is fetched. Not to be used after this is gone.
  FetchDebugFile fetcher();
  // Takes the progress from the terminal, and says why something was not fetched.
  void Finish();

 private:
  explicit FetchedFiles(std::function<bool()> is_stopped) : is_stopped_(std::move(is_stopped)) {}
  bool Show(const FetchProgress& progress);

  const std::function<bool()> is_stopped_;
  std::unique_ptr<Debuginfod> servers_;  // null: nothing is fetched
  bool is_shown_ = false;
};

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_FETCHED_FILES_H_

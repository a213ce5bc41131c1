#include "offcpu/stored.h"

#include <cstdio>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classify/idle.h"
#include "output/format.h"
#include "pprof/pprof_reader.h"
#include "tables/idle_table.h"

namespace offcpu {

absl::StatusOr<NamedProfile> ReadStored(const std::string& file, const IdleFlags& flags, const IdlePatterns& idle) {
  if (file == "-") return absl::InvalidArgumentError("cannot read standard input: name a .pb.gz file");
  const absl::StatusOr<OutputFormat> format = FormatOf(file);
  if (format.ok() && *format != OutputFormat::kPprof) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": only .pb.gz files, which hold the whole recording, can be read again"));
  }
  absl::StatusOr<NamedProfile> profile = ReadPprofFile(file);
  if (profile.ok()) MarkStoredIdle(flags, idle, &*profile);
  return profile;
}

void KeepWanted(const ProfileFilter& filter, NamedProfile* profile) {
  KeepRows(filter, profile);
  if (profile->rows.empty() && !filter.is_everything() && profile->duration_ns != 0)
    std::fputs("offcpu: the filters leave nothing of the recording\n", stderr);
}

absl::Status ShowStored(const OutputFlags& flags, NamedProfile profile, bool is_whole) {
  const bool has_samples = profile.stats.oncpu_period_ns != 0;
  if (absl::Status status = CheckValue(flags, has_samples); !status.ok()) return status;
  if (absl::Status status = CheckThreads(flags, profile); !status.ok()) return status;
  const std::string hidden = IdleLine(SumIdle(profile));
  const absl::Status shown = flags.files.empty()
                                 ? PrintTables(flags, std::move(profile), TextTables::kGroupsAndStacks, is_whole)
                                 : WriteOutputs(flags, profile);
  // What a full disk or a directory that is gone says is no wrong usage.
  if (!shown.ok()) return absl::InternalError(std::string(shown.message()));
  TellHidden(flags, hidden);
  return absl::OkStatus();
}

}  // namespace offcpu

#include "pprof/pprof_reader.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bytes/gzip.h"
#include "bytes/read_file.h"
#include "bytes/utf8.h"
#include "labels/row_value.h"
#include "labels/sum_limits.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_comments.h"
#include "pprof/pprof_rows.h"
#include "pprof/pprof_tables.h"
#include "profile/time_table.h"

namespace offcpu {
namespace {

namespace pb = offcpu::pprof;

constexpr size_t kMaxShown = 150;  // bytes of what a file says, in a message

absl::Status Naming(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, " ", std::string(status.message())));
}

// "samples/count, cpu/nanoseconds"
absl::StatusOr<std::string> Values(const pb::Profile& header, PprofTables& tables) {
  std::string values;
  for (const pb::ValueType& value : header.sample_type()) {
    if (values.size() > kMaxShown) break;  // more than ours
    const absl::StatusOr<std::string_view> type = tables.String(value.type());
    if (!type.ok()) return type.status();
    const absl::StatusOr<std::string_view> unit = tables.String(value.unit());
    if (!unit.ok()) return unit.status();
    absl::StrAppend(&values, values.empty() ? "" : ", ", Printable(*type), "/", Printable(*unit));
  }
  return values;
}

std::string OurValues(bool with_samples) {
  std::string values;
  for (const RowValueInfo& info : RowValues(with_samples)) {
    absl::StrAppend(&values, values.empty() ? "" : ", ", std::string(info.type), "/", std::string(info.unit()));
  }
  return values;
}

// As TimeTable makes them; older files have none.
absl::Status ReadGrid(const pb::Profile& header, TimeGrid* grid) {
  if (!header.has_times()) return absl::OkStatus();
  const auto bucket_ns = static_cast<uint64_t>(header.times().bucket_ns());
  const uint64_t least_buckets = bucket_ns / TimeTable::kLeastBucketNs;
  const bool is_width = bucket_ns % TimeTable::kLeastBucketNs == 0 && std::has_single_bit(least_buckets) &&
                        least_buckets <= uint64_t{1} << TimeTable::kMaxShift;
  // A bucket before the start at most, and not after what a counter of nanoseconds holds.
  constexpr int64_t kLatestNs = int64_t{1} << 60;
  if (!is_width || std::abs(header.times().begin_ns() / 2) > kLatestNs / 2)
    return absl::DataLossError("is damaged: it has time buckets that offcpu does not write");
  *grid = {.bucket_ns = bucket_ns, .begin_ns = header.times().begin_ns()};
  return absl::OkStatus();
}

absl::Status ReadHeader(const pb::Profile& header, size_t max_comments, PprofTables& tables, NamedProfile& profile) {
  const absl::StatusOr<std::string> values = Values(header, tables);
  if (!values.ok()) return values.status();
  if (*values != OurValues(false) && *values != OurValues(true)) {
    return absl::InvalidArgumentError(absl::StrCat("was not written by offcpu: it holds ",
                                                   values->empty() ? "nothing" : values->substr(0, kMaxShown),
                                                   " and not ", OurValues(true)));
  }
  if (static_cast<size_t>(header.comment_size()) > max_comments) {
    return absl::ResourceExhaustedError(absl::StrCat("is too large: more than ", max_comments, " comments"));
  }
  std::vector<std::string_view> comments;
  for (const int64_t index : header.comment()) {
    const absl::StatusOr<std::string_view> comment = tables.String(index);
    if (!comment.ok()) return comment.status();
    comments.push_back(*comment);
  }
  if (header.duration_nanos() < 0) return absl::DataLossError("is damaged: a negative duration");
  profile.duration_ns = static_cast<uint64_t>(header.duration_nanos());
  if (absl::Status status = ReadGrid(header, &profile.times); !status.ok()) return status;
  return ReadPprofComments(comments, profile);
}

absl::StatusOr<NamedProfile> ParseMessage(std::string_view bytes, const PprofLimits& limits) {
  const absl::StatusOr<PprofFields> fields = SplitPprof(bytes, limits);
  if (!fields.ok()) return fields.status();
  pb::Profile header;
  if (!header.ParseFromString(fields->rest)) return absl::DataLossError("is damaged, or not a pprof file");
  NamedProfile profile;
  PprofBudget held("names and stacks", limits.held_bytes);
  absl::StatusOr<PprofTables> tables = PprofTables::Read(*fields, profile.names.get(), held);
  if (!tables.ok()) return tables.status();
  if (absl::Status status = ReadHeader(header, limits.comments, *tables, profile); !status.ok()) return status;
  const auto values = static_cast<size_t>(header.sample_type_size());
  PprofRows rows(*tables, values, limits, held, profile);
  for (const std::string_view sample : fields->samples) {
    if (absl::Status status = rows.Add(sample); !status.ok()) return status;
  }
  // Older files have the values of samples only if there are any.
  const bool may_have_samples = values != RowValues(false).size();
  uint64_t& period_ns = profile.stats.oncpu_period_ns;
  if (!may_have_samples) period_ns = 0;
  const bool has_samples = Total(profile.rows, RowValue::kSamples) != 0 || Total(profile.rows, RowValue::kCpu) != 0;
  if (has_samples) period_ns = std::max<uint64_t>(period_ns, 1);
  if (!SumLimits().Add(profile))
    return absl::DataLossError("is damaged: it has more time or more events than there can be");
  profile.code = tables->code();
  return profile;
}

}  // namespace

absl::StatusOr<NamedProfile> ParsePprof(std::string_view bytes, const PprofLimits& limits) {
  if (!IsGzip(bytes)) return ParseMessage(bytes, limits);
  const absl::StatusOr<std::string> message = Gunzip(bytes, kMaxPprofBytes);
  if (!message.ok()) return message.status();
  return ParseMessage(*message, limits);
}

absl::StatusOr<NamedProfile> ReadPprofFile(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadRegularFile(path, kMaxPprofFileBytes);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<NamedProfile> profile = ParsePprof(*bytes);
  return profile.ok() ? std::move(profile) : Naming(path, profile.status());
}

}  // namespace offcpu

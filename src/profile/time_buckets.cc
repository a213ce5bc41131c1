#include "profile/time_buckets.h"

#include <cmath>
#include <limits>

namespace offcpu {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kFigureBits = 3;

// What `part_ns` of `all_ns` have of `weight_ns`.
uint64_t Share(uint64_t weight_ns, uint64_t part_ns, uint64_t all_ns) {
  return part_ns >= all_ns ? weight_ns : static_cast<uint64_t>(Wide{weight_ns} * part_ns / all_ns);
}

void AppendNumber(uint64_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

std::optional<uint64_t> TakeNumber(std::string_view& bytes) {
  uint64_t number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    const uint64_t bits = byte & 0x7f;
    if (shift == 63 && bits > 1) return std::nullopt;
    number |= bits << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace

TimeBucket TimeBucket::Of(uint32_t number, const RowSums& sums) {
  return {.number = number,
          .blocked_ns = sums.blocked_ns,
          .runnable_ns = sums.runnable_ns,
          .count = sums.count,
          .cpu_ns = sums.cpu_ns,
          .samples = sums.samples,
          .count_excess = sums.count_excess};
}

void TimeBucket::Add(const TimeBucket& other) {
  for (const auto figure : kBucketFigures) this->*figure += other.*figure;
  count_excess += other.count_excess;
}

void TimeBuckets::Add(const TimeBucket& bucket) {
  const auto is_before = [](const TimeBucket& one, uint32_t number) { return one.number < number; };
  auto at = buckets_.end();
  if (!buckets_.empty() && buckets_.back().number >= bucket.number)
    at = std::lower_bound(buckets_.begin(), buckets_.end(), bucket.number, is_before);
  if (at != buckets_.end() && at->number == bucket.number) {
    at->Add(bucket);
  } else {
    buckets_.insert(at, bucket);
  }
}

void TimeBuckets::Widen() {
  size_t kept = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    TimeBucket bucket = buckets_[i];
    bucket.number /= 2;
    if (kept != 0 && buckets_[kept - 1].number == bucket.number) {
      buckets_[kept - 1].Add(bucket);
    } else {
      buckets_[kept++] = bucket;
    }
  }
  buckets_.resize(kept);
}

void SpreadOut(const Stretch& stretch, uint64_t bucket_ns, absl::FunctionRef<void(const TimeBucket&)> visit) {
  const uint64_t begin_ns = stretch.begin_ns();
  const uint64_t last = BucketOfEnd(stretch.end_ns, bucket_ns);
  TimeBucket rest = stretch.sums;
  for (uint64_t number = begin_ns / bucket_ns; number < last; ++number) {
    const uint64_t so_far_ns = (number + 1) * bucket_ns - begin_ns;
    const uint64_t blocked_ns = std::min(so_far_ns, stretch.blocked_ns);
    TimeBucket bucket = {.number = static_cast<uint32_t>(number)};
    const uint64_t blocked_left =
        stretch.sums.blocked_ns - Share(stretch.sums.blocked_ns, blocked_ns, stretch.blocked_ns);
    const uint64_t runnable_left =
        stretch.sums.runnable_ns - Share(stretch.sums.runnable_ns, so_far_ns - blocked_ns, stretch.runnable_ns);
    bucket.blocked_ns = rest.blocked_ns - blocked_left;
    bucket.runnable_ns = rest.runnable_ns - runnable_left;
    rest.blocked_ns = blocked_left;
    rest.runnable_ns = runnable_left;
    visit(bucket);
  }
  rest.number = static_cast<uint32_t>(last);
  visit(rest);
}

std::string PackTimes(const TimeBuckets& buckets, uint32_t first, uint64_t excess) {
  std::string bytes;
  uint64_t next = first;
  uint64_t rounded = 0;
  double excess_so_far = 0;
  size_t left = buckets.size();
  for (TimeBucket bucket : buckets) {
    excess_so_far += bucket.count_excess;
    const uint64_t until_here = --left == 0 ? excess
                                            : std::clamp(static_cast<uint64_t>(std::llround(excess_so_far)), rounded,
                                                         std::max(rounded, excess));
    bucket.count += until_here - rounded;
    rounded = until_here;
    size_t figures = kBucketFigures.size();
    while (figures != 0 && bucket.*kBucketFigures[figures - 1] == 0) --figures;
    AppendNumber((bucket.number - next) << kFigureBits | figures, bytes);
    for (size_t i = 0; i < figures; ++i) AppendNumber(bucket.*kBucketFigures[i], bytes);
    next = uint64_t{bucket.number} + 1;
  }
  return bytes;
}

std::optional<std::vector<TimeBucket>> UnpackTimes(std::string_view packed) {
  std::vector<TimeBucket> buckets;
  uint64_t next = 0;
  while (!packed.empty()) {
    const std::optional<uint64_t> head = TakeNumber(packed);
    if (!head.has_value()) return std::nullopt;
    const uint64_t figures = *head & ((1 << kFigureBits) - 1);
    const uint64_t gap = *head >> kFigureBits;
    if (figures > kBucketFigures.size() || gap > std::numeric_limits<uint32_t>::max() - next) return std::nullopt;
    TimeBucket& bucket = buckets.emplace_back();
    bucket.number = static_cast<uint32_t>(next + gap);
    for (size_t i = 0; i < figures; ++i) {
      const std::optional<uint64_t> figure = TakeNumber(packed);
      if (!figure.has_value()) return std::nullopt;
      bucket.*kBucketFigures[i] = *figure;
    }
    next = uint64_t{bucket.number} + 1;
    if (next > std::numeric_limits<uint32_t>::max() && !packed.empty()) return std::nullopt;
  }
  return buckets;
}

}  // namespace offcpu

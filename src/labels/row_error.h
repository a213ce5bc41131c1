// How far off the figures of a sample may be, in the words that all formats share. A wait that was sampled stands for
// others like it, so a figure of such rows is an estimate with a standard error; variances add up. Where every wait was
// recorded there is none. Pure functions.
//
// Where nothing was sampled, there is no estimate and no error, and still there may have been waits. If those of any
// set last S together and each was to be sampled with its length over T at least, nothing is sampled of them with a
// probability of exp(-S / T) at most: S is below 3 T, at a confidence of 95 %; and so many waits as were not sampled
// last less than T each.
#ifndef OFFCPU_LABELS_ROW_ERROR_H_
#define OFFCPU_LABELS_ROW_ERROR_H_

#include <cstdint>
#include <span>
#include <string>

#include "labels/row_value.h"
#include "profile/named_profile.h"

namespace offcpu {

// With fewer sampled waits, the error is uncertain itself.
inline constexpr uint64_t kFewSampled = 10;

// 0 for samples on a CPU, whose variance is not known.
double VarianceOf(const RowSums& sums, RowValue value);
inline uint64_t ErrorOf(const RowSums& sums, RowValue value) { return StandardError(VarianceOf(sums, value)); }

// The error as a part of the value: "±4 %"; "±58 %?" of few sampled waits; "" where there is no error.
std::string ErrorText(const RowSums& sums, RowValue value);
// The same behind a figure, with a blank between them.
std::string WithError(const std::string& figure, const RowSums& sums, RowValue value);

RowSums SumOf(std::span<const NamedRow> rows);

// The T of the process that was sampled most coarsely; 0: every wait was recorded.
uint64_t MostSampleNs(const ProfileStats& stats);

// Whether waits may be missing in the rows, and be stood for by others.
bool IsSample(const NamedProfile& profile);

// What any set of waits of which none was sampled lasted together, at most; 0: all were sampled.
uint64_t UnsampledMostNs(const ProfileStats& stats);

// "every wait recorded", or "waits below 40.0 us sampled; times of rows above 1 % within ±3 % (standard error)".
// `rows`: the sums that a reader sees, each for itself, of all that is shown: they need not be those of the profile's
// rows, and may overlap. `total_ns`: the time off the CPU of all of it.
std::string AccuracyText(const NamedProfile& profile, std::span<const RowSums> rows, uint64_t total_ns);

// What the marks of ErrorText mean, in one line with its end; "" where every wait was recorded.
std::string ErrorLegend(const NamedProfile& profile);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_ROW_ERROR_H_

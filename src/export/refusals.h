// What becomes of a request that a collector refuses for what is in it. One bad profile shall not cost the others, so
// the request is divided, and its profiles are sent one by one. Unless the answer says which ones are refused: then the
// collector has kept the others, and would have them twice. So it is with an answer that says "later" of some profiles:
// only they are sent again. Where a collector refuses one request after the other, they are divided no more until it
// takes one. Plain state of one thread.
#ifndef OFFCPU_EXPORT_REFUSALS_H_
#define OFFCPU_EXPORT_REFUSALS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "export/answer_meaning.h"
#include "export/http_poster.h"
#include "export/request_parts.h"
#include "export/spool_record.h"

namespace offcpu {

class Refusals {
 public:
  static constexpr size_t kMostParts = 64;  // of a request, at a time; parts that are refused are divided again
  static constexpr size_t kMostInARow = 16;

  struct Verdict {
    Judgement judgement;
    std::vector<SpoolRecord> parts;  // to be sent instead of the record, now or later; not compressed
    std::vector<std::string> types;  // of profiles that are refused for good
  };
  // `record` was posted.
  Verdict OnAnswer(const SpoolRecord& record, const HttpAnswer& answer);

 private:
  void OnRefused(const SpoolRecord& record, const RequestParts& request, Verdict& verdict) const;

  size_t in_a_row_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_REFUSALS_H_

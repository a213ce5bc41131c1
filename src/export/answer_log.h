// Says what a person should know of a collector's answers. Each kind is said once until windows arrive again, but never
// twice in a minute; what the collector refuses of windows that do arrive, once an hour. A kind has no words of others
// in it, neither what a collector answers nor names of programs: those could be new each time. One thread.
#ifndef OFFCPU_EXPORT_ANSWER_LOG_H_
#define OFFCPU_EXPORT_ANSWER_LOG_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "export/answer_meaning.h"
#include "export/say.h"

namespace offcpu {

class AnswerLog {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr size_t kMostKinds = 32;  // within a minute: statuses of HTTP may be anything

  // `url`: as it may be shown.
  AnswerLog(std::string url, Say say) : url_(std::move(url)), say_(std::move(say)) {}

  void Add(const Judgement& judgement, Clock::time_point now);

 private:
  bool MaySay(const std::string& kind, Clock::duration pause, Clock::time_point now);

  const std::string url_;
  const Say say_;
  std::string kind_;                                // that was said last, but of refusals; empty: all is well
  std::map<std::string, Clock::time_point> quiet_;  // when each kind may be said again
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_ANSWER_LOG_H_

// Says what a person should know of a collector's answers: each kind once until windows arrive again, and what the
// collector refuses of windows that do arrive once an hour. One thread.
#ifndef OFFCPU_EXPORT_ANSWER_LOG_H_
#define OFFCPU_EXPORT_ANSWER_LOG_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "export/delivery.h"

namespace offcpu {

class AnswerLog {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(bool is_bad, const std::string& line)>;

  // `url`: as it may be shown.
  AnswerLog(std::string url, Say say) : url_(std::move(url)), say_(std::move(say)) {}

  void Add(const Judgement& judgement, Clock::time_point now);

 private:
  static constexpr size_t kMostRefusals = 100;  // within an hour: names in them may be anything

  bool IsNewRefusal(const Judgement& judgement, Clock::time_point now);

  const std::string url_;
  const Say say_;
  std::string kind_;                // that was said last
  std::set<std::string> refusals_;  // that were said since
  Clock::time_point since_;
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_ANSWER_LOG_H_

// Answers of a few words. Pure.
#ifndef OFFCPU_DAEMON_HTTP_ANSWERS_H_
#define OFFCPU_DAEMON_HTTP_ANSWERS_H_

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/http_connections.h"

namespace offcpu {

inline constexpr char kTextType[] = "text/plain; charset=utf-8";

inline HttpResponse TextAnswer(int status, const std::string& line) {
  return {.status = status,
          .type = kTextType,
          .fields = {},
          .body = std::make_shared<const std::string>(absl::StrCat(line, "\n"))};
}

// As Go's servers tell that the text is for the user.
inline HttpResponse Refusal(int status, const std::string& why) {
  HttpResponse answer = TextAnswer(status, why);
  answer.fields.emplace_back("X-Go-Pprof", "1");
  return answer;
}

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_ANSWERS_H_

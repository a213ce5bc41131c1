#include "daemon/http_request.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace offcpu {
namespace {

// Ends with CR LF, or LF alone, as the standard allows.
std::string_view TakeLine(std::string_view& head) {
  const size_t end = head.find('\n');
  std::string_view line = head.substr(0, end);
  head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::string_view("!#$%&'*+-.^_`|~").find(c) != absl::string_view::npos;
  });
}

bool IsTarget(std::string_view text) {
  return text.starts_with('/') && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c));
         });
}

// %41 becomes A; nothing if there are no two digits behind a '%'.
std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string digits(text.substr(i + 1, 2));
    if (text[i] != '%') {
      value += text[i];
    } else if (digits.size() == 2 && std::all_of(digits.begin(), digits.end(), absl::ascii_isxdigit)) {
      value += absl::HexStringToBytes(digits);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return value;
}

absl::Status SetTarget(std::string_view target, HttpRequest& request) {
  const size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark == std::string_view::npos) return absl::OkStatus();
  const std::string text(target.substr(mark + 1));
  for (const absl::string_view part : absl::StrSplit(text, '&', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    std::optional<std::string> value = PercentDecoded(pair.second);
    if (!value.has_value()) return absl::InvalidArgumentError("a value of the query has a '%' without two digits");
    request.query.emplace_back(pair.first, *std::move(value));
  }
  return absl::OkStatus();
}

absl::Status SetFirstLine(std::string_view line, HttpRequest& request) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return absl::InvalidArgumentError("this is not an HTTP request");
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  request.method = line.substr(0, first);
  if (!IsToken(request.method) || !IsTarget(target) || (version != "HTTP/1.1" && version != "HTTP/1.0"))
    return absl::InvalidArgumentError("this is not an HTTP request");
  return SetTarget(target, request);
}

}  // namespace

std::optional<std::string> HttpRequest::Query(std::string_view name) const {
  const auto found = std::find_if(query.begin(), query.end(), [name](const auto& pair) { return pair.first == name; });
  return found == query.end() ? std::nullopt : std::optional(found->second);
}

size_t HttpHeadLength(std::string_view bytes) {
  for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n', end + 1)) {
    const std::string_view rest = bytes.substr(end + 1);
    if (rest.starts_with('\n')) return end + 2;
    if (rest.starts_with("\r\n")) return end + 3;
  }
  return 0;
}

absl::StatusOr<HttpRequest> ParseHttpRequest(std::string_view head) {
  HttpRequest request;
  if (absl::Status status = SetFirstLine(TakeLine(head), request); !status.ok()) return status;
  bool has_host = false;
  bool has_authorization = false;
  for (std::string_view line = TakeLine(head); !line.empty(); line = TakeLine(head)) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)))
      return absl::InvalidArgumentError("a header field has no name");
    const absl::string_view name(line.data(), colon);
    const absl::string_view value =
        absl::StripAsciiWhitespace(absl::string_view(line.data() + colon + 1, line.size() - colon - 1));
    if (absl::EqualsIgnoreCase(name, "host")) {
      if (std::exchange(has_host, true)) return absl::InvalidArgumentError("there are two Host fields");
      request.host = std::string(value);
    } else if (absl::EqualsIgnoreCase(name, "authorization")) {
      if (std::exchange(has_authorization, true))
        return absl::InvalidArgumentError("there are two Authorization fields");
      request.authorization = std::string(value);
    }
  }
  return request;
}

std::string PercentEncoded(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
        absl::string_view("-._~,*").find(c) != absl::string_view::npos) {
      text += c;
    } else {
      absl::StrAppend(&text, "%", absl::BytesToHexString(absl::string_view(&c, 1)));
    }
  }
  return text;
}

}  // namespace offcpu

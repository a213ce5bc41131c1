// Posts bodies to one URL, over HTTP or HTTPS, one after the other over one connection. libcurl does the work.
//
// Threads: one posts, any may stop it. The program ignores SIGPIPE. Does not judge answers, does not follow redirects,
// does not try again.
#ifndef OFFCPU_EXPORT_HTTP_POSTER_H_
#define OFFCPU_EXPORT_HTTP_POSTER_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace offcpu {

struct HttpTarget {
  std::string url;
  std::vector<std::string> headers;  // "Name: value", beside our own
  std::string user_agent;
  std::string
      bearer_token_file;  // this one and the next three are read for every post, as they are renewed; empty: none
  std::string ca_file;    // whom to trust; empty: whom the host trusts
  std::string certificate_file;  // to show, with its key; empty: none
  std::string key_file;
  std::string proxy;                          // empty: as http_proxy, https_proxy and no_proxy in the environment say
  std::chrono::milliseconds timeout{10'000};  // from the look-up of the name to the end of the answer
  // A connection that is older is not used again: the name may be another server's by now.
  std::chrono::seconds connection_lifetime{300};

  bool operator==(const HttpTarget&) const = default;
};

// What keeps a post from being sent now: a file that cannot be read, or has no token.
absl::Status CheckTargetFiles(const HttpTarget& target);

struct HttpAnswer {
  long status = 0;           // 0: there was no whole answer
  std::string body;          // its beginning
  bool is_whole = true;      // that is all of it
  std::string content_type;  // as the server has it; empty: it does not say
  std::optional<std::chrono::seconds> retry_after;
  std::string error;  // why there was none, for a person
};

class HttpPoster {
 public:
  static constexpr size_t kMaxAnswerBytes = 1u << 20;  // the rest is not kept
  static constexpr size_t kMaxReadBytes = 4u << 20;    // nor, beyond that, read

  explicit HttpPoster(HttpTarget target);
  ~HttpPoster();
  HttpPoster(const HttpPoster&) = delete;
  HttpPoster& operator=(const HttpPoster&) = delete;

  // Sends `body`, said to be gzip if it begins like that. Within the timeout, or about a second after Stop.
  HttpAnswer Post(std::string_view body);
  // All posts fail from now on.
  void Stop() { stopped_ = true; }

 private:
  const HttpTarget target_;
  std::atomic<bool> stopped_ = false;
  void* const curl_;  // a CURL handle
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_HTTP_POSTER_H_

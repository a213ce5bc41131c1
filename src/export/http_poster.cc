#include "export/http_poster.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "bytes/gzip.h"
#include "bytes/read_file.h"

namespace offcpu {
namespace {

constexpr size_t kMaxTokenBytes = 16u << 10;

using HeaderList = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

void Add(HeaderList& list, const std::string& header) {
  curl_slist* longer = curl_slist_append(list.get(), header.c_str());
  if (longer == nullptr) return;
  (void)list.release();
  list.reset(longer);
}

// What a target's files have now; empty where it names none.
struct TargetFiles {
  std::string token;
  std::string ca;
  std::string certificate;
  std::string key;
};

absl::Status ReadInto(const std::string& path, std::string& bytes) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> read = ReadRegularFile(path);
  if (!read.ok()) return read.status();
  bytes = *std::move(read);
  return absl::OkStatus();
}

absl::Status ReadToken(const std::string& path, std::string& token) {
  if (absl::Status status = ReadInto(path, token); !status.ok() || path.empty()) return status;
  absl::StripAsciiWhitespace(&token);
  bool is_line = !token.empty() && token.size() <= kMaxTokenBytes;
  for (const char c : token) is_line = is_line && absl::ascii_isgraph(static_cast<unsigned char>(c));
  return is_line ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat(path, ": this is not a token"));
}

absl::StatusOr<TargetFiles> ReadFiles(const HttpTarget& target) {
  TargetFiles files;
  absl::Status status = ReadToken(target.bearer_token_file, files.token);
  if (status.ok()) status = ReadInto(target.ca_file, files.ca);
  if (status.ok()) status = ReadInto(target.certificate_file, files.certificate);
  if (status.ok()) status = ReadInto(target.key_file, files.key);
  if (!status.ok()) return status;
  return files;
}

struct Incoming {
  std::string* kept;
  size_t bytes = 0;
  bool is_too_much = false;
};

size_t OnBytes(const char* data, size_t, size_t size, void* context) {
  auto* incoming = static_cast<Incoming*>(context);
  incoming->bytes += size;
  incoming->is_too_much = incoming->bytes > HttpPoster::kMaxReadBytes;
  if (incoming->is_too_much) return 0;
  incoming->kept->append(data, std::min(size, HttpPoster::kMaxAnswerBytes - incoming->kept->size()));
  return size;
}

int OnProgress(void* stopped, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(stopped)->load() ? 1 : 0;
}

// Once in a process; of the versions that are taken it may be called with other threads about.
CURL* NewHandle() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  return initialized == CURLE_OK ? curl_easy_init() : nullptr;
}

template <typename Value>
void Set(CURL* curl, CURLoption option, Value value) {
  curl_easy_setopt(curl, option, value);
}

// `bytes` must outlive the post.
void SetBytes(CURL* curl, CURLoption option, const std::string& bytes) {
  curl_blob blob = {.data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_NOCOPY};
  if (!bytes.empty()) curl_easy_setopt(curl, option, &blob);
}

}  // namespace

absl::Status CheckTargetFiles(const HttpTarget& target) { return ReadFiles(target).status(); }

HttpPoster::HttpPoster(HttpTarget target) : target_(std::move(target)), curl_(NewHandle()) {}

HttpPoster::~HttpPoster() { curl_easy_cleanup(curl_); }

HttpAnswer HttpPoster::Post(std::string_view body) {
  HttpAnswer answer;
  if (curl_ == nullptr) return {.error = "libcurl could not be initialized"};
  HeaderList headers(nullptr, curl_slist_free_all);
  Add(headers, "Content-Type: application/x-protobuf");
  Add(headers, "Expect:");  // not one round trip more
  if (IsGzip(body)) Add(headers, "Content-Encoding: gzip");
  for (const std::string& header : target_.headers) Add(headers, header);
  const absl::StatusOr<TargetFiles> files = ReadFiles(target_);
  if (!files.ok()) return {.error = std::string(files.status().message())};
  if (!files->token.empty()) Add(headers, absl::StrCat("Authorization: Bearer ", files->token));

  Incoming incoming{&answer.body};
  char error[CURL_ERROR_SIZE] = "";
  curl_easy_reset(curl_);  // options only: the connection is kept
  Set(curl_, CURLOPT_URL, target_.url.c_str());
  Set(curl_, CURLOPT_MAXLIFETIME_CONN, static_cast<long>(target_.connection_lifetime.count()));
  Set(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(curl_, CURLOPT_NOSIGNAL, 1L);
  Set(curl_, CURLOPT_QUICK_EXIT, 1L);  // does not wait for name servers that are silent
  Set(curl_, CURLOPT_USERAGENT, target_.user_agent.c_str());
  Set(curl_, CURLOPT_HTTPHEADER, headers.get());
  Set(curl_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  Set(curl_, CURLOPT_POSTFIELDS, body.data());
  Set(curl_, CURLOPT_TIMEOUT_MS, static_cast<long>(target_.timeout.count()));
  // Not by their names: libcurl would open whatever has them.
  SetBytes(curl_, CURLOPT_CAINFO_BLOB, files->ca);
  SetBytes(curl_, CURLOPT_SSLCERT_BLOB, files->certificate);
  SetBytes(curl_, CURLOPT_SSLKEY_BLOB, files->key);
  if (!target_.proxy.empty()) Set(curl_, CURLOPT_PROXY, target_.proxy.c_str());
  Set(curl_, CURLOPT_WRITEFUNCTION, OnBytes);
  Set(curl_, CURLOPT_WRITEDATA, &incoming);
  Set(curl_, CURLOPT_NOPROGRESS, 0L);
  Set(curl_, CURLOPT_XFERINFOFUNCTION, OnProgress);
  Set(curl_, CURLOPT_XFERINFODATA, &stopped_);
  Set(curl_, CURLOPT_ERRORBUFFER, error);
  const CURLcode code = curl_easy_perform(curl_);
  if (code != CURLE_OK && !incoming.is_too_much) {
    answer.error = *error != '\0' ? error : curl_easy_strerror(code);
    return answer;
  }
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &answer.status);
  answer.is_whole = incoming.bytes == answer.body.size();
  const char* content_type = nullptr;  // the handle's
  curl_easy_getinfo(curl_, CURLINFO_CONTENT_TYPE, &content_type);
  if (content_type != nullptr) answer.content_type = content_type;
  curl_off_t retry_after = 0;  // seconds or a date, as the server has it
  curl_easy_getinfo(curl_, CURLINFO_RETRY_AFTER, &retry_after);
  if (retry_after > 0) answer.retry_after = std::chrono::seconds(retry_after);
  return answer;
}

}  // namespace offcpu

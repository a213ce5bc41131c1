#include "daemon/http_access.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bytes/read_file.h"

namespace offcpu {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kBasic = "Basic ";

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadRegularFile(path);
  if (!text.ok()) return text.status();
  const std::string token(absl::StripAsciiWhitespace(text->substr(0, text->find('\n'))));
  if (token.size() < HttpAccess::kLeastTokenBytes || token.size() > HttpAccess::kMostTokenBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the first line must be a token of ",
                                                   HttpAccess::kLeastTokenBytes, " to ", HttpAccess::kMostTokenBytes,
                                                   " bytes"));
  }
  return token;
}

// What comes behind the scheme, in whatever letters that is written.
std::optional<absl::string_view> Behind(std::string_view scheme, std::string_view authorization) {
  const absl::string_view text(authorization.data(), authorization.size());
  if (!absl::StartsWithIgnoreCase(text, absl::string_view(scheme.data(), scheme.size()))) return std::nullopt;
  return text.substr(scheme.size());
}

// Browsers have no bearer token: they show it as a password, for whichever user.
std::optional<std::string> TokenIn(std::string_view authorization) {
  if (const auto token = Behind(kBearer, authorization); token.has_value()) return std::string(*token);
  const std::optional<absl::string_view> basic = Behind(kBasic, authorization);
  std::string pair;
  if (!basic.has_value() || !absl::Base64Unescape(*basic, &pair)) return std::nullopt;
  const size_t colon = pair.find(':');
  return colon == std::string::npos ? std::nullopt : std::optional(pair.substr(colon + 1));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const HttpAccess>> HttpAccess::Load(const DaemonConfig::Http& config) {
  auto access = std::make_shared<HttpAccess>();
  if (config.listen.empty()) return access;
  if (!config.certificate_file.empty()) {
    absl::StatusOr<std::shared_ptr<const TlsServer>> tls = TlsServer::Load(
        {.certificate = config.certificate_file, .key = config.key_file, .client_ca = config.client_ca_file});
    if (!tls.ok()) return tls.status();
    access->tls_ = *std::move(tls);
    access->wants_certificate_ = !config.client_ca_file.empty();
  }
  if (!config.bearer_token_file.empty()) {
    const absl::StatusOr<std::string> token = ReadToken(config.bearer_token_file);
    if (!token.ok()) return token.status();
    access->token_ = DigestOf(*token);
  }
  return access;
}

bool HttpAccess::Allows(std::string_view authorization, bool has_certificate) const {
  if (wants_certificate_ && !has_certificate) return false;
  if (!token_.has_value()) return true;
  const std::optional<std::string> token = TokenIn(authorization);
  if (!token.has_value()) return false;
  // Digests are as long as each other, whatever they are of.
  const Digest shown = DigestOf(*token);
  return CRYPTO_memcmp(shown.data(), token_->data(), shown.size()) == 0;
}

HttpAccess::Digest HttpAccess::DigestOf(std::string_view token) {
  Digest digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

}  // namespace offcpu

// Who may ask over HTTP: what is spoken there, and what a client has to show. Never changed once it is loaded; any
// thread. Does not decide which paths are open to all.
#ifndef OFFCPU_DAEMON_HTTP_ACCESS_H_
#define OFFCPU_DAEMON_HTTP_ACCESS_H_

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/config.h"
#include "daemon/tls.h"

namespace offcpu {

class HttpAccess {
 public:
  static constexpr size_t kLeastTokenBytes = 16;
  static constexpr size_t kMostTokenBytes = 4096;

  // Without TLS, open to every client.
  HttpAccess() = default;

  // Reads the files that the configuration names, at once; none if it does not listen. InvalidArgument if one is not
  // what it should be; a token is the first line of its file.
  static absl::StatusOr<std::shared_ptr<const HttpAccess>> Load(const DaemonConfig::Http& config);

  // Null: none.
  const TlsServer* tls() const { return tls_.get(); }

  // Has the client shown all that is asked for? `authorization`: that field of its request. How long it takes says
  // nothing of the token.
  bool Allows(std::string_view authorization, bool has_certificate) const;

 private:
  using Digest = std::array<unsigned char, 32>;

  static Digest DigestOf(std::string_view token);

  std::shared_ptr<const TlsServer> tls_;
  bool wants_certificate_ = false;
  std::optional<Digest> token_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_HTTP_ACCESS_H_

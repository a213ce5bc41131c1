// TLS on sockets that do not block: the certificate of a server, and what is said on one connection. OpenSSL's types
// stay in the .cc file. From TLS 1.2 on, without renegotiation, resumption and tickets: a connection is one request.
//
// Threads: a server's any, a connection's one. The program ignores SIGPIPE.
#ifndef OFFCPU_DAEMON_TLS_H_
#define OFFCPU_DAEMON_TLS_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct ssl_ctx_st;
struct ssl_st;

namespace offcpu {

struct TlsFiles {
  std::string certificate;  // PEM, with those that it was signed by
  std::string key;
  std::string client_ca;  // whose clients' certificates are believed; empty: none are asked for
};

class TlsServer;

// The server's end of one connection. Its file must outlive it.
class TlsConnection {
 public:
  TlsConnection(const TlsServer& server, int fd);

  // As recv(2) and send(2) do: -1 and EAGAIN if it is to be tried again after poll(2) has told of events(), of a part
  // of it too; -1 and EPROTO if what came is no TLS, or no certificate that is believed.
  ssize_t Read(char* bytes, size_t size);
  ssize_t Write(std::string_view bytes);
  // POLLIN or POLLOUT: what the last call wanted. It need not be what its name says.
  short events() const { return events_; }
  // The client has shown a certificate that is believed.
  bool has_certificate() const;
  // Says that nothing more comes, if that is possible at once.
  void End();

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };

  ssize_t ResultOf(int result);

  std::unique_ptr<ssl_st, Free> ssl_;
  short events_;
};

class TlsServer {
 public:
  // InvalidArgument if a file is not what it should be.
  static absl::StatusOr<std::shared_ptr<const TlsServer>> Load(const TlsFiles& files);

 private:
  friend class TlsConnection;
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };

  TlsServer();

  const std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_TLS_H_

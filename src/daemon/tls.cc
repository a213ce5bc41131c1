#include "daemon/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bytes/read_file.h"

namespace offcpu {
namespace {

absl::Status Wrong(const std::string& file, const char* what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", what, reason != nullptr ? absl::StrCat(": ", reason) : std::string()));
}

// Asked for a passphrase nobody would answer.
int NoPassphrase(char*, int, int, void*) { return -1; }

// OpenSSL gets the bytes of files and no names: it would open whatever has them.
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Bio BioOf(const std::string& pem) { return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free); }

Certificate NextCertificate(const Bio& bio) {
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr), X509_free);
}

// The last certificate was the end of the file, and not one that is broken.
bool IsAtEnd() {
  const unsigned long error = ERR_peek_last_error();
  const bool is_end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (is_end) ERR_clear_error();
  return is_end;
}

// The server's own, and behind it those that it was signed by.
absl::Status UseCertificates(SSL_CTX* context, const std::string& file) {
  const absl::StatusOr<std::string> pem = ReadRegularFile(file);
  if (!pem.ok()) return pem.status();
  const Bio bio = BioOf(*pem);
  const Certificate own = NextCertificate(bio);
  bool is_right = own != nullptr && SSL_CTX_use_certificate(context, own.get()) == 1;
  while (is_right) {
    const Certificate signer = NextCertificate(bio);
    if (signer == nullptr) break;
    is_right = SSL_CTX_add1_chain_cert(context, signer.get()) == 1;
  }
  return is_right && IsAtEnd() ? absl::OkStatus() : Wrong(file, "cannot read a certificate from it");
}

absl::Status UseKey(SSL_CTX* context, const std::string& file) {
  const absl::StatusOr<std::string> pem = ReadRegularFile(file);
  if (!pem.ok()) return pem.status();
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(BioOf(*pem).get(), nullptr, NoPassphrase, nullptr), EVP_PKEY_free);
  const bool is_right = key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  return is_right ? absl::OkStatus() : Wrong(file, "cannot read the key of the certificate from it");
}

// Who shows none is let in as far as that is enough; who shows a wrong one is not.
absl::Status UseClientCa(SSL_CTX* context, const std::string& file) {
  const absl::StatusOr<std::string> pem = ReadRegularFile(file);
  if (!pem.ok()) return pem.status();
  const Bio bio = BioOf(*pem);
  size_t count = 0;
  while (const Certificate ca = NextCertificate(bio)) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get()) != 1 ||
        SSL_CTX_add_client_CA(context, ca.get()) != 1)
      break;
    ++count;
  }
  if (!IsAtEnd() || count == 0) return Wrong(file, "cannot read certificates from it");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return absl::OkStatus();
}

int AtMostInt(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

}  // namespace

void TlsServer::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void TlsConnection::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsServer::TlsServer() : context_(SSL_CTX_new(TLS_server_method())) {}

absl::StatusOr<std::shared_ptr<const TlsServer>> TlsServer::Load(const TlsFiles& files) {
  ERR_clear_error();
  std::shared_ptr<const TlsServer> server(new TlsServer());
  SSL_CTX* context = server->context_.get();
  if (context == nullptr) return absl::InternalError("OpenSSL could not create a context");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  // Who hangs up without a word is no stranger. A request has an end of its own, so none is cut short by it.
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  absl::Status status = UseCertificates(context, files.certificate);
  if (status.ok()) status = UseKey(context, files.key);
  if (status.ok() && !files.client_ca.empty()) status = UseClientCa(context, files.client_ca);
  if (!status.ok()) return status;
  return server;
}

TlsConnection::TlsConnection(const TlsServer& server, int fd) : ssl_(SSL_new(server.context_.get())), events_(POLLIN) {
  if (ssl_ == nullptr) return;
  SSL_set_accept_state(ssl_.get());
  if (SSL_set_fd(ssl_.get(), fd) != 1) ssl_.reset();  // then every call fails
}

ssize_t TlsConnection::Read(char* bytes, size_t size) {
  ERR_clear_error();
  errno = 0;
  return ResultOf(ssl_ == nullptr ? -1 : SSL_read(ssl_.get(), bytes, AtMostInt(size)));
}

ssize_t TlsConnection::Write(std::string_view bytes) {
  ERR_clear_error();
  errno = 0;
  return ResultOf(ssl_ == nullptr ? -1 : SSL_write(ssl_.get(), bytes.data(), AtMostInt(bytes.size())));
}

ssize_t TlsConnection::ResultOf(int result) {
  if (result > 0) return result;
  switch (ssl_ == nullptr ? SSL_ERROR_SSL : SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      events_ = POLLIN;
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_WANT_WRITE:
      events_ = POLLOUT;
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    case SSL_ERROR_SYSCALL:  // the connection is gone, with or without an error
      if (errno == 0) errno = ECONNRESET;
      return -1;
    default:
      errno = EPROTO;
      return -1;
  }
}

bool TlsConnection::has_certificate() const {
  // Only asked for with SSL_VERIFY_PEER, with which a wrong one has ended the handshake.
  return ssl_ != nullptr && (SSL_get_verify_mode(ssl_.get()) & SSL_VERIFY_PEER) != 0 &&
         SSL_get0_peer_certificate(ssl_.get()) != nullptr && SSL_get_verify_result(ssl_.get()) == X509_V_OK;
}

void TlsConnection::End() {
  ERR_clear_error();
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_.get()) != 0) SSL_shutdown(ssl_.get());
}

}  // namespace offcpu

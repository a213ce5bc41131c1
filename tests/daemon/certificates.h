// Certificates for tests, made by openssl(1) in a directory that goes with them: of a server at 127.0.0.1, of a client,
// of the authority that signed both, and of another client that nobody knows.
#ifndef OFFCPU_TESTS_DAEMON_CERTIFICATES_H_
#define OFFCPU_TESTS_DAEMON_CERTIFICATES_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace offcpu {

class Certificates {
 public:
  Certificates() {
    std::string name = testing::TempDir() + "/certificates-XXXXXX";
    directory_ = mkdtemp(name.data());
    Make("ca", "");
    Make("server", Signed() + " -addext subjectAltName=IP:127.0.0.1");
    Make("client", Signed());
    Make("stranger", "");
  }
  ~Certificates() { std::filesystem::remove_all(directory_); }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name)) << bytes;
    return Path(name);
  }

 private:
  std::string Signed() const { return " -CA " + Path("ca.pem") + " -CAkey " + Path("ca.key"); }
  void Make(const std::string& name, const std::string& more) const {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + name +
        " -keyout " + Path(name + ".key") + " -out " + Path(name + ".pem") + more + " 2>" + Path("log");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }

  std::string directory_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_DAEMON_CERTIFICATES_H_

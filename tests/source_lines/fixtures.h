// The objects that make_fixtures makes, the places in them, and where these are in the source.
#ifndef OFFCPU_TESTS_SOURCE_LINES_FIXTURES_H_
#define OFFCPU_TESTS_SOURCE_LINES_FIXTURES_H_

#include <fcntl.h>

#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"
#include "os/owned_fd.h"

namespace offcpu {

inline std::string FixturePath(const std::string& name) { return LINES_FIXTURES "/" + name; }

inline OwnedFd OpenLinesFixture(const std::string& name) {
  OwnedFd fd(open(FixturePath(name).c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd) << name;
  return fd;
}

inline std::string LinesFixture(const std::string& name) {
  std::ifstream file(FixturePath(name), std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The address of a symbol, as nm has it.
inline uint64_t AddressOf(const std::string& object, const std::string& symbol) {
  std::ifstream symbols(FixturePath(object + ".symbols"));
  std::string address;
  std::string type;
  std::string name;
  while (symbols >> address >> type >> name) {
    if (name == symbol) return std::stoull(address, nullptr, 16);
  }
  ADD_FAILURE() << "no " << symbol << " in " << object;
  return 0;
}

// The line of the source that ends with that comment.
inline uint32_t LineWith(const std::string& comment) {
  std::ifstream source(LINES_SOURCE);
  std::string line;
  for (uint32_t number = 1; std::getline(source, line); ++number) {
    if (line.ends_with("// " + comment)) return number;
  }
  ADD_FAILURE() << "no line with " << comment;
  return 0;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_SOURCE_LINES_FIXTURES_H_

// Inlined functions, files and lines of 20,000 addresses of real programs, beside what llvm-symbolizer says of them.
//
// It may say more of code without debug information, of which it has the symbol, but no place. The name of the function
// that was not inlined is not compared: both take it from the symbol table.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "os/owned_fd.h"
#include "process/elf/file.h"
#include "process/memory.h"
#include "source_lines/source_lines.h"

namespace offcpu {
namespace {

constexpr size_t kAddresses = 20'000;

constexpr char kCxx[] = R"(
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
namespace {
std::map<std::string, int> Count(std::istream& in) {
  std::map<std::string, int> all;
  const std::regex word("[a-z]+(-[a-z]+)*");
  for (std::string line; std::getline(in, line);)
    for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) ++all[it->str()];
  return all;
}
}  // namespace
int main(int argc, char** argv) {
  std::ifstream in(argv[argc - 1]);
  std::vector<std::pair<std::string, int>> sorted;
  for (auto& one : Count(in)) sorted.push_back(one);
  std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.second > b.second; });
  for (auto& [word, n] : sorted) std::cout << word << " " << n << "\n";
}
)";

constexpr char kRust[] = R"(
use std::collections::{BTreeMap, HashMap};
fn count(text: &str) -> BTreeMap<String, usize> {
    let mut all: HashMap<String, usize> = HashMap::new();
    for word in text.split_whitespace() { *all.entry(word.to_lowercase()).or_insert(0) += 1; }
    all.into_iter().filter(|(_, n)| *n > 1).collect()
}
fn main() {
    let text = std::env::args().collect::<Vec<_>>().join(" ");
    for (word, n) in count(&text) { println!("{word} {n}"); }
}
)";

using Place = std::tuple<std::string, std::string, uint32_t>;  // an inlined function, file, line

std::string Output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  char piece[4096];
  for (size_t n = 0; (n = fread(piece, 1, sizeof(piece), pipe)) > 0;) text.append(piece, n);
  pclose(pipe);
  return text;
}

std::string Normal(const std::string& path) { return std::filesystem::path(path).lexically_normal(); }

class LinesComparedTest : public ::testing::Test {
 protected:
  LinesComparedTest() {
    std::string name = ::testing::TempDir() + "offcpu-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~LinesComparedTest() override { std::filesystem::remove_all(directory_); }

  std::string Make(const std::string& source, const std::string& suffix, const std::string& compiler) {
    std::ofstream(directory_ + "/source" + suffix) << source;
    const std::string command = compiler + " " + directory_ + "/source" + suffix + " -o " + directory_ + "/program";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return directory_ + "/program";
  }

  // Everywhere in its functions.
  static std::vector<uint64_t> Addresses(const std::string& file) {
    std::istringstream symbols(Output("nm -S --defined-only " + file + " 2>/dev/null | awk '$3 ~ /^[tTwW]$/'"));
    std::map<uint64_t, uint64_t> functions;
    std::string begin;
    std::string bytes;
    for (std::string line; std::getline(symbols, line);) {
      std::istringstream(line) >> begin >> bytes;
      functions[std::stoull(begin, nullptr, 16)] = std::stoull(bytes, nullptr, 16);
    }
    std::vector<uint64_t> all;
    for (const auto& [address, size] : functions) {
      for (uint64_t i = 0; i < size; ++i) all.push_back(address + i);
    }
    std::vector<uint64_t> some;
    std::ranges::sample(all, std::back_inserter(some), kAddresses, std::mt19937_64(1));
    some.erase(std::unique(some.begin(), some.end()), some.end());
    return some;
  }

  // The places of each address, innermost first.
  std::vector<std::vector<Place>> Expected(const std::string& file, const std::vector<uint64_t>& addresses) {
    std::ofstream list(directory_ + "/addresses");
    for (const uint64_t address : addresses) list << "0x" << std::hex << address << "\n";
    list.close();
    std::istringstream lines(Output("llvm-symbolizer --inlines --functions=linkage --no-demangle -e " + file + " <" +
                                    directory_ + "/addresses"));
    std::vector<std::vector<Place>> expected(1);
    std::string function;
    std::string place;
    while (std::getline(lines, function)) {
      if (function.empty()) {
        expected.emplace_back();
        continue;
      }
      std::getline(lines, place);
      const size_t column = place.rfind(':');
      const size_t line = place.rfind(':', column - 1);
      const std::string path = place.substr(0, line);
      expected.back().emplace_back(function == "??" ? "" : function, path == "??" ? "" : Normal(path),
                                   std::stoul(place.substr(line + 1)));
    }
    if (expected.back().empty()) expected.pop_back();
    return expected;
  }

  static std::vector<Place> PlacesOf(const LineChain& chain) {
    std::vector<Place> places;
    for (const SourceLine& line : chain) places.emplace_back(line.function, Normal(std::string(line.file)), line.line);
    return places;
  }

  void Compare(const std::string& file) {
    const std::vector<uint64_t> addresses = Addresses(file);
    ASSERT_GT(addresses.size(), kAddresses / 4);
    const std::vector<std::vector<Place>> expected = Expected(file, addresses);
    ASSERT_EQ(expected.size(), addresses.size());
    const OwnedFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    const SourceLines lines = ReadSourceLines({.file = fd.get()}, addresses, {.time = std::chrono::seconds(60)});
    EXPECT_FALSE(lines.is_cut);
    size_t known = 0;
    for (size_t i = 0; i < addresses.size(); ++i) {
      std::vector<Place> places = PlacesOf(lines.chains[i]);
      std::vector<Place> wanted = expected[i];
      if (places.empty() && wanted.size() == 1 && std::get<2>(wanted[0]) == 0) continue;
      ++known;
      if (!places.empty()) std::get<0>(places.back()) = std::get<0>(wanted.back());
      ASSERT_EQ(places, wanted) << file << " 0x" << std::hex << addresses[i];
    }
    EXPECT_GT(known, addresses.size() / 2);
  }

  std::string directory_;
};

TEST_F(LinesComparedTest, CxxByGcc) { Compare(Make(kCxx, ".cc", "g++ -std=c++20 -O2 -g")); }

TEST_F(LinesComparedTest, CxxByClang) { Compare(Make(kCxx, ".cc", "clang++ -std=c++20 -O2 -g")); }

TEST_F(LinesComparedTest, Rust) {
  if (std::system("command -v rustc >/dev/null") != 0) GTEST_SKIP() << "rustc";
  Compare(Make(kRust, ".rs", "rustc -O -g"));
}

// Its debug file is another one, of assembler and C, compressed and made smaller by dwz.
TEST_F(LinesComparedTest, TheCLibrary) {
  const OwnedFd fd(open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC));
  const FileMemory memory(fd.get());
  const auto elf = ElfFile::Parse(memory);
  ASSERT_TRUE(elf.ok());
  const std::string id = elf->BuildId();
  const std::string file = "/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  if (access(file.c_str(), R_OK) != 0) GTEST_SKIP() << "libc6-dbg";
  Compare(file);
}

}  // namespace
}  // namespace offcpu

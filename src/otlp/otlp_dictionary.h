// The tables of one OTLP request that its profiles refer to. Each entry is there once, and found by its content; the
// first of each table is the empty one, index 0. The size on the wire is always known, and what was added last can be
// taken back, so that a request is filled to its limit and holds nothing that it does not refer to.
//
// One thread. Texts are made valid UTF-8 without control characters, as in pprof.
#ifndef OFFCPU_OTLP_OTLP_DICTIONARY_H_
#define OFFCPU_OTLP_OTLP_DICTIONARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace offcpu {

// Serialized entries of one table, framed as fields of the dictionary.
class OtlpTable {
 public:
  explicit OtlpTable(int field);

  // The index of the entry, which is added if it is new.
  int32_t Intern(std::string_view entry);
  size_t entries() const { return ends_.size(); }
  const std::string& bytes() const { return bytes_; }
  // Forgets all but the first `entries`, at least 1.
  void Truncate(size_t entries);

 private:
  int field_;
  std::string bytes_;
  std::vector<size_t> ends_;  // of each entry in bytes_
  absl::flat_hash_map<std::string, int32_t> index_;
};

// Indices are those of the tables of the same dictionary.
struct OtlpLine {
  int32_t function = 0;
  uint32_t line = 0;  // 0: not known
};
struct OtlpLocation {
  int32_t mapping = 0;
  uint64_t address = 0;
  std::vector<OtlpLine> lines;  // innermost first; none: a reader has to look them up
  int32_t frame_type = 0;       // an attribute; 0: not known
};

class OtlpDictionary {
 public:
  OtlpDictionary();

  int32_t String(std::string_view text);
  int32_t Attribute(std::string_view key, std::string_view text);
  int32_t Attribute(std::string_view key, int64_t number, std::string_view unit);  // of UCUM, or ""
  int32_t Attribute(std::string_view key, std::span<const std::string> texts);
  // A whole address space, because addresses are link-time ones.
  int32_t Mapping(std::string_view path, std::span<const int32_t> attributes);
  int32_t Function(std::string_view name, std::string_view file);  // "": not known
  int32_t Location(const OtlpLocation& location);
  int32_t Stack(std::span<const int32_t> locations);  // leaf first

  size_t bytes() const;
  void AppendTo(std::string* out) const;

  // How far the tables were filled.
  using Mark = std::array<size_t, 7>;
  Mark mark() const;
  void Rewind(const Mark& mark);

 private:
  std::array<OtlpTable, 7> tables_;  // in the order of their fields
};

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_DICTIONARY_H_

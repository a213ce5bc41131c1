// The keys of a terminal, from the bytes that it sends. A pure function of anything that is typed or pasted: what it
// does not know is left out.
#ifndef OFFCPU_TABLES_TOP_KEYS_H_
#define OFFCPU_TABLES_TOP_KEYS_H_

#include <string>
#include <string_view>
#include <vector>

namespace offcpu {

struct TopKey {
  enum class Kind { kText, kUp, kDown, kPageUp, kPageDown, kHome, kEnd, kTab, kEnter, kEscape, kBackspace };
  Kind kind = Kind::kText;
  std::string text = {};  // of kText: one character that can be shown

  bool operator==(const TopKey&) const = default;
};

// Whole sequences: where one lacks its end, what there is of it means nothing. An escape that begins none is the key.
std::vector<TopKey> TopKeys(std::string_view typed);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_KEYS_H_

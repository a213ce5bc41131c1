// A flag or an operand of a verb, as data: what it is called, where its value goes, what the help says of it. Which
// parser reads them is known to command_line.cc alone, because the parser's headers take seconds to compile.
#ifndef OFFCPU_CMD_OFFCPU_FLAG_H_
#define OFFCPU_CMD_OFFCPU_FLAG_H_

#include <climits>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace offcpu {

// What a value may be, and what the help says of it beside the text.
struct FlagRules {
  std::vector<std::string> one_of;  // empty: any
  int min = 0;                      // of numbers
  int max = INT_MAX;
  bool is_required = false;
  bool shows_default = false;
  char separator = 0;         // between the values of a list; 0: one value at a time
  std::string excludes = {};  // a flag of the verb that was declared before
};

struct Flag {
  std::string name;  // "-p,--pid"; an operand's is without dashes
  // Must outlive the parsing. A flag of a list may be given several times; a flag of a bool takes no value.
  std::variant<bool*, int*, uint32_t*, uint64_t*, std::string*, std::vector<int>*, std::vector<std::string>*> value;
  std::string help;
  std::string type = {};  // the value in the help; empty: the parser's own word
  FlagRules rules = {};
};

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_FLAG_H_

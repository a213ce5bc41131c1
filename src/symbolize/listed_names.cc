#include "symbolize/listed_names.h"

#include <string>
#include <vector>

#include "symbolize/symbol_search.h"

namespace offcpu {

ModuleNames NamesFrom(const FunctionList* functions, std::span<const uint64_t> addresses) {
  ModuleNames found = {.names = std::vector<std::string>(addresses.size())};
  if (functions == nullptr) return found;
  const FunctionNames texts = functions->names();
  NameSource names(texts.memory, 0, texts.bytes, std::string(1, texts.end));
  SymbolSearch search(addresses);
  functions->ForEach([&](const ListedFunction& function) {
    found.full = found.full || names.IsName(function.name);
    search.Add({.begin = function.begin,
                .end = function.end,
                .sized = true,
                .key = function.order,
                .names = &names,
                .name = function.name});
  });
  found.names = search.Names(kMaxModuleNameBytes, &found.left_out);
  return found;
}

}  // namespace offcpu

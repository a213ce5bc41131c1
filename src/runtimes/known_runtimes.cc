#include "runtimes/known_runtimes.h"

#include <vector>

#include "runtimes/go/functions.h"
#include "runtimes/go/go.h"
#include "runtimes/hotspot/open.h"
#include "runtimes/perf_map/perf_map.h"
#include "runtimes/python/open.h"
#include "runtimes/python/trampolines.h"

namespace offcpu {
namespace {

constexpr KnownRuntime kKnown[] = {
    {.code = {.read_module = ReadGoModule}, .functions = GoFunctions},
    {.find = FindHotSpot},
    {.code = {.read_made = FindTrampolines}, .find = FindCPython},
    {.code = {.read_made = NameByPerfMap}},  // of any runtime; last, as what has a name counts as known
};

bool ReadModule(const ElfFile& file, Module* module) {
  for (const KnownRuntime& runtime : kKnown) {
    if (runtime.code.read_module != nullptr && runtime.code.read_module(file, module)) return true;
  }
  return false;
}

void ReadMade(const ReadProcess& process, std::vector<MappedCode>* code) {
  for (const KnownRuntime& runtime : kKnown) {
    if (runtime.code.read_made != nullptr) runtime.code.read_made(process, code);
  }
}

}  // namespace

std::span<const KnownRuntime> KnownRuntimes() { return kKnown; }

CodeReader RuntimesReader() { return {.read_module = ReadModule, .read_made = ReadMade}; }

absl::StatusOr<std::unique_ptr<FunctionList>> FunctionsOf(const ElfFile& file) {
  for (const KnownRuntime& runtime : kKnown) {
    if (runtime.functions == nullptr) continue;
    auto functions = runtime.functions(file);
    if (!functions.ok() || *functions != nullptr) return functions;
  }
  return nullptr;
}

}  // namespace offcpu

#include "runtimes/go/functions.h"

#include <memory>
#include <optional>

#include "process/piecewise_memory.h"
#include "runtimes/go/table.h"

namespace offcpu {
namespace {

class GoFunctionList final : public FunctionList {
 public:
  GoFunctionList(const Memory& memory, uint64_t begin, uint64_t bytes, uint64_t text_address)
      : memory_(memory, begin, bytes), table_(GoTable::Open(memory_, bytes, text_address)) {}

  bool is_known() const { return table_.has_value(); }

  void ForEach(absl::FunctionRef<void(const ListedFunction&)> use) const override {
    for (uint64_t i = 0; i < table_->functions(); ++i) {
      const std::optional<GoTable::Function> function = table_->FunctionAt(i);
      if (!function) continue;
      use({.begin = function->begin, .end = function->end, .order = function->begin, .name = function->name});
    }
  }
  FunctionNames names() const override { return {.memory = memory_, .bytes = memory_.bytes()}; }

 private:
  const PiecewiseMemory memory_;
  const std::optional<GoTable> table_;
};

}  // namespace

std::unique_ptr<FunctionList> GoFunctionsOf(const Memory& memory, uint64_t begin, uint64_t bytes,
                                            uint64_t text_address) {
  auto functions = std::make_unique<GoFunctionList>(memory, begin, bytes, text_address);
  if (!functions->is_known()) return nullptr;
  return functions;
}

absl::StatusOr<std::unique_ptr<FunctionList>> GoFunctions(const ElfFile& file) {
  const std::optional<GoSections> sections = FindGoSections(file);
  if (!sections) return nullptr;
  if (sections->is_too_large()) return absl::ResourceExhaustedError("a larger table than is searched");
  return GoFunctionsOf(file.memory(), sections->table->offset, sections->table->size, sections->text->address);
}

}  // namespace offcpu

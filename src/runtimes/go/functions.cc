#include "runtimes/go/functions.h"

#include <optional>
#include <span>
#include <utility>

#include "runtimes/go/table.h"

namespace offcpu {
namespace {

class GoFunctionList final : public FunctionList {
 public:
  GoFunctionList(std::string bytes, uint64_t text_address)
      : bytes_(std::move(bytes)),
        memory_(0, std::as_bytes(std::span(bytes_))),
        table_(GoTable::Open(bytes_, text_address)) {}

  bool is_known() const { return table_.has_value(); }

  void ForEach(absl::FunctionRef<void(const ListedFunction&)> use) const override {
    for (uint64_t i = 0; i < table_->functions(); ++i) {
      const std::optional<GoTable::Function> function = table_->FunctionAt(i);
      if (!function) continue;
      use({.begin = function->begin, .end = function->end, .order = function->begin, .name = function->name});
    }
  }
  FunctionNames names() const override { return {.memory = memory_, .bytes = bytes_.size()}; }

 private:
  const std::string bytes_;
  const SpanMemory memory_;
  const std::optional<GoTable> table_;
};

}  // namespace

std::unique_ptr<FunctionList> GoFunctionsOf(std::string table, uint64_t text_address) {
  auto functions = std::make_unique<GoFunctionList>(std::move(table), text_address);
  if (!functions->is_known()) return nullptr;
  return functions;
}

std::unique_ptr<FunctionList> GoFunctions(const ElfFile& file) {
  const ElfSection* section = file.Find(".gopclntab");
  if (section == nullptr) section = file.Find(".data.rel.ro.gopclntab");  // of programs that can be loaded anywhere
  const ElfSection* text = file.Find(".text");
  if (section == nullptr || text == nullptr) return nullptr;
  absl::StatusOr<std::string> bytes = file.Read(*section);
  return bytes.ok() ? GoFunctionsOf(*std::move(bytes), text->address) : nullptr;
}

}  // namespace offcpu

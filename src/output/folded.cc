#include "output/folded.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "classify/copy_suffix.h"
#include "labels/stack_labels.h"

namespace offcpu {
namespace {

void AppendName(std::string name, std::string& line) {
  std::replace(name.begin(), name.end(), ';', ':');
  if (!line.empty()) line += ';';
  line += name;
}

std::string Joined(std::vector<std::string> labels) {
  std::string text;
  for (std::string& label : labels) AppendName(std::move(label), text);
  return text;
}

// Numbers texts by their order, so that equal texts have one number and numbers sort as texts do.
class Ranks {
 public:
  explicit Ranks(std::vector<std::string> texts) : rank_of_(texts.size()) {
    std::vector<size_t> order(texts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return texts[a] < texts[b]; });
    for (const size_t index : order) {
      if (texts_.empty() || texts_.back() != texts[index]) texts_.push_back(std::move(texts[index]));
      rank_of_[index] = texts_.size() - 1;
    }
  }

  size_t rank(size_t index) const { return rank_of_[index]; }
  const std::string& text(size_t rank) const { return texts_[rank]; }

 private:
  std::vector<size_t> rank_of_;
  std::vector<std::string> texts_;
};

std::vector<std::string> Threads(const NamedProfile& profile) {
  std::vector<std::string> names;
  for (const std::string& comm : profile.comms) names.push_back(Joined({ThreadLabel(comm)}));
  return names;
}

using ProcessNaming = std::string (*)(const ProcessInfo& process);
ProcessNaming NamingOf(const FoldedOptions& options) { return options.per_process ? ProcessLabel : ProgramLabel; }

std::vector<std::string> Processes(const NamedProfile& profile, const FoldedOptions& options) {
  std::vector<std::string> names;
  for (const ProcessInfo& process : profile.processes) names.push_back(Joined({NamingOf(options)(process)}));
  return names;
}

// A function and what a compiler has split off or specialized of it are one to who reads a graph.
std::vector<std::string> WithoutCopySuffixes(std::vector<std::string> labels) {
  for (std::string& label : labels) label.resize(WithoutCopySuffix(label).size());
  return labels;
}

std::vector<std::string> SourceUserLabels(const NamedUserStack& stack) {
  return WithoutCopySuffixes(UserLabels(stack));
}

// Functions are marked as the kernel's; the words for what is missing are none.
std::vector<std::string> MarkedKernelLabels(const NamedKernelStack& stack) {
  std::vector<std::string> labels = WithoutCopySuffixes(KernelLabels(stack));
  for (std::string& label : labels) label += stack.frames.empty() ? "" : "_[k]";
  return labels;
}

std::vector<std::string> UserTexts(const NamedProfile& profile) {
  std::vector<std::string> texts;
  for (const NamedUserStack& stack : profile.user_stacks) texts.push_back(Joined(SourceUserLabels(stack)));
  return texts;
}

std::vector<std::string> KernelTexts(const NamedProfile& profile) {
  std::vector<std::string> texts;
  for (const NamedKernelStack& stack : profile.kernel_stacks) texts.push_back(Joined(MarkedKernelLabels(stack)));
  return texts;
}

// By RowKey::waker: what follows the kernel's leaf.
std::vector<std::string> WakerTexts(const NamedProfile& profile, const FoldedOptions& options) {
  std::vector<std::string> texts(1);
  for (const WakerChain& chain : profile.wakers) {
    const WakerNaming naming = {.user = SourceUserLabels, .kernel = MarkedKernelLabels, .process = NamingOf(options)};
    texts.push_back(absl::StrCat(";", Joined(WakerLabels(profile, chain, naming))));
  }
  return texts;
}

}  // namespace

void ForEachStack(const NamedProfile& profile, std::span<const NamedRow> rows, const FoldedOptions& options,
                  StackVisitor visit) {
  Ranks processes(Processes(profile, options));
  Ranks threads(Threads(profile));
  Ranks users(UserTexts(profile));
  Ranks kernels(KernelTexts(profile));
  Ranks wakers(WakerTexts(profile, options));
  std::map<std::tuple<size_t, size_t, size_t, size_t, size_t>, RowSums> sums;
  for (const ProfileRow& row : rows) {
    if (row.kind == WaitKind::kRunning && options.value == RowValue::kOffCpu) continue;
    sums[{processes.rank(row.process), threads.rank(row.comm), users.rank(row.user_stack),
          kernels.rank(row.kernel_stack), wakers.rank(row.waker)}]
        .Add(row);
  }
  for (const auto& [key, of_stack] : sums) {
    if (ValueOf(of_stack, options.value) == 0 && options.value != RowValue::kOffCpu && options.value != RowValue::kWall)
      continue;
    auto [process, thread, user, kernel, waker] = key;
    std::string line = processes.text(process);
    for (const std::string* part : {&threads.text(thread), &users.text(user)}) {
      if (!part->empty()) absl::StrAppend(&line, ";", *part);
    }
    if (!kernels.text(kernel).empty()) absl::StrAppend(&line, ";-;", kernels.text(kernel));
    visit(line + wakers.text(waker), of_stack);
  }
}

void WriteFolded(const NamedProfile& profile, std::span<const NamedRow> rows, const FoldedOptions& options,
                 ByteSink sink) {
  const bool as_is = options.nanoseconds || !IsTime(options.value);
  ForEachStack(profile, rows, options, [&](const std::string& stack, const RowSums& sums) {
    const uint64_t amount = ValueOf(sums, options.value);
    const uint64_t value = as_is ? amount : amount / 1000 + (amount % 1000 >= 500 ? 1 : 0);
    sink(absl::StrCat(stack, " ", value, "\n"));
  });
}

}  // namespace offcpu

#include "unwind/unwind_order.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace offcpu {

bool UnwindOrder::Has(FrameSource source) const {
  return std::find(sources.begin(), sources.end(), source) != sources.end();
}

absl::StatusOr<UnwindOrder> ParseUnwindOrder(const std::string& text) {
  const UnwindOrder known_order;
  const std::vector<FrameSource>& all = known_order.sources;
  UnwindOrder order{.sources = {}};
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const auto source =
        std::find_if(all.begin(), all.end(), [&word](FrameSource known) { return Name(known) == word; });
    if (source == all.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no source of unwind rows is called '", word, "'; the sources are sframe, eh_frame and fp"));
    }
    if (order.Has(*source)) return absl::InvalidArgumentError(absl::StrCat(word, " is given twice"));
    order.sources.push_back(*source);
  }
  return order;
}

}  // namespace offcpu

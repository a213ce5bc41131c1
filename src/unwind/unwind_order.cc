#include "unwind/unwind_order.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace offcpu {

bool UnwindOrder::Has(FrameSource source) const {
  return std::find(sources.begin(), sources.end(), source) != sources.end();
}

absl::StatusOr<UnwindOrder> ParseUnwindOrder(const std::string& text) {
  constexpr std::array kSources = {FrameSource::kSFrame, FrameSource::kEhFrame, FrameSource::kFramePointer};
  UnwindOrder order;
  order.sources.clear();
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const auto source =
        std::find_if(kSources.begin(), kSources.end(), [&word](FrameSource known) { return Name(known) == word; });
    if (source == kSources.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no source of unwind rules is called '", word, "': there are sframe, eh_frame and fp"));
    }
    if (order.Has(*source)) return absl::InvalidArgumentError(absl::StrCat(word, " is given twice"));
    order.sources.push_back(*source);
  }
  return order;
}

}  // namespace offcpu

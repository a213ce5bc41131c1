#include "json/stack_json.h"

#include <cstddef>

namespace offcpu {

void WriteUserStackFields(const NamedUserStack& stack, std::span<const uint64_t> pcs, JsonWriter& json) {
  json.Key("user");
  json.BeginArray();
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const NamedFrame& frame = stack.frames[i];
    json.BeginObject();
    if (i < pcs.size()) {
      json.Key("pc");
      json.Hex(pcs[i]);
    }
    json.Field("name", frame.name);
    json.Field("module", frame.module_name);
    json.Key("address");
    json.Hex(frame.address);
    if (!stack.filtered) json.Field("source", Name(frame.source));
    json.EndObject();
  }
  json.EndArray();
  if (stack.filtered) {
    json.Key("filtered");
    json.Bool(true);
    if (stack.filtered_end.has_value()) json.Field("user_end", Name(*stack.filtered_end));
  } else if (stack.overflow) {
    json.Field("no_user_stack", "other");
  } else if (stack.missing != NoUserStack::kNone) {
    json.Field("no_user_stack", Name(stack.missing));
  } else {
    json.Field("user_end", Name(stack.end));
  }
}

}  // namespace offcpu

#include "output/stack_json.h"

namespace offcpu {

void WriteUserStackFields(const Profile& profile, const SymbolizedProfile& symbols, size_t index,
                          std::span<const uint64_t> pcs, JsonWriter& json) {
  const UserStackEntry& entry = profile.user_stacks[index];
  json.Key("user");
  json.BeginArray();
  for (size_t i = 0; i < entry.stack.frames.size(); ++i) {
    const SymbolizedFrame& frame = symbols.user_stacks[index][i];
    json.BeginObject();
    if (i < pcs.size()) {
      json.Key("pc");
      json.Hex(pcs[i]);
    }
    json.Field("name", frame.name);
    json.Field("module", frame.module);
    json.Key("address");
    json.Hex(entry.stack.frames[i].address);
    if (!entry.filtered) json.Field("source", Name(entry.stack.frames[i].source));
    json.EndObject();
  }
  json.EndArray();
  if (entry.filtered) {
    json.Key("filtered");
    json.Bool(true);
  } else if (entry.overflow) {
    json.Field("no_user_stack", "other");
  } else if (entry.missing != NoUserStack::kNone) {
    json.Field("no_user_stack", Name(entry.missing));
  } else {
    json.Field("user_end", Name(entry.stack.end));
  }
}

}  // namespace offcpu

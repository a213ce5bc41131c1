#include "json/stack_json.h"

#include <cstddef>

namespace offcpu {

void WriteFrameLines(const NamedFrame& frame, JsonWriter& json) {
  const auto write_place = [&json](const FrameLine& line) {
    if (!line.file.empty()) json.Field("file", line.file);
    if (line.line != 0) json.Field("line", uint64_t{line.line});
    if (line.column != 0) json.Field("column", uint64_t{line.column});
    if (line.start_line != 0) json.Field("start_line", uint64_t{line.start_line});
  };
  if (frame.lines.empty()) return;
  write_place(frame.lines.back());
  if (frame.lines.size() == 1) return;
  json.Key("inlined");
  json.BeginArray();
  for (const FrameLine& line : frame.lines.first(frame.lines.size() - 1)) {
    json.BeginObject();
    json.Field("name", line.function);
    write_place(line);
    json.EndObject();
  }
  json.EndArray();
}

void WriteUserStackFields(const NamedUserStack& stack, std::span<const uint64_t> pcs, JsonWriter& json) {
  json.Key("user");
  json.BeginArray();
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const NamedFrame& frame = stack.frames[i];
    json.BeginObject();
    if (i < pcs.size() && pcs[i] != 0) {
      json.Key("pc");
      json.Hex(pcs[i]);
    }
    json.Field("name", frame.name());
    WriteFrameLines(frame, json);
    json.Field("module", frame.module_name);
    json.Key("address");
    json.Hex(frame.address);
    json.Field("source", Name(frame.source));
    json.EndObject();
  }
  json.EndArray();
  if (stack.overflow) {
    json.Field("no_user_stack", "other");
  } else if (stack.missing != NoUserStack::kNone) {
    json.Field("no_user_stack", Name(stack.missing));
  } else {
    json.Field("user_end", Name(stack.end));
  }
}

}  // namespace offcpu

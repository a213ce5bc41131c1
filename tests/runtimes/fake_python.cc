#include "tests/runtimes/fake_python.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace offcpu {
namespace {

struct Field {
  std::string_view name;
  uint64_t in_311, in_312, in_313, in_314;
};
constexpr Field kFields[] = {
    {"interpreters.head", 40, 40, 632, 808},
    {"interpreter.next", 0, 0, 7264, 7272},
    {"threads.head", 16, 72, 7344, 7344},
    {"thread.prev", 0, 0, 0, 0},
    {"thread.next", 8, 8, 8, 8},
    {"thread.interp", 16, 16, 16, 16},
    {"native_thread_id", 160, 144, 160, 160},
    {"cframe", 56, 56, 0, 0},
    {"root_cframe", 336, 272, 0, 0},
    {"current_frame", 0, 0, 72, 72},
    {"cframe.current_frame", 8, 0, 0, 0},
    {"cframe.previous", 16, 8, 0, 0},
    {"frame.code", 32, 0, 0, 0},
    {"frame.previous", 48, 8, 8, 8},
    {"frame.instruction", 56, 56, 56, 56},
    {"frame.owner", 69, 70, 70, 74},
    {"frame.is_entry", 68, 0, 0, 0},
    {"co_filename", 112, 112, 112, 112},
    {"co_qualname", 128, 128, 128, 128},
    {"co_linetable", 136, 136, 136, 136},
    {"co_firstlineno", 72, 68, 68, 68},
    {"_co_firsttraceable", 168, 176, 184, 192},
    {"co_code_adaptive", 184, 192, 200, 208},
    {"ob_type", 8, 8, 8, 8},
    {"ob_size", 16, 16, 16, 16},
    {"ob_sval", 32, 32, 32, 32},
    {"length", 16, 16, 16, 16},
    {"state", 32, 32, 32, 32},
    {"sizeof PyASCIIObject", 48, 40, 40, 40},
    {"sizeof PyCompactUnicodeObject", 72, 56, 56, 56},
};

// The members of _Py_DebugOffsets, in their order: those that are read stand for a field of the list above.
constexpr std::string_view kWords313[] = {
    "cookie",
    "version",
    "free_threaded",  //
    "",
    "",
    "interpreters.head",  // runtime_state
    "",
    "",
    "interpreter.next",
    "threads.head",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",  // interpreter_state
    "",
    "thread.prev",
    "thread.next",
    "thread.interp",
    "current_frame",
    "",
    "native_thread_id",
    "",
    "",  // thread_state
    "",
    "frame.previous",
    "frame.code",
    "frame.instruction",
    "",
    "frame.owner",  // interpreter_frame
    "",
    "co_filename",
    "",
    "co_qualname",
    "co_linetable",
    "co_firstlineno",
    "",
    "",
    "",
    "co_code_adaptive",  // code_object
    "",
    "ob_type",
    "",
    "",
    "",
    "",  // pyobject, type_object
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",  // tuple, list, dict, float, long
    "",
    "ob_size",
    "ob_sval",  // bytes_object
    "",
    "state",
    "length",
    "sizeof PyASCIIObject",  // unicode_object
};
constexpr std::string_view kWords314[] = {
    "cookie",
    "version",
    "free_threaded",  //
    "",
    "",
    "interpreters.head",  // runtime_state
    "",
    "",
    "interpreter.next",
    "threads.head",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",  // interpreter_state
    "",
    "thread.prev",
    "thread.next",
    "thread.interp",
    "current_frame",
    "",
    "native_thread_id",
    "",
    "",  // thread_state
    "",
    "frame.previous",
    "frame.code",
    "frame.instruction",
    "",
    "frame.owner",
    "",
    "",  // interpreter_frame
    "",
    "co_filename",
    "",
    "co_qualname",
    "co_linetable",
    "co_firstlineno",
    "",
    "",
    "",
    "co_code_adaptive",
    "",  // code_object
    "",
    "ob_type",
    "",
    "",
    "",
    "",  // pyobject, type_object
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",  // tuple, list, set, dict, float, long
    "",
    "ob_size",
    "ob_sval",  // bytes_object
    "",
    "state",
    "length",
    "sizeof PyASCIIObject",  // unicode_object
};

constexpr size_t kFrameBytes = 96;
constexpr size_t kThreadBytes = 512;

}  // namespace

FakePython::FakePython(int minor) : minor_(minor), bytes_(kBytes), memory_(kBase, bytes_) {
  for (const Field& field : kFields) {
    const uint64_t by_version[] = {field.in_311, field.in_312, field.in_313, field.in_314};
    offsets_[field.name] = by_version[minor - 11];
  }
  for (const std::string_view name : {"PyCode_Type", "PyUnicode_Type", "PyBytes_Type"})
    symbols_[std::string(name)] = Take(64);
  symbols_["_PyRuntime"] = Take(2048);
  symbols_["Py_Version"] = Take(8);
  const uint64_t number = 0x030000f0u | static_cast<uint64_t>(minor) << 16;
  Put(version(), number);
  if (minor >= 13) {
    for (const auto& [name, offset] : offsets_) {
      if (const uint64_t word = WordOf(name); word != 0) Put(word, offset);
    }
    std::memcpy(bytes_.data() + (runtime() - kBase), "xdebugpy", 8);
    Put(WordOf("version"), number);
  }
  interpreter_ = AddInterpreter();
}

uint64_t FakePython::WordOf(std::string_view field) const {
  const auto at = [&](const auto& words) -> uint64_t {
    const auto found = std::find(std::begin(words), std::end(words), field);
    return found == std::end(words) ? 0 : runtime() + 8 * static_cast<uint64_t>(found - std::begin(words));
  };
  return minor_ == 13 ? at(kWords313) : at(kWords314);
}

uint64_t FakePython::Take(size_t bytes) {
  const uint64_t at = next_;
  next_ += (bytes + 15) / 16 * 16;
  if (next_ > kBase + kBytes) std::abort();
  if (at < kStack && next_ > kStack) {
    next_ = kStack + 0x10000;
    return Take(bytes);
  }
  return at;
}

uint64_t FakePython::Object(std::string_view type, size_t bytes) {
  const uint64_t at = Take(bytes);
  Put(at + Offset("ob_type"), Symbol(type));
  return at;
}

uint64_t FakePython::Text(std::u32string_view text, unsigned width) {
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x80; });
  const uint64_t begin = Offset(is_ascii ? "sizeof PyASCIIObject" : "sizeof PyCompactUnicodeObject");
  const uint64_t at = Object("PyUnicode_Type", begin + text.size() * width + width);
  Put(at + Offset("length"), uint64_t{text.size()});
  // Interned, so wide, in the object itself, ASCII or not; in 3.11 also ready.
  Put(at + Offset("state"),
      uint32_t{1} | width << 2 | 1u << 5 | uint32_t{is_ascii} << 6 | (minor_ == 11 ? 1u << 7 : 0));
  for (size_t i = 0; i < text.size(); ++i)
    std::memcpy(bytes_.data() + (at + begin + i * width - kBase), &text[i], width);
  return at;
}

uint64_t FakePython::Text(std::string_view ascii) { return Text(std::u32string(ascii.begin(), ascii.end()), 1); }

uint64_t FakePython::Bytes(std::vector<uint8_t> bytes) {
  const uint64_t at = Object("PyBytes_Type", Offset("ob_sval") + bytes.size() + 1);
  Put(at + Offset("ob_size"), uint64_t{bytes.size()});
  for (size_t i = 0; i < bytes.size(); ++i) Put(at + Offset("ob_sval") + i, bytes[i]);
  return at;
}

uint64_t FakePython::Code(const CodeOptions& options) {
  const uint64_t at = Object("PyCode_Type", Offset("co_code_adaptive") + 2 * std::min<uint64_t>(options.units, 64));
  Put(at + Offset("ob_size"), options.units);
  Put(at + Offset("co_qualname"), Text(options.name));
  Put(at + Offset("co_filename"), Text(options.file));
  Put(at + Offset("co_linetable"), Bytes(options.lines));
  Put(at + Offset("co_firstlineno"), options.first_line);
  Put(at + Offset("_co_firsttraceable"), options.first_traced);
  return at;
}

uint64_t FakePython::AddInterpreter() {
  const uint64_t head = runtime() + Offset("interpreters.head");
  const uint64_t at = Take(8192);
  Put(at + Offset("interpreter.next"), Get<uint64_t>(head));
  Put(head, at);
  return at;
}

uint64_t FakePython::AddThread(uint64_t number, uint64_t interpreter) {
  const uint64_t at = Take(kThreadBytes);
  const uint64_t head = interpreter + Offset("threads.head");
  const uint64_t before = Get<uint64_t>(head);
  Put(at + Offset("thread.next"), before);
  if (before != 0) Put(before + Offset("thread.prev"), at);
  Put(head, at);
  Put(at + Offset("thread.interp"), interpreter);
  Put(at + Offset("native_thread_id"), number);
  if (minor_ < 13) Put(at + Offset("cframe"), at + Offset("root_cframe"));
  return at;
}

uint64_t FakePython::CurrentFrame(uint64_t thread) const {
  if (minor_ >= 13) return Get<uint64_t>(thread + Offset("current_frame"));
  return Get<uint64_t>(Get<uint64_t>(thread + Offset("cframe")) + Offset("cframe.current_frame"));
}

void FakePython::SetCurrentFrame(uint64_t thread, uint64_t frame) {
  const uint64_t at = minor_ >= 13 ? thread + Offset("current_frame")
                                   : Get<uint64_t>(thread + Offset("cframe")) + Offset("cframe.current_frame");
  Put(at, frame);
}

uint64_t FakePython::Enter(uint64_t thread) {
  const uint64_t before = CurrentFrame(thread);
  next_c_ -= 256;
  uint64_t at = next_c_;
  if (minor_ < 13) {
    const uint64_t c_frame = next_c_ + 128;
    Put(c_frame + Offset("cframe.previous"), Get<uint64_t>(thread + Offset("cframe")));
    Put(c_frame + Offset("cframe.current_frame"), before);
    Put(thread + Offset("cframe"), c_frame);
    if (minor_ == 11) at = c_frame;
  }
  if (minor_ >= 12) {
    Put(at + Offset("frame.previous"), before);
    Put(at + Offset("frame.owner"), uint8_t{3});
    SetCurrentFrame(thread, at);
  }
  is_entered_ = true;
  return at;
}

uint64_t FakePython::Call(uint64_t thread, uint64_t code, uint64_t instruction, uint8_t owner) {
  const uint64_t at = Take(kFrameBytes);
  // From 3.14 on, a reference that is not counted has its lowest bit set.
  Put(at + Offset("frame.code"), minor_ == 14 ? code | 1 : code);
  Put(at + Offset("frame.instruction"), instruction);
  Put(at + Offset("frame.previous"), CurrentFrame(thread));
  Put(at + Offset("frame.owner"), owner);
  if (minor_ == 11) Put(at + Offset("frame.is_entry"), uint8_t{is_entered_});
  is_entered_ = false;
  SetCurrentFrame(thread, at);
  return at;
}

}  // namespace offcpu

// The memory of a made-up process with a CPython interpreter, as 3.11, 3.12, 3.13 or 3.14 keeps its structures. The
// offsets are those of the structures in the headers of these versions (3.11.7, 3.12.1, 3.13.0, 3.14.10) on x86-64, as
// offsetof says them; what is put there is the test's.
#ifndef OFFCPU_TESTS_RUNTIMES_FAKE_PYTHON_H_
#define OFFCPU_TESTS_RUNTIMES_FAKE_PYTHON_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "process/memory.h"

namespace offcpu {

class FakePython {
 public:
  static constexpr uint64_t kBase = 0x10000;
  static constexpr size_t kBytes = 1 << 18;
  static constexpr uint64_t kStack = kBase + 0x20000;  // where the interpreter's own frames on the C stack are

  // `minor`: 11 to 14.
  explicit FakePython(int minor);

  const Memory& memory() const { return memory_; }
  std::map<std::string, uint64_t, std::less<>>& symbols() { return symbols_; }
  std::vector<std::byte>& bytes() { return bytes_; }
  uint64_t runtime() const { return Symbol("_PyRuntime"); }
  uint64_t version() const { return Symbol("Py_Version"); }  // where that is kept
  // Where the interpreter says where a field is, "thread_state.current_frame"; from 3.13 on.
  uint64_t WordOf(std::string_view field) const;
  // Where a field is, from where its structure begins.
  uint64_t Offset(std::string_view field) const { return offsets_.find(field)->second; }

  template <typename T>
  void Put(uint64_t address, T value) {
    std::memcpy(bytes_.data() + (address - kBase), &value, sizeof(value));
  }
  template <typename T>
  T Get(uint64_t address) const {
    T value;
    std::memcpy(&value, bytes_.data() + (address - kBase), sizeof(value));
    return value;
  }
  uint64_t Take(size_t bytes);

  // Objects: characters of `width` bytes each.
  uint64_t Text(std::u32string_view text, unsigned width);
  uint64_t Text(std::string_view ascii);
  uint64_t Bytes(std::vector<uint8_t> bytes);
  struct CodeOptions {
    std::string_view name = "f";
    std::string_view file = "/srv/app.py";
    int32_t first_line = 10;
    std::vector<uint8_t> lines = {};
    uint64_t units = 16;
    uint32_t first_traced = 0;
  };
  uint64_t Code(const CodeOptions& options);
  uint64_t InstructionOf(uint64_t code, uint64_t unit) const { return code + Offset("co_code_adaptive") + 2 * unit; }

  uint64_t AddInterpreter();
  uint64_t interpreter() const { return interpreter_; }  // the first one
  uint64_t AddThread(uint64_t number, uint64_t interpreter);
  uint64_t AddThread(uint64_t number) { return AddThread(number, interpreter_); }

  // The thread enters the evaluation loop from C: what it calls from now on is run there. Returns an address in the
  // native frame; each one is below the one before, as a stack grows.
  uint64_t Enter(uint64_t thread);
  // A frame of the function, inside all those before.
  uint64_t Call(uint64_t thread, uint64_t code, uint64_t instruction, uint8_t owner = 0);

 private:
  uint64_t Symbol(std::string_view name) const { return symbols_.find(name)->second; }
  uint64_t CurrentFrame(uint64_t thread) const;
  void SetCurrentFrame(uint64_t thread, uint64_t frame);
  uint64_t Object(std::string_view type, size_t bytes);

  const int minor_;
  std::vector<std::byte> bytes_;
  SpanMemory memory_;
  uint64_t next_ = kBase + 0x1000;
  uint64_t next_c_ = kStack + 0x8000;
  std::map<std::string, uint64_t, std::less<>> symbols_;
  std::map<std::string_view, uint64_t, std::less<>> offsets_;
  uint64_t interpreter_ = 0;
  bool is_entered_ = false;  // the next frame is the first one of its run
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_RUNTIMES_FAKE_PYTHON_H_

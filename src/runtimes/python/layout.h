// Where CPython keeps what is read of it, in the builds of the versions that are known: 3.11 to 3.14 with the global
// interpreter lock, without the options of debug builds. From 3.13 on the interpreter says it itself, in words whose
// order is that of the version. Of 3.11 and 3.12 it is known; what is read by it is checked at each reading, by the
// types of the objects (code_objects.h).
//
// Plain data. ReadPythonLayout blocks as the memory does, and takes every byte as hostile.
#ifndef OFFCPU_RUNTIMES_PYTHON_LAYOUT_H_
#define OFFCPU_RUNTIMES_PYTHON_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "process/memory.h"

namespace offcpu {

// What the interpreter exports: addresses in the process.
inline constexpr std::string_view kPythonSymbols[] = {"_PyRuntime", "Py_Version", "PyCode_Type", "PyUnicode_Type",
                                                      "PyBytes_Type"};

struct PythonLayout {
  // Addresses in the process.
  uint64_t runtime = 0;
  uint64_t code_type = 0;
  uint64_t text_type = 0;
  uint64_t bytes_type = 0;

  // All else are offsets, of fields that are pointers unless something else is said.
  uint32_t interpreters = 0;  // in the runtime: the first interpreter

  uint32_t interpreter_next = 0;  // in an interpreter
  uint32_t threads = 0;           // the first thread

  uint32_t thread_previous = 0;  // in the state of a thread
  uint32_t thread_next = 0;
  uint32_t thread_interpreter = 0;
  uint32_t thread_number = 0;  // u64: as the thread knows itself
  // The frame that it runs; of 3.11 and 3.12, the C frame that runs it.
  uint32_t current = 0;

  // In a C frame. Without (3.13), the thread has the frame itself.
  bool has_c_frames = false;
  uint32_t c_frame_current = 0;
  uint32_t c_frame_previous = 0;
  uint32_t root_c_frame = 0;  // in the state of a thread: the one that stands for none

  uint32_t frame_code = 0;  // in a frame; its lowest bits may be set
  uint32_t frame_previous = 0;
  uint32_t frame_instruction = 0;
  uint32_t frame_owner = 0;  // u8
  // Whether the frame is the outermost one of its C frame (u8). Without (3.12), frames of C say so by their owner.
  bool has_entry = false;
  uint32_t frame_entry = 0;

  uint32_t code_file = 0;  // in a code object
  uint32_t code_name = 0;
  uint32_t code_lines = 0;
  uint32_t code_first_line = 0;    // i32
  uint32_t code_instructions = 0;  // where they begin, in the object itself

  uint32_t type = 0;         // in any object
  uint32_t bytes_size = 0;   // u64: in objects of a variable size
  uint32_t bytes_begin = 0;  // where the bytes of a bytes object begin, in itself
  uint32_t text_length = 0;  // u64: in characters
  uint32_t text_state = 0;   // u32
  uint32_t ascii_text = 0;   // where the characters begin, in the object itself, if all are ASCII
  uint32_t other_text = 0;   // likewise, if not
};

// Unimplemented: the version or the build is not known. DataLoss: it cannot be read. `symbols`: kPythonSymbols.
absl::StatusOr<PythonLayout> ReadPythonLayout(const Memory& memory,
                                              const std::map<std::string, uint64_t, std::less<>>& symbols);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_LAYOUT_H_

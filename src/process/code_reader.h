// What is known of code beyond what ELF objects say of themselves: the seam between the reading of a process's code and
// the language runtimes that know more of it (src/runtimes). Plain values. The functions are called on a reader thread,
// as they may block for ever with the process's memory and files. Without a function, nothing more is known.
#ifndef OFFCPU_PROCESS_CODE_READER_H_
#define OFFCPU_PROCESS_CODE_READER_H_

#include <sys/types.h>

#include <vector>

namespace offcpu {

class AddressSpace;
class ElfFile;
class Memory;
class Module;
class ModuleCache;
struct MappedCode;

// A process whose code is being read.
struct ReadProcess {
  pid_t pid = 0;  // 0: no file of it is opened
  const Memory& memory;
  const AddressSpace* previous = nullptr;  // what was read of it before; null: nothing
  ModuleCache& modules;
};

struct CodeReader {
  // Adds to `module` what the sections of its file, an object of 64 bits, say of its frames, for which the module's
  // lease pays. False: it is in no language that is known.
  bool (*read_module)(const ElfFile& file, Module* module) = nullptr;
  // Adds what is known of the code that is in no file.
  void (*read_made)(const ReadProcess& process, std::vector<MappedCode>* code) = nullptr;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_CODE_READER_H_

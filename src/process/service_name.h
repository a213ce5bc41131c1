// What a process is called as a service: by what its environment says for OpenTelemetry, and by what an interpreter or
// a virtual machine runs in it, where the program itself says nothing. Reads the target's memory, which may block; what
// it says is its own word, and is bounded. Nothing else of its environment and arguments is kept. Knows nothing of
// control groups (control_groups.h): otlp/otlp_attributes.cc decides which name counts. Safe from any thread.
#ifndef OFFCPU_PROCESS_SERVICE_NAME_H_
#define OFFCPU_PROCESS_SERVICE_NAME_H_

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpu {

inline constexpr size_t kMostServiceBytes = 256;             // of a name; a longer one is none
inline constexpr size_t kMostServiceTextBytes = 128 * 1024;  // of an environment, or of arguments; likewise

struct ServiceNames {
  std::string declared{};  // OTEL_SERVICE_NAME, else service.name in OTEL_RESOURCE_ATTRIBUTES
  std::string script{};    // "shop" of `java -jar shop.jar`, "com.example.Shop" of `java com.example.Shop`

  bool operator==(const ServiceNames&) const = default;
};

// "A=1\0B=2\0"; "" if it declares none.
std::string DeclaredService(std::string_view environment);
// `program`: the path of the program, or its file name. `arguments`: "java\0-jar\0shop.jar\0". "" of a program that
// interprets nothing, and where it is given the text itself, as by `python3 -c`.
std::string ScriptOf(std::string_view program, std::string_view arguments);

ServiceNames ReadServiceNames(pid_t pid, std::string_view program);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_SERVICE_NAME_H_

#include "labels/own_function.h"

#include <algorithm>
#include <iterator>

#include "classify/copy_suffix.h"
#include "classify/glob_match.h"
#include "process/code_object.h"

namespace offcpu {
namespace {

constexpr std::string_view kStart = "_start";     // of a program, which calls the C library
constexpr std::string_view kPython = "[python]";  // what a frame is in whose function CPython interprets

constexpr std::string_view kCLibraries[] = {"libc.so*", "libc-2.*",   "libpthread*", "ld-linux*",
                                            "ld-musl*", "libc.musl*", "[vdso]"};

// Also interpreters, which are the program file of what they run.
constexpr std::string_view kRuntimes[] = {
    "libstdc++.so*",  "libc++.so*",  "libc++abi.so*", "libgcc_s.so*", "libm.so*",     "librt.so*",   "libgo.so*",
    "libjvm.so",      "libjava.so",  "libjli.so",     "libnio.so",    "libnet.so",    "libjsvml.so", "java",
    "libpython*.so*", "python",      "python2*",      "python3*",     "libruby*.so*", "ruby",        "ruby2*",
    "ruby3*",         "libperl.so*", "perl",          "perl5*",       "libphp*.so",   "php",         "php7*",
    "php8*",          "php-fpm*",    "node",          "nodejs",       "libnode.so*",  "libuv.so*",   "libcoreclr.so",
    "libclrjit.so",   "dotnet",      "libmono*.so*",  "mono",         "mono-sgen",    "beam.smp",    "sbcl"};

// How functions of standard libraries begin: of C++ and Rust, of the executors that Rust programs run on, of Go.
constexpr std::string_view kBeginnings[] = {
    "std::",      "core::",        "alloc::",   "__gnu_cxx::",  "__cxxabiv1::",
    "__gthread_",  // what libstdc++ calls threads by
    "__rust_",    "tokio::",       "mio::",     "lock_api::",   "parking_lot::", "parking_lot_core::",
    "runtime.",   "runtime/",      "internal/", "syscall.",     "sync.",         "sync/",
    "net.",       "net/",          "os.",       "bufio.",       "time.",         "context.",
    "reflect.",   "database/sql.", "crypto/",   "golang.org/x/"};

// Likewise of Java, whose names may have the type of what is returned in front.
constexpr std::string_view kJavaPackages[] = {"java.", "javax.", "jdk.", "sun."};

template <size_t kCount>
bool IsModule(const std::string_view (&globs)[kCount], std::string_view name) {
  return std::any_of(std::begin(globs), std::end(globs), [name](std::string_view glob) { return Matches(glob, name); });
}

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Is the function of CPython in a file of its standard library?
bool ComesWithPython(std::string_view file) {
  return (Has(file, "/lib/python3") && !Has(file, "-packages/")) || Has(file, "<frozen ");
}

// "py::wait:/usr/lib/python3.13/threading.py", "JS:*run node:internal/timers:5:1": functions of the language, compiled
// or not, that come with its interpreter.
bool ComesWithInterpreter(std::string_view function) { return ComesWithPython(function) || Has(function, " node:"); }

bool IsOfStandardLibrary(std::string_view function) {
  std::string_view name = WithoutCopySuffix(function);
  // "<std::sync::mpsc::Receiver<T> as ...>::drop"
  while (name.starts_with('<') || name.starts_with('&')) name.remove_prefix(1);
  const auto begins = [name](std::string_view beginning) { return name.starts_with(beginning); };
  if (std::any_of(std::begin(kBeginnings), std::end(kBeginnings), begins)) return true;
  const std::string_view head = name.substr(0, name.find('('));
  const std::string_view method = head.substr(head.rfind(' ') + 1);
  return std::any_of(std::begin(kJavaPackages), std::end(kJavaPackages),
                     [method](std::string_view package) { return method.starts_with(package); });
}

bool IsOwn(const NamedFrame& frame, const FrameLine& line) {
  const std::string_view function = line.function;
  const bool is_known = frame.named || !frame.module_name.empty();
  if (frame.is_marker() || !is_known || function == kStart || function == "Interpreter") return false;
  if (frame.module_name == kPython) return !ComesWithPython(line.file);
  // What a runtime interprets is the program, in whatever the runtime keeps its names.
  const bool is_of_library = IsCLibrary(frame.module_name) || IsModule(kRuntimes, frame.module_name);
  if (ComesWithInterpreter(function) || (is_of_library && frame.kind != FrameKind::kInterpreted)) return false;
  // What the virtual machine of Java has made itself is no method.
  if (IsRuntimePath(frame.module_name) && !Has(function, ".")) return false;
  return !IsOfStandardLibrary(function);
}

}  // namespace

bool IsCLibrary(std::string_view module) { return IsModule(kCLibraries, module); }

std::optional<size_t> FunctionsBelowOwn(const NamedUserStack& stack) {
  size_t below = 0;
  for (const NamedFrame& frame : stack.frames) {
    for (const FrameLine& line : frame.lines) {
      if (IsOwn(frame, line)) return below;
      ++below;
    }
  }
  return std::nullopt;
}

size_t FunctionsBelowShown(const NamedUserStack& stack) {
  if (const std::optional<size_t> below = FunctionsBelowOwn(stack); below.has_value()) return *below;
  size_t below = 0;
  for (const NamedFrame& frame : stack.frames) {
    if (!IsCLibrary(frame.module_name)) return frame.name() == kStart ? 0 : below;
    below += frame.lines.size();
  }
  return 0;
}

}  // namespace offcpu

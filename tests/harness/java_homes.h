// The Java development kits of this machine: those of /usr/lib/jvm, and those in the directory that OFFCPU_JAVA_HOMES
// names, in which packages of other suites may be unpacked.
#ifndef OFFCPU_TESTS_HARNESS_JAVA_HOMES_H_
#define OFFCPU_TESTS_HARNESS_JAVA_HOMES_H_

#include <string>
#include <vector>

namespace offcpu::integration {

// Each has bin/java, bin/javac and bin/jstack.
std::vector<std::string> JavaHomes();

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_JAVA_HOMES_H_

// Whether a program's threads have blocked.
#ifndef OFFCPU_TESTS_TARGETS_ALL_SLEEP_H_
#define OFFCPU_TESTS_TARGETS_ALL_SLEEP_H_

#include <dirent.h>

#include <string>

#include "target.h"

namespace target {

// Every thread but this one sleeps: only /proc can tell.
inline bool AllSleep() {
  bool all = true;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid()) continue;
    const std::string path = std::string("/proc/self/task/") + entry->d_name + "/stat";
    FILE* file = fopen(path.c_str(), "r");
    char line[1024] = "";
    if (file == nullptr || fgets(line, sizeof(line), file) == nullptr) Die("stat");
    fclose(file);
    const char* end_of_name = strrchr(line, ')');
    all &= end_of_name != nullptr && end_of_name[2] == 'S';
  }
  closedir(tasks);
  return all;
}

}  // namespace target

#endif  // OFFCPU_TESTS_TARGETS_ALL_SLEEP_H_

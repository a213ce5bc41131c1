// How code that reads a target's files or memory leaves the waiting to others: such a read may hang for ever, on a file
// system that its owner serves, so it runs where that harms nobody. Only the interface; code that has threads to spare
// implements it.
#ifndef OFFCPU_OS_TIMED_READ_H_
#define OFFCPU_OS_TIMED_READ_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace offcpu {

// What a read reads.
struct ReadSubject {
  uid_t owner = 0;  // of the process whose memory it is, or who pays for the module whose file it is
  uint64_t id = 0;  // of the memory or the file: while a read of it hangs no other one begins; 0: nothing else reads it
};

// Runs `read` where it may hang without harm, and waits for it. False: it was not done in time, or not begun; it may
// still run later, so it owns all that it touches.
using TimedRead = std::function<bool(const ReadSubject& subject, std::function<void()> read)>;

}  // namespace offcpu

#endif  // OFFCPU_OS_TIMED_READ_H_

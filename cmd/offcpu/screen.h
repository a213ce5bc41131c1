// The terminal as a screen of our own, and as it was before when it is left: by a key, by a signal or by the end of the
// program. Only where the standard output is a terminal that can be written to at any place.
//
// One at a time, of the main thread, and made before any other thread is. A signal that ends the program does so at
// once, with exit status 0, whatever is being done; being stopped and another size are seen to while it waits.
#ifndef OFFCPU_CMD_OFFCPU_SCREEN_H_
#define OFFCPU_CMD_OFFCPU_SCREEN_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "tables/styled_line.h"

namespace offcpu {

class Screen {
 public:
  // Whether there is a terminal to make one of.
  static bool IsPossible();

  // Only sees to signals: errors up to Enter can be said as usual.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Enter();
  void Leave();

  struct Size {
    size_t columns = 80;
    size_t lines = 24;
  };
  Size size() const;

  // Whether its characters are UTF-8, so that there are blocks among them.
  bool has_blocks() const { return has_blocks_; }

  // Lines that fit; what was there is replaced.
  void Show(const std::vector<StyledLine>& lines);

  enum class Event {
    kTimeUp,
    kRedraw,  // it has another size, or was away
    kTyped,   // typed() is not empty
  };
  Event Wait(std::chrono::steady_clock::time_point until);
  // What came last, as the terminal sends it.
  const std::string& typed() const { return typed_; }

 private:
  // False if nothing has come.
  bool ReadKeys();

  bool has_keys_ = false;  // the standard input is a terminal, too
  bool has_blocks_ = false;
  bool has_colors_ = false;
  std::string typed_;
};

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_SCREEN_H_

// What a terminal shows of the bytes that are written to it, by libvterm.
#ifndef OFFCPU_TESTS_DEEP_DISPLAY_H_
#define OFFCPU_TESTS_DEEP_DISPLAY_H_

#include <memory>
#include <string>
#include <vector>

struct VTerm;

namespace offcpu::integration {

class Display {
 public:
  Display(int lines, int columns);

  void Feed(const std::string& bytes);
  // Each without blanks at its end.
  std::vector<std::string> Lines() const;
  // Those that are shown in reverse.
  std::vector<std::string> SelectedLines() const;

 private:
  struct Free {
    void operator()(VTerm* terminal) const;
  };
  std::string Line(int line, bool only_reversed) const;

  std::unique_ptr<VTerm, Free> terminal_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_DISPLAY_H_

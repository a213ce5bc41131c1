// As stepped.c, of what C++ adds: exceptions through frames of several kinds, virtual functions, the standard library.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noipa))
#endif

namespace {

volatile int sink;

struct Guard {
  FUNCTION ~Guard() { sink = sink + 1; }
};

struct Shape {
  virtual ~Shape() = default;
  virtual int Area() const = 0;
};
struct Square final : Shape {
  explicit Square(int side) : side_(side) {}
  FUNCTION int Area() const override { return side_ * side_; }
  int side_;
};

FUNCTION void Throws(int a) {
  const Guard guard;
  if (a > 0) throw std::runtime_error("thrown");
  sink = a;
}

FUNCTION void ThroughAlignedFrame(int a) {
  alignas(128) char buffer[128];
  __asm__ volatile("" : : "r"(buffer) : "memory");
  Throws(a);
}

FUNCTION int Containers() {
  std::vector<int> numbers = {4, 2, 9, 1};
  std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
  std::map<std::string, int> names;
  for (int number : numbers) names["a rather long name that is on the heap " + std::to_string(number)] = number;
  const std::function<int(int)> twice = [&names](int a) { return a * static_cast<int>(names.size()); };
  return twice(numbers.front());
}

FUNCTION int Texts() {
  std::ostringstream out;
  out << 42 << ' ' << 2.5 << std::hex << 255;
  return static_cast<int>(out.str().size());
}

}  // namespace

int main() {
  const std::unique_ptr<Shape> shape = std::make_unique<Square>(3);
  sink = shape->Area();
  sink = Containers();
  sink = Texts();
  try {
    ThroughAlignedFrame(1);
  } catch (const std::exception& error) {
    sink = error.what()[0];
  }
  return 0;
}

// Functions that are inlined into each other. Each place that a test looks for has a label in the code, and its line
// ends with the name of the label.
#define PLACE(label) asm volatile(".globl " #label "\n" #label ":\n\tnop")

namespace fixture {

struct Queue {
  [[gnu::always_inline]] inline int Pop(int value) {
    PLACE(place_pop);  // place_pop
    return value + 1;
  }
};

[[gnu::always_inline]] inline int Handle(Queue& queue, int value) {
  PLACE(place_handle);          // place_handle
  return queue.Pop(value * 3);  // call of Pop
}

[[gnu::noinline]] int Run(int value) {  // begin of Run
  Queue queue;
  for (int i = 0; i < value; ++i) {
    PLACE(place_run);           // place_run
    value += Handle(queue, i);  // call of Handle
  }
  return value;
}

}  // namespace fixture

extern "C" int fixture_main(int value) {
  const int run = fixture::Run(value);
  PLACE(place_main);  // place_main
  return run + 1;
}

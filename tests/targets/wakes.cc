// Threads that know who wakes them. Each wait is below a function that only it is in, `wait_X` of the thread `w_X`, and
// is ended by the thread `k_X` in `wake_X` alone, or by an interrupt where there is none.
// Usage: wakes DIRECTORY [--seconds S] [--cpus N] [--hogs N] [--chain: nothing else, and that with long pauses]
//   chain   w_chain waits for k_chain, which waits in wait_middle for chain_end in wake_middle, which sleeps
//   timer   nanosleep
//   disk    reads past the page cache, of a file in DIRECTORY; nothing where its file system does not offer that
//   net     an echo of the next router's, if there is one and it answers each time
//   pipe, futex, event, unix, udp
//   turns   k_turn1 and k_turn2 wake w_turns in turn, as soon as they see that they may: some of their wakes find it
//           running or just about to sleep. Each has a pipe of its own: a writer that is preempted before it wakes
//           would wake who waits for the other one's byte by then
//   late    k_late sleeps, wakes w_late in wake_late, runs on and wakes it in wake_late_again: its own sleep was over
//           when the second wait began
//   moving  as pipe, but both change their CPU all the time
//   hogs    never wait, never wake and are there to be interrupted
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "target.h"

namespace {

target::Gate gate;
int cpus = 1;

void Name(const char* name) { pthread_setname_np(pthread_self(), name); }

void MoveTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu % cpus, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

// Two ends of which one is waited at; `q` ends the waiting.
struct Channel {
  int read_end = -1;
  int write_end = -1;

  static Channel Pipe() {
    int ends[2];
    target::Check(pipe(ends) == 0, "pipe");
    return {ends[0], ends[1]};
  }
  static Channel Unix() {
    int ends[2];
    target::Check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    return {ends[0], ends[1]};
  }
  static Channel Udp() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    Channel channel = {socket(AF_INET, SOCK_DGRAM, 0), socket(AF_INET, SOCK_DGRAM, 0)};
    target::Check(bind(channel.read_end, reinterpret_cast<sockaddr*>(&address), length) == 0, "bind");
    target::Check(getsockname(channel.read_end, reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
    target::Check(connect(channel.write_end, reinterpret_cast<sockaddr*>(&address), length) == 0, "connect");
    return channel;
  }

  char Receive() const {
    char byte = 'q';
    return read(read_end, &byte, 1) == 1 ? byte : 'q';
  }
  void Send(char byte) const { target::Check(write(write_end, &byte, 1) == 1, "write"); }
};

Channel chain_first, chain_middle, a_pipe, a_unix, udp, moving, late, turn1, turn2;
int event = -1;
constexpr size_t kPage = 4096;
int direct = -1;
int router = -1;  // a socket
std::atomic<bool> router_answers = false;
char* direct_page = nullptr;
std::atomic<uint32_t> futex_word = 0;
std::atomic<int> turn = 0;
std::atomic<uint64_t> hog_rounds = 0;
uint64_t end_nap_ns = 1'000'000;  // of chain_end

long Futex(std::atomic<uint32_t>* word, int operation, uint32_t value) {
  return syscall(SYS_futex, word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

TARGET_FUNCTION char wait_chain() {
  const char byte = chain_first.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION char wait_middle() {
  const char byte = chain_middle.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION void wait_end() {
  target::SleepNs(end_nap_ns);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void wake_chain(char byte) {
  chain_first.Send(byte);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void wake_middle(char byte) {
  chain_middle.Send(byte);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void wait_timer() {
  target::SleepNs(300'000);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void wait_disk() {
  target::Check(pread(direct, direct_page, kPage, 0) == kPage, "pread");
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION bool wait_net() {
  char packet[256];
  const bool came = recv(router, packet, sizeof(packet), 0) > 0;
  TARGET_AFTER_CALL;
  return came;
}
TARGET_FUNCTION char wait_pipe() {
  const char byte = a_pipe.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION void wake_pipe(char byte) {
  a_pipe.Send(byte);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION char wait_futex() {
  Futex(&futex_word, FUTEX_WAIT_PRIVATE, 0);
  const uint32_t word = futex_word.exchange(0);
  TARGET_AFTER_CALL;
  return static_cast<char>(word);
}
TARGET_FUNCTION void wake_futex(char byte) {
  futex_word = static_cast<unsigned char>(byte);
  Futex(&futex_word, FUTEX_WAKE_PRIVATE, 1);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION char wait_event() {
  uint64_t value = 0;
  target::Check(read(event, &value, sizeof(value)) == sizeof(value), "eventfd");
  TARGET_AFTER_CALL;
  return value > 1'000'000 ? 'q' : 'x';
}
TARGET_FUNCTION void wake_event(char byte) {
  const uint64_t value = byte == 'q' ? 1'000'001 : 1;
  target::Check(write(event, &value, sizeof(value)) == sizeof(value), "eventfd");
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION char wait_unix() {
  const char byte = a_unix.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION void wake_unix(char byte) {
  a_unix.Send(byte);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION char wait_udp() {
  const char byte = udp.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION void wake_udp(char byte) {
  udp.Send(byte);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION char wait_moving() {
  const char byte = moving.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION void wake_moving(char byte) {
  moving.Send(byte);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION char wait_late() {
  const char byte = late.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION void wake_late(char byte) {
  late.Send(byte);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void wake_late_again() {
  late.Send('x');
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION char wait_turn1() {
  const char byte = turn1.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION char wait_turn2() {
  const char byte = turn2.Receive();
  TARGET_AFTER_CALL;
  return byte;
}
TARGET_FUNCTION void wake_turn1() {
  turn1.Send('1');
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void wake_turn2() {
  turn2.Send('2');
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void hog_loop() {
  while (!target::Over()) {
    for (int i = 0; i < 20'000; ++i) hog_rounds.fetch_add(1, std::memory_order_relaxed);
  }
}

namespace {

struct Pair {
  const char* waiter;
  char (*wait)();
  const char* waker;
  void (*wake)(char);
};

// Short sleeps and none, so that the waiter is met asleep, on its way and running.
void Wake(const Pair& pair) {
  Name(pair.waker);
  gate.Pass();
  for (uint64_t round = 0; !target::Over(); ++round) {
    if (round % 4 != 0) target::SleepNs(20'000 * (round % 4));
    pair.wake('x');
    if (pair.wake == wake_moving && round % 4 == 1) MoveTo(static_cast<int>(round / 4));
  }
  // Until it is heard: a futex forgets.
  for (int i = 0; i < 100; ++i) {
    pair.wake('q');
    target::SleepNs(1'000'000);
  }
}

void Wait(const Pair& pair) {
  Name(pair.waiter);
  gate.Pass();
  for (uint64_t round = 0; pair.wait() != 'q'; ++round) {
    if (pair.wait == wait_moving && round % 4 == 3) MoveTo(static_cast<int>(round / 4 + 1));
  }
}

void ChainMiddle() {
  Name("k_chain");
  gate.Pass();
  char byte = 'x';
  while (byte != 'q') wake_chain(byte = wait_middle());
}

void ChainEnd() {
  Name("chain_end");
  gate.Pass();
  while (!target::Over()) {
    wait_end();
    wake_middle('x');
  }
  wake_middle('q');
}

void OpenFile(const std::string& path) {
  direct_page = static_cast<char*>(aligned_alloc(kPage, kPage));
  memset(direct_page, 'x', kPage);
  const int written = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  target::Check(written >= 0 && write(written, direct_page, kPage) == kPage && fsync(written) == 0, "write");
  close(written);
  direct = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
}

in_addr_t DefaultRouter() {
  FILE* routes = fopen("/proc/net/route", "re");
  char line[256];
  in_addr_t found = 0;
  while (routes != nullptr && fgets(line, sizeof(line), routes) != nullptr) {
    unsigned destination = 1;
    unsigned gateway = 0;
    if (sscanf(line, "%*s %x %x", &destination, &gateway) == 2 && destination == 0) found = gateway;
  }
  if (routes != nullptr) fclose(routes);
  return found;
}

bool AskRouter(uint16_t number) {
  icmphdr echo = {};
  echo.type = ICMP_ECHO;
  echo.un.echo.sequence = number;
  echo.checksum = static_cast<uint16_t>(~(ICMP_ECHO + number + (ICMP_ECHO + number > 0xffff ? 1 : 0)));
  return send(router, &echo, sizeof(echo), 0) == sizeof(echo) && wait_net();
}

void OpenRouter() {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = DefaultRouter();
  router = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
  const timeval patience = {.tv_sec = 0, .tv_usec = 500'000};
  setsockopt(router, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  router_answers = address.sin_addr.s_addr != 0 && router >= 0 &&
                   connect(router, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 && AskRouter(0);
}

void WakeLate() {
  Name("k_late");
  gate.Pass();
  while (!target::Over()) {
    target::SleepNs(500'000);
    wake_late('x');
    for (const uint64_t end = target::ClockNs(CLOCK_MONOTONIC) + 300'000; target::ClockNs(CLOCK_MONOTONIC) < end;) {
    }
    wake_late_again();
  }
  wake_late('q');
}

void TakeTurns() {
  Name("w_turns");
  gate.Pass();
  while (!target::Over()) {
    turn = 1;
    wait_turn1();
    turn = 2;
    wait_turn2();
  }
  turn = -1;
}

void WakeInTurn(const char* name, int mine, void (*wake)()) {
  Name(name);
  gate.Pass();
  while (turn >= 0) {
    int expected = mine;
    if (turn.compare_exchange_strong(expected, 0)) wake();
    if (cpus == 1) sched_yield();
  }
}

void StartOthers(std::vector<std::thread>& threads) {
  static const Pair pairs[] = {
      {"w_pipe", wait_pipe, "k_pipe", wake_pipe},     {"w_futex", wait_futex, "k_futex", wake_futex},
      {"w_event", wait_event, "k_event", wake_event}, {"w_unix", wait_unix, "k_unix", wake_unix},
      {"w_udp", wait_udp, "k_udp", wake_udp},         {"w_moving", wait_moving, "k_moving", wake_moving}};
  for (const Pair& pair : pairs) {
    threads.emplace_back(Wait, pair);
    threads.emplace_back(Wake, pair);
  }
  threads.emplace_back([] {
    Name("w_timer");
    gate.Pass();
    while (!target::Over()) wait_timer();
  });
  if (direct >= 0) {
    threads.emplace_back([] {
      Name("w_disk");
      gate.Pass();
      while (!target::Over()) wait_disk();
    });
  }
  if (router_answers) {
    threads.emplace_back([] {
      Name("w_net");
      gate.Pass();
      for (uint16_t number = 1; !target::Over() && router_answers; ++number) router_answers = AskRouter(number);
    });
  }
  threads.emplace_back(WakeLate);
  threads.emplace_back([] {
    Name("w_late");
    gate.Pass();
    while (wait_late() != 'q') {
    }
  });
  threads.emplace_back(TakeTurns);
  threads.emplace_back(WakeInTurn, "k_turn1", 1, wake_turn1);
  threads.emplace_back(WakeInTurn, "k_turn2", 2, wake_turn2);
}

}  // namespace

int main(int argc, char** argv) {
  cpus = static_cast<int>(target::Option(argc, argv, "--cpus", 2));
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = 0; cpu < cpus; ++cpu) CPU_SET(cpu, &set);
  target::Check(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
  chain_first = Channel::Pipe();
  chain_middle = Channel::Pipe();
  a_pipe = Channel::Pipe();
  a_unix = Channel::Unix();
  udp = Channel::Udp();
  moving = Channel::Pipe();
  late = Channel::Pipe();
  turn1 = Channel::Pipe();
  turn2 = Channel::Pipe();
  event = eventfd(0, 0);
  target::Check(argc > 1, "a directory");
  OpenFile(std::string(argv[1]) + "/data");
  OpenRouter();
  std::vector<std::thread> threads;
  threads.emplace_back([] {
    Name("w_chain");
    gate.Pass();
    char byte = chain_first.Receive();  // then the chain's others have passed the gate, where anybody may wake them
    while (byte != 'q') byte = wait_chain();
  });
  threads.emplace_back(ChainMiddle);
  threads.emplace_back(ChainEnd);
  if (target::Flag(argc, argv, "--chain")) {
    end_nap_ns = 10'000'000;  // all wait again before it ends, also where each gets a CPU some milliseconds late
  } else {
    StartOthers(threads);
  }
  const int hogs = static_cast<int>(target::Option(argc, argv, "--hogs", 0));
  for (int i = 0; i < hogs; ++i) {
    threads.emplace_back([] {
      Name("hog");
      gate.Pass();
      hog_loop();
    });
  }
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  target::Value("hog_rounds", hog_rounds);
  target::Value("disk", direct >= 0 ? 1 : 0);
  target::Value("net", router_answers ? 1 : 0);
  target::DoneAndStay();
}

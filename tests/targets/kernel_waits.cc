// One thread for each way of waiting in the kernel that `waits` and `causes` have not, each below a function of its
// own. Usage: kernel_waits DIRECTORY [--seconds S]
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "target.h"
#include "waiter.h"

namespace {

constexpr uint64_t kPeriodNs = 2'000'000;

struct Message {
  long type = 1;
  char text[8] = {};
};

target::Gate gate;
std::string fifo;
int locked_file = -1;  // by another process, now and then
int semaphore = -1;
int messages = -1;
mqd_t mailbox = -1;  // -1: the kernel has none
int signal_file = -1;
int changes = -1;
int changed_file = -1;
int terminal_ends[2] = {-1, -1};
int ring = -1;  // -1: the kernel gives none
int full_pipe[2];
int datagrams[2];
sigset_t awaited_signal;
std::atomic<pid_t> pausing = 0;  // the thread that does
std::atomic<bool> waiters_done = false;

void Nothing() {}

}  // namespace

TARGET_FUNCTION void wait_in_setlkw() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  target::Check(fcntl(locked_file, F_SETLKW, &lock) == 0, "F_SETLKW");
  lock.l_type = F_UNLCK;
  fcntl(locked_file, F_SETLK, &lock);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_semop() {
  sembuf take = {0, -1, 0};
  target::Check(semop(semaphore, &take, 1) == 0, "semop");
}

TARGET_FUNCTION void wait_in_msgrcv() {
  Message message;
  target::Check(msgrcv(messages, &message, sizeof(message.text), 1, 0) >= 0, "msgrcv");
}

TARGET_FUNCTION void wait_in_mq() {
  char text[8];
  target::Check(mq_receive(mailbox, text, sizeof(text), nullptr) >= 0, "mq_receive");
}

TARGET_FUNCTION void wait_in_signalfd() {
  signalfd_siginfo info;
  target::Check(read(signal_file, &info, sizeof(info)) == sizeof(info), "read of a signalfd");
}

TARGET_FUNCTION void wait_in_sigwait() {
  int signal = 0;
  target::Check(sigwait(&awaited_signal, &signal) == 0, "sigwait");
}

TARGET_FUNCTION void wait_in_pause() {
  pausing = gettid();
  pause();  // the signal that ends it is sent again and again
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_inotify() {
  char events[4096];
  target::Check(read(changes, events, sizeof(events)) > 0, "read of an inotify");
}

TARGET_FUNCTION void wait_in_tty() {
  char byte;
  target::Check(read(terminal_ends[1], &byte, 1) == 1, "read of a terminal");
}

TARGET_FUNCTION void wait_in_uring() {
  __kernel_timespec time = {0, kPeriodNs};
  io_uring_getevents_arg argument = {};
  argument.ts = reinterpret_cast<uint64_t>(&time);
  syscall(__NR_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument, sizeof(argument));
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_full_pipe() {
  const std::vector<char> bytes(4096);
  target::Check(write(full_pipe[1], bytes.data(), bytes.size()) > 0, "write");
}

TARGET_FUNCTION void wait_in_fifo() {
  const int file = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
  target::Check(file >= 0, "open of a fifo");
  close(file);
}

TARGET_FUNCTION void wait_in_datagram() {
  char byte;
  target::Check(recv(datagrams[0], &byte, 1, 0) == 1, "recv");
}

namespace {

// The other process has the lock now and keeps it for a while.
void AwaitFileLock() {
  for (;;) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    if (target::Over() || fcntl(locked_file, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK) return;
    target::SleepNs(kPeriodNs / 20);
  }
}

// POSIX locks are those of a process. It ends with this one.
void StartLocker(const std::string& path) {
  if (fork() != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  for (;;) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    fcntl(file, F_SETLKW, &lock);
    target::SleepNs(kPeriodNs);
    lock.l_type = F_UNLCK;
    fcntl(file, F_SETLK, &lock);
    target::SleepNs(kPeriodNs / 4);
  }
}

// Never waits itself: a waiter that has ended gives and takes nothing more, while others still have to be woken.
void RunFeeder() {
  pthread_setname_np(pthread_self(), "f_feeder");
  std::vector<char> bytes(4096);
  while (!waiters_done) {
    target::SleepNs(kPeriodNs);
    sembuf give = {0, 1, 0};
    semop(semaphore, &give, 1);
    const Message message;
    msgsnd(messages, &message, sizeof(message.text), IPC_NOWAIT);
    timespec at_once = {};
    if (mailbox >= 0) mq_timedsend(mailbox, "x", 1, 0, &at_once);  // it may be full: it is read when it can be
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    if (pausing != 0) tgkill(getpid(), pausing, SIGURG);
    target::Check(pwrite(changed_file, "x", 1, 0) == 1, "pwrite");
    target::Check(write(terminal_ends[0], "x", 1) == 1 || errno == EAGAIN, "write to a terminal");
    target::Check(read(full_pipe[0], bytes.data(), bytes.size()) > 0 || errno == EAGAIN, "read of a pipe");
    target::Check(send(datagrams[1], "x", 1, MSG_DONTWAIT) == 1 || errno == EAGAIN, "send");
    close(open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
}

void OpenFiles(const std::string& directory) {
  const std::string lock = directory + "/lock";
  const std::string changed = directory + "/changed";
  fifo = directory + "/fifo";
  locked_file = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  changed_file = open(changed.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  changes = inotify_init1(IN_CLOEXEC);
  target::Check(locked_file >= 0 && changed_file >= 0 && mkfifo(fifo.c_str(), 0600) == 0, "files");
  target::Check(inotify_add_watch(changes, changed.c_str(), IN_MODIFY) >= 0, "inotify_add_watch");
  StartLocker(lock);
}

void OpenQueues() {
  semaphore = semget(IPC_PRIVATE, 1, 0600);
  messages = msgget(IPC_PRIVATE, 0600);
  target::Check(semaphore >= 0 && messages >= 0, "System V");
  mq_attr attributes = {};
  attributes.mq_maxmsg = 4;
  attributes.mq_msgsize = 8;
  const std::string name = "/offcpu-" + std::to_string(getpid());
  mailbox = mq_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attributes);
  if (mailbox >= 0) mq_unlink(name.c_str());
  target::Check(pipe2(full_pipe, O_CLOEXEC) == 0, "pipe");
  target::Check(fcntl(full_pipe[1], F_SETPIPE_SZ, 4096) >= 0, "F_SETPIPE_SZ");
  target::Check(fcntl(full_pipe[0], F_SETFL, O_NONBLOCK) == 0, "F_SETFL");
  target::Check(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, datagrams) == 0, "socketpair");
}

// All threads that come later block these signals, too.
void OpenSignals() {
  sigset_t of_file;
  sigset_t both;
  sigemptyset(&of_file);
  sigaddset(&of_file, SIGUSR1);
  sigemptyset(&awaited_signal);
  sigaddset(&awaited_signal, SIGUSR2);
  both = of_file;
  sigaddset(&both, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &both, nullptr);
  signal(SIGURG, [](int) {});
  signal_file = signalfd(-1, &of_file, SFD_CLOEXEC);
  target::Check(signal_file >= 0, "signalfd");
}

void OpenTerminal() {
  terminal_ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  target::Check(terminal_ends[0] >= 0 && grantpt(terminal_ends[0]) == 0 && unlockpt(terminal_ends[0]) == 0, "ptmx");
  terminal_ends[1] = open(ptsname(terminal_ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
  target::Check(terminal_ends[1] >= 0, "pts");
  termios mode;
  tcgetattr(terminal_ends[1], &mode);
  cfmakeraw(&mode);
  tcsetattr(terminal_ends[1], TCSANOW, &mode);
}

void OpenRing() {
  io_uring_params params = {};
  ring = static_cast<int>(syscall(__NR_io_uring_setup, 1, &params));
}

}  // namespace

int main(int argc, char** argv) {
  target::Check(argc > 1, "a directory");
  OpenFiles(argv[1]);
  OpenQueues();
  OpenSignals();
  OpenTerminal();
  OpenRing();

  std::vector<target::Waiter> waiters = {
      {"k_setlkw", "wait_in_setlkw", wait_in_setlkw, AwaitFileLock, {}},
      {"k_semop", "wait_in_semop", wait_in_semop, Nothing, {}},
      {"k_msgrcv", "wait_in_msgrcv", wait_in_msgrcv, Nothing, {}},
      {"k_signalfd", "wait_in_signalfd", wait_in_signalfd, Nothing, {}},
      {"k_sigwait", "wait_in_sigwait", wait_in_sigwait, Nothing, {}},
      {"k_pause", "wait_in_pause", wait_in_pause, Nothing, {}},
      {"k_inotify", "wait_in_inotify", wait_in_inotify, Nothing, {}},
      {"k_tty", "wait_in_tty", wait_in_tty, Nothing, {}},
      {"k_full_pipe", "wait_in_full_pipe", wait_in_full_pipe, Nothing, {}},
      {"k_fifo", "wait_in_fifo", wait_in_fifo, Nothing, {}},
      {"k_datagram", "wait_in_datagram", wait_in_datagram, Nothing, {}},
  };
  if (mailbox >= 0) waiters.push_back({"k_mq", "wait_in_mq", wait_in_mq, Nothing, {}});
  if (ring >= 0) waiters.push_back({"k_uring", "wait_in_uring", wait_in_uring, Nothing, {}});
  std::vector<std::thread> threads;
  for (target::Waiter& waiter : waiters) threads.emplace_back(target::RunWaiter, &waiter, &gate);

  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  std::thread feeder(RunFeeder);
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  waiters_done = true;
  feeder.join();
  semctl(semaphore, 0, IPC_RMID);
  msgctl(messages, IPC_RMID, nullptr);

  for (const target::Waiter& waiter : waiters) target::Measured(waiter.thread, waiter.function, waiter.sum);
  target::DoneAndStay();
  return 0;
}

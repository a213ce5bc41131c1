// Something to record: a small server that waits in places whose names say what for. Runs until it is killed.
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

// Kept in every stack: neither inlined nor left by a jump to what it calls last.
#define STAGE __attribute__((noinline))

namespace {

using namespace std::chrono_literals;

std::mutex queue_mutex;
std::condition_variable queue_filled;
std::deque<int> queue;
std::mutex database_mutex;
std::mutex log_mutex;
int queries[2];
int answers[2];

void Send(int pipe, int value) {
  if (write(pipe, &value, sizeof(value)) != sizeof(value)) std::abort();
}

int Receive(int pipe) {
  int value = 0;
  if (read(pipe, &value, sizeof(value)) != sizeof(value)) std::abort();
  return value;
}

STAGE int WaitForRequest() {
  std::unique_lock lock(queue_mutex);
  queue_filled.wait(lock, [] { return !queue.empty(); });
  const int request = queue.front();
  queue.pop_front();
  return request;
}

STAGE int QueryDatabase(int request) {
  const std::lock_guard lock(database_mutex);
  Send(queries[1], request);
  return Receive(answers[0]);
}

STAGE int WriteLog(int row) {
  const std::lock_guard lock(log_mutex);
  std::this_thread::sleep_for(4ms);
  return row + 1;
}

STAGE int HandleRequest(int request) {
  const int row = QueryDatabase(request);
  return WriteLog(row) + row;
}

void RunWorker() {
  pthread_setname_np(pthread_self(), "worker");
  volatile int last = 0;
  while (last >= 0) last = HandleRequest(WaitForRequest()) & 0xffff;
}

void RunDatabase() {
  pthread_setname_np(pthread_self(), "database");
  while (true) {
    const int query = Receive(queries[0]);
    std::this_thread::sleep_for(3ms);
    Send(answers[1], query & 0xffff);
  }
}

}  // namespace

int main() {
  if (pipe(queries) != 0 || pipe(answers) != 0) {
    std::perror("pipe");
    return 1;
  }
  for (int i = 0; i < 3; ++i) std::thread(RunWorker).detach();
  std::thread(RunDatabase).detach();
  for (int request = 0;; ++request) {
    std::this_thread::sleep_for(6ms);
    {
      const std::lock_guard lock(queue_mutex);
      queue.push_back(request);
    }
    queue_filled.notify_one();
  }
}

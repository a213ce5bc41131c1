// Something to record: a small server that waits in places whose names say what for. Runs until it is killed.
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;

std::mutex queue_mutex;
std::condition_variable queue_filled;
std::deque<int> queue;
std::mutex log_mutex;
int database[2];

__attribute__((noinline)) int WaitForRequest() {
  std::unique_lock lock(queue_mutex);
  queue_filled.wait(lock, [] { return !queue.empty(); });
  const int request = queue.front();
  queue.pop_front();
  return request;
}

__attribute__((noinline)) int QueryDatabase(int request) {
  int row = 0;
  if (read(database[0], &row, sizeof(row)) != sizeof(row)) std::perror("read");
  return row + request;
}

__attribute__((noinline)) void WriteLog(int row) {
  const std::lock_guard lock(log_mutex);
  std::this_thread::sleep_for(row % 2 == 0 ? 4ms : 5ms);
}

__attribute__((noinline)) void HandleRequest(int request) {
  const int row = QueryDatabase(request);
  WriteLog(row);
}

void RunWorker() {
  pthread_setname_np(pthread_self(), "worker");
  while (true) HandleRequest(WaitForRequest());
}

void RunDatabase() {
  pthread_setname_np(pthread_self(), "database");
  for (int row = 0;; ++row) {
    std::this_thread::sleep_for(3ms);
    if (write(database[1], &row, sizeof(row)) != sizeof(row)) std::perror("write");
  }
}

}  // namespace

int main() {
  if (pipe(database) != 0) {
    std::perror("pipe");
    return 1;
  }
  for (int i = 0; i < 3; ++i) std::thread(RunWorker).detach();
  std::thread(RunDatabase).detach();
  for (int request = 0;; ++request) {
    std::this_thread::sleep_for(5ms);
    {
      const std::lock_guard lock(queue_mutex);
      queue.push_back(request);
    }
    queue_filled.notify_one();
  }
}

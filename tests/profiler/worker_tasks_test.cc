#include "profiler/worker_tasks.h"

#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

TEST(WorkerTasksTest, RunsInOrderAndOnTheWorker) {
  WorkerTasks tasks;
  std::atomic<bool> stop = false;
  std::thread worker([&] {
    while (!stop) {
      const std::vector<WorkerTasks::Task> taken = tasks.Take();
      for (const WorkerTasks::Task& task : taken) task();
      tasks.CountDone(taken.size());
    }
  });
  std::vector<int> order;
  std::vector<bool> on_worker;
  const auto note = [&](int number) {
    order.push_back(number);
    on_worker.push_back(std::this_thread::get_id() == worker.get_id());
  };
  tasks.Post([&] { note(1); });
  tasks.Run([&] { note(2); });
  EXPECT_THAT(order, ElementsAre(1, 2));
  tasks.Run([&] { note(3); });
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  EXPECT_THAT(on_worker, ElementsAre(true, true, true));
  stop = true;
  worker.join();
}

}  // namespace
}  // namespace offcpu

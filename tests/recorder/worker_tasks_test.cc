#include "recorder/worker_tasks.h"

#include <atomic>
#include <chrono>
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

// For far longer than a test may take, if nothing came.
TEST(WorkerTasksTest, APokeAndATaskEndTheWaiting) {
  WorkerTasks tasks;
  tasks.Poke();
  tasks.Await(std::chrono::hours(1));
  tasks.Post([] {});
  tasks.Await(std::chrono::hours(1));
  EXPECT_EQ(tasks.Take().size(), 1u);
  const auto begin = std::chrono::steady_clock::now();
  tasks.Await(std::chrono::milliseconds(5));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(5)) << "nothing is left of either";
}

}  // namespace
}  // namespace offcpu

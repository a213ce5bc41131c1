#include "recorder/user_costs.h"

namespace offcpu {
namespace {

// What is left out is mostly left out before the programs look at it, but not where a thread runs for the first time.
// To find that out takes less than a tenth of what it takes to record a wait.
constexpr double kLeftOutPerWait = 20;

// A capture is copied, decoded and walked, and its process may have to be looked at, while most waits are added up by
// the BPF programs. What a capture and what a wait take of the worker in docs/performance.md differ by more than this.
constexpr double kWaitsPerCapture = 200;

// A program that begins or a process that ends takes as much. No T makes that less: the users whose programs come and
// go pay with their share, and not the others with theirs.
constexpr double kWaitsPerLifecycle = 200;

double Part(double of, double sum) { return sum == 0 ? 0 : of / sum; }

double RunsOf(const UserWaits& user) {
  return static_cast<double>(user.waits) + static_cast<double>(user.left_out) / kLeftOutPerWait;
}

double WorkOf(const UserWaits& user) {
  return static_cast<double>(user.waits) + kWaitsPerCapture * static_cast<double>(user.captures) +
         kWaitsPerLifecycle * static_cast<double>(user.lifecycles);
}

}  // namespace

std::vector<double> ShareCosts(std::span<const UserWaits> users, const WaitCosts& costs) {
  double runs = 0;
  double captures = 0;
  double work = 0;
  for (const UserWaits& user : users) {
    runs += RunsOf(user);
    captures += static_cast<double>(user.captures);
    work += WorkOf(user);
  }
  std::vector<double> shares;
  shares.reserve(users.size());
  for (const UserWaits& user : users) {
    shares.push_back(costs.programs * Part(RunsOf(user), runs) +
                     costs.captures * Part(static_cast<double>(user.captures), captures) +
                     costs.worker * Part(WorkOf(user), work));
  }
  return shares;
}

}  // namespace offcpu

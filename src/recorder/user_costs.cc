#include "recorder/user_costs.h"

namespace offcpu {
namespace {

// A capture is copied, decoded and walked, and its process may have to be looked at, while most waits are added up by
// the BPF programs. What a capture and what a wait take of the worker in docs/performance.md differ by more than this.
constexpr double kWaitsPerCapture = 200;

double Part(double of, double sum) { return sum == 0 ? 0 : of / sum; }

double WorkOf(const UserWaits& user) {
  return static_cast<double>(user.waits) + kWaitsPerCapture * static_cast<double>(user.captures);
}

}  // namespace

std::vector<double> ShareCosts(std::span<const UserWaits> users, const WaitCosts& costs) {
  double waits = 0;
  double captures = 0;
  double work = 0;
  for (const UserWaits& user : users) {
    waits += static_cast<double>(user.waits);
    captures += static_cast<double>(user.captures);
    work += WorkOf(user);
  }
  std::vector<double> shares;
  shares.reserve(users.size());
  for (const UserWaits& user : users) {
    shares.push_back(costs.programs * Part(static_cast<double>(user.waits), waits) +
                     costs.captures * Part(static_cast<double>(user.captures), captures) +
                     costs.worker * Part(WorkOf(user), work));
  }
  return shares;
}

}  // namespace offcpu

// Where the time of services, containers and pods went: of those with the most of it, so that an alert can say which of
// them waits for what. All others are one sum, so the number of series is bounded. If a new group has more time in a
// window than the least of those shown, it takes that one's place, whose time goes to the others.
//
// Plain values; one thread at a time.
#ifndef OFFCPU_DAEMON_GROUP_TIMES_H_
#define OFFCPU_DAEMON_GROUP_TIMES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "profile/named_profile.h"

namespace offcpu {

// A container, or a service of systemd outside of containers; all of it "": what is in neither.
struct TimeGroup {
  std::string unit;       // "nginx.service"
  std::string pod;        // its uid
  std::string container;  // its id

  auto operator<=>(const TimeGroup&) const = default;
};

struct GroupTime {
  std::map<std::string, uint64_t> blocked_ns;  // by the family of the cause, but for waits for work
  uint64_t runnable_ns = 0;

  uint64_t total_ns() const;
  void Add(const GroupTime& other);
};

// Sums up one window, whose rows have been judged.
std::map<TimeGroup, GroupTime> GroupTimesOf(const NamedProfile& profile);

class TopGroups {
 public:
  static constexpr size_t kMost = 50;

  void Add(const std::map<TimeGroup, GroupTime>& window);
  const std::map<TimeGroup, GroupTime>& shown() const { return shown_; }
  const GroupTime& others() const { return others_; }

 private:
  void Show(const TimeGroup& group, const GroupTime& time);

  std::map<TimeGroup, GroupTime> shown_;
  std::map<TimeGroup, uint64_t> recent_ns_;  // of each of them; what is older counts for less
  GroupTime others_;
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_GROUP_TIMES_H_

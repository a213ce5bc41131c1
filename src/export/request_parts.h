// An OTLP request that was refused, to be sent in parts: each has some of its profiles, and what they refer to. A
// message as it was written, in memory; one thread.
#ifndef OFFCPU_EXPORT_REQUEST_PARTS_H_
#define OFFCPU_EXPORT_REQUEST_PARTS_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"

namespace offcpu {

class RequestParts {
 public:
  // Takes apart the body as it was sent, compressed or not.
  static absl::StatusOr<RequestParts> Parse(const std::string& body);
  ~RequestParts();
  RequestParts(RequestParts&&) noexcept;
  RequestParts& operator=(RequestParts&&) noexcept;

  // In the order in which they are in the request.
  size_t profiles() const;
  // "off_cpu", as `[export] types` has it.
  std::string Type(size_t profile) const;
  // "off_cpu of nginx": with the service that it is of.
  std::string Name(size_t profile) const;

  // Some of the profiles, with their resources, not compressed. What is in the tables stays where it is, but entries
  // that nothing refers to any more are empty.
  std::string Part(const std::set<size_t>& profiles) const;

 private:
  struct Message;
  explicit RequestParts(std::unique_ptr<const Message> message);

  std::unique_ptr<const Message> message_;
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_REQUEST_PARTS_H_

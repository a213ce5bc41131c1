// A server and a client, each in a control group of its own, and a wait of the client in none: 4, 5 and 1 ms.
#ifndef OFFCPU_TESTS_LABELS_LABELLED_PROFILE_H_
#define OFFCPU_TESTS_LABELS_LABELLED_PROFILE_H_

#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {

class LabelledProfile : public ::testing::Test {
 protected:
  LabelledProfile() {
    const uint32_t server = fake_.Process(10, "server");
    const uint32_t client = fake_.Process(11, "client");
    const uint32_t worker = fake_.Comm("worker");
    const uint32_t user = fake_.User({"read"});
    const uint32_t kernel = fake_.Kernel({"schedule"});
    fake_.Row(server, worker, user, kernel, 3'000'000, 1'000'000);
    fake_.Row(client, worker, user, kernel, 5'000'000);
    fake_.Row(client, worker, user, kernel, 1'000'000);
    fake_.profile.control_groups = {"/system.slice/web.service", "/user.slice/x\ny"};
    fake_.profile.rows[0].control_group = 1;
    fake_.profile.rows[1].control_group = 2;
  }

  FakeProfile fake_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_LABELS_LABELLED_PROFILE_H_

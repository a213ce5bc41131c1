#include "offcpu/doctor_report.h"

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

const std::vector<Check> kGood = {{.name = "CAP_BPF", .found = "held"}};
const std::vector<Check> kBad = {
    {.name = "CAP_BPF", .found = "held"},
    {.name = "tree of mappings", .verdict = Verdict::kLimited, .found = "absent", .lost = "some", .advice = "this"},
    {.name = "pid namespace", .verdict = Verdict::kMissing, .found = "its\nown", .lost = "all", .advice = "that"}};

HostFacts Facts(bool can_read_user, bool can_defer) {
  KernelFeatures features;
  features.can_read_user = can_read_user;
  features.exit_tp = can_defer;
  features.task_work_arguments = can_defer ? 4 : 0;
  return {.release = "7.2.13", .features = features};
}

std::string Text(const HostFacts& facts, const std::vector<Check>& checks) {
  std::string text;
  WriteChecks(facts, checks, [&](std::string_view bytes) { text += bytes; });
  return text;
}

std::string Json(const HostFacts& facts, const std::vector<Check>& checks) {
  std::string text;
  WriteChecksJson(facts, checks, [&](std::string_view bytes) { text += bytes; });
  return text;
}

TEST(DoctorReport, SaysWhatIsThereAndHowStacksCome) {
  EXPECT_EQ(Text(Facts(true, true), kGood),
            "         kernel                 Linux 7.2.13\n"
            "ok       CAP_BPF                held\n"
            "\n"
            "user stacks: copied by task work, when a thread returns to user mode\n"
            "offcpu can record here\n");
}

TEST(DoctorReport, SaysWhatIsLostAndWhatToDo) {
  EXPECT_EQ(Text(Facts(true, false), kBad),
            "         kernel                 Linux 7.2.13\n"
            "ok       CAP_BPF                held\n"
            "limited  tree of mappings       absent\n"
            "           lost:  some\n"
            "           to do: this\n"
            "missing  pid namespace          its?own\n"
            "           lost:  all\n"
            "           to do: that\n"
            "\n"
            "user stacks: copied at the switch, as far as they are in memory\n"
            "offcpu cannot record here: see the lines that say missing\n");
}

TEST(DoctorReport, ForScripts) {
  EXPECT_EQ(Json(Facts(true, true), kGood), R"({"can_record":true,"kernel":"7.2.13","user_stacks":"task work",)"
                                            R"("checks":[{"name":"CAP_BPF","verdict":"ok","found":"held"}]})"
                                            "\n");
  EXPECT_EQ(Json(Facts(false, false), kBad),
            R"({"can_record":false,"kernel":"7.2.13","user_stacks":"waiting only",)"
            R"("checks":[{"name":"CAP_BPF","verdict":"ok","found":"held"},)"
            R"({"name":"tree of mappings","verdict":"limited","found":"absent","lost":"some","advice":"this"},)"
            R"({"name":"pid namespace","verdict":"missing","found":"its\u000aown","lost":"all","advice":"that"}]})"
            "\n");
}

TEST(DoctorReport, WithoutTypesNothingIsSaidOfStacks) {
  const HostFacts facts = {.features = absl::FailedPreconditionError("no types")};
  EXPECT_NE(Text(facts, kBad).find("\nuser stacks: unknown"), std::string::npos);
  EXPECT_NE(Json(facts, kBad).find(R"("user_stacks":"unknown")"), std::string::npos);
}

}  // namespace
}  // namespace offcpu

#include "offcpu/doctor_report.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/utf8.h"
#include "json/json_writer.h"

namespace offcpu {
namespace {

struct PathText {
  std::string_view name;
  std::string_view sentence;
};

PathText TextOf(const absl::StatusOr<KernelFeatures>& features) {
  if (!features.ok()) return {"unknown", "unknown: the kernel does not say what it offers"};
  switch (UserStackPathOf(*features)) {
    case UserStackPath::kTaskWork:
      return {"task work", "copied by task work, when a thread returns to user mode"};
    case UserStackPath::kAtOnce:
      return {"at once", "copied at the switch, as far as they are in memory"};
    case UserStackPath::kWaitingOnly:
      return {"waiting only",
              "none for waits that have ended (kernel stacks only); read from outside for threads that still wait"};
  }
  return {};
}

void WriteCheckJson(const Check& check, JsonWriter& json) {
  json.BeginObject();
  json.Field("name", check.name);
  json.Field("verdict", Name(check.verdict));
  json.Field("found", check.found);
  if (check.verdict != Verdict::kOk) {
    json.Field("lost", check.lost);
    json.Field("advice", check.advice);
  }
  json.EndObject();
}

}  // namespace

void WriteChecks(const HostFacts& facts, const std::vector<Check>& checks, ByteSink sink) {
  sink(absl::StrFormat("         %-22s Linux %s\n", "kernel", Printable(facts.release)));
  for (const Check& check : checks) {
    sink(absl::StrFormat("%-8s %-22s %s\n", Name(check.verdict), check.name, Printable(check.found)));
    if (check.verdict == Verdict::kOk) continue;
    sink(absl::StrCat("           lost:  ", check.lost, "\n"));
    sink(absl::StrCat("           to do: ", check.advice, "\n"));
  }
  sink(absl::StrCat("\nuser stacks: ", std::string(TextOf(facts.features).sentence), "\n"));
  sink(CanRecord(checks) ? "offcpu can record here\n" : "offcpu cannot record here: see the lines that say missing\n");
}

void WriteChecksJson(const HostFacts& facts, const std::vector<Check>& checks, ByteSink sink) {
  JsonWriter json(sink);
  json.BeginObject();
  json.Key("can_record");
  json.Bool(CanRecord(checks));
  json.Field("kernel", facts.release);
  json.Field("user_stacks", TextOf(facts.features).name);
  json.Key("checks");
  json.BeginArray();
  for (const Check& check : checks) WriteCheckJson(check, json);
  json.EndArray();
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu

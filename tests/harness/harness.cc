#include "tests/harness/harness.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "symbolize/symbolizer.h"

namespace offcpu::integration {

std::unique_ptr<Target> Target::Start(std::vector<std::string> words) {
  if (words[0][0] != '/') words[0] = BinDirectory() + "/targets/" + words[0];
  std::unique_ptr<Program> program = Program::Start(words);
  if (program == nullptr) return nullptr;
  std::unique_ptr<Target> target(new Target(std::move(program)));
  if (!target->ReadUntil("ready")) {
    ADD_FAILURE() << words[0] << " did not get ready";
    return nullptr;
  }
  return target;
}

bool Target::ReadUntil(const std::string& word) {
  std::string line;
  while (program_->ReadLine(&line)) {
    lines_.push_back(line);
    if (line.substr(0, line.find(' ')) == word) return true;
  }
  return false;
}

std::vector<std::string> Target::Lines(const std::string& first) const {
  std::vector<std::string> found;
  for (const std::string& line : lines_) {
    if (line.rfind(first + " ", 0) == 0) found.push_back(line.substr(first.size() + 1));
  }
  return found;
}

pid_t Target::Detail(const std::string& name) const {
  for (const std::string& details : Lines("ready")) {
    std::istringstream words(details);
    std::string word;
    while (words >> word) {
      if (word.rfind(name + "=", 0) == 0) return std::atoi(word.c_str() + name.size() + 1);
    }
  }
  ADD_FAILURE() << "no " << name << " in the ready line";
  return -1;
}

void Target::Go() {
  stolen_before_ns_ = StolenNs();
  program_->Write("\n");
}

void Target::AwaitDone() {
  EXPECT_TRUE(ReadUntil("done"));
  stolen_ns_ = StolenNs() - stolen_before_ns_;
}

void Target::End() { EXPECT_EQ(program_->Wait(), 0); }

Measure Target::Measured(const std::string& thread, const std::string& label) const {
  for (const std::string& line : Lines("measured")) {
    std::istringstream words(line);
    std::string its_thread;
    std::string its_label;
    Measure measure;
    words >> its_thread >> its_label >> measure.ns >> measure.count;
    if (its_thread == thread && its_label == label) return measure;
  }
  ADD_FAILURE() << "not measured: " << thread << " " << label;
  return {};
}

uint64_t Target::Value(const std::string& name) const {
  for (const std::string& line : Lines("value")) {
    if (line.rfind(name + " ", 0) == 0) return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10);
  }
  ADD_FAILURE() << "no value " << name;
  return 0;
}

bool StackRow::Has(std::string_view function) const {
  return std::any_of(user->frames.begin(), user->frames.end(),
                     [&](const NamedFrame& frame) { return frame.name() == function; });
}

bool StackRow::HasInKernel(std::string_view function) const {
  return std::find(kernel.begin(), kernel.end(), function) != kernel.end();
}

bool StackRow::Calls(const std::vector<std::string>& functions) const {
  size_t next = 0;
  for (auto frame = user->frames.rbegin(); frame != user->frames.rend() && next < functions.size(); ++frame) {
    if (frame->name() == functions[next]) ++next;
  }
  return next == functions.size();
}

std::string StackRow::Text() const {
  std::string text = comm + ": ";
  for (auto frame = user->frames.rbegin(); frame != user->frames.rend(); ++frame)
    text.append(frame->name()).append(";");
  if (user->missing != NoUserStack::kNone) {
    text += "[no user stack: " + std::string(Name(user->missing)) + "]";
  } else if (!complete()) {
    text += " ended as " + std::string(Name(user->end));
  }
  text += " -;";
  for (auto name = kernel.rbegin(); name != kernel.rend(); ++name) text.append(*name).append(";");
  return text + " count " + std::to_string(row->count) + ", " + std::to_string(row->total_ns()) + " ns\n";
}

std::vector<StackRow> Recording::Rows(const RowPredicate& wanted) const {
  std::vector<StackRow> found;
  for (const NamedRow& row : profile.rows) {
    StackRow entry = {&row,
                      &profile.processes.at(row.process),
                      profile.comms.at(row.comm),
                      &profile.user_stacks.at(row.user_stack),
                      {}};
    for (const NamedFrame& frame : profile.kernel_stacks.at(row.kernel_stack).frames)
      entry.kernel.push_back(frame.name());
    if (wanted(entry)) found.push_back(std::move(entry));
  }
  return found;
}

Measure Recording::Sum(const RowPredicate& wanted) const {
  Measure sum;
  for (const StackRow& row : Rows(wanted)) {
    sum.ns += row.row->total_ns();
    sum.count += row.row->count;
  }
  return sum;
}

const Loss* Recording::FindLoss(std::string_view reason) const {
  for (const Loss& loss : profile.stats.losses) {
    if (loss.reason == reason) return &loss;
  }
  return nullptr;
}

std::string Recording::LossesText() const {
  std::string text = "losses:";
  for (const Loss& loss : profile.stats.losses) {
    text += " " + loss.reason + " " + std::to_string(loss.count) + " (" + std::to_string(loss.ns) + " ns),";
  }
  text += " walks:";
  for (int i = 0; i < kEndReasonCount; ++i) {
    const uint64_t count = profile.stats.walk_ends[static_cast<size_t>(i)];
    if (count > 0) text += " " + std::string(Name(static_cast<EndReason>(i))) + " " + std::to_string(count) + ",";
  }
  return text + "\n";
}

RecordConfig Unthrottled(std::vector<pid_t> pids) {
  RecordConfig config;
  config.pids = std::move(pids);
  config.task_works_per_second = 1'000'000;
  config.capture_bytes_per_second = uint64_t{1} << 30;
  config.capture_ring_bytes = 128u << 20;
  config.mappings_per_second = 10'000'000;
  config.process_ms_per_second = 100'000;  // of a process that does nothing but wait, captures take a large share
  return config;
}

Recording MustStop(Recorder& recorder) {
  Recording recording;
  absl::StatusOr<Profile> profile = recorder.Stop();
  EXPECT_TRUE(profile.ok()) << profile.status();
  if (profile.ok()) recording.profile = Symbolize(*std::move(profile));
  return recording;
}

Recording Record(const RecordConfig& config, Target& target) {
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  if (!recorder.ok()) {
    ADD_FAILURE() << recorder.status().ToString();
    return {};
  }
  target.Go();
  target.AwaitDone();
  Recording recording = MustStop(**recorder);
  target.End();
  return recording;
}

std::string BinDirectory() { return OFFCPU_BIN_DIR; }

TemporaryDirectory::TemporaryDirectory() : path_(testing::TempDir() + "/offcpu-XXXXXX") {
  EXPECT_NE(mkdtemp(path_.data()), nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

double ClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

uint64_t StolenNs() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  uint64_t user, nice, system, idle, iowait, irq, softirq, steal = 0;
  stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return steal * 1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
}

bool Within(uint64_t got, uint64_t want, double fraction, uint64_t stolen_ns) {
  const double more = static_cast<double>(got) - static_cast<double>(want);
  const double allowed = fraction * static_cast<double>(want);
  return -allowed - static_cast<double>(stolen_ns) <= more && more <= allowed;
}

}  // namespace offcpu::integration

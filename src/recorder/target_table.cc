#include "recorder/target_table.h"

namespace offcpu {

Target* TargetTable::Find(const ProcessKey& process) const {
  const auto found = targets_.find(process);
  return found != targets_.end() ? found->second.get() : nullptr;
}

TargetTable::Heard TargetTable::HearOf(const ProcessKey& process, int32_t tid, const std::string& comm) {
  Heard heard = {.target = Find(process)};
  if (heard.target == nullptr) {
    if (targets_.size() >= max_processes_) EvictExited();
    if (targets_.size() >= max_processes_) {
      ++over_limit_;
      return {};
    }
    heard = {.target = targets_.emplace(process, std::make_unique<Target>(process)).first->second.get(),
             .is_new = true};
  }
  heard.target->tid = tid;
  heard.target->heard_in = windows_;
  if (tid == process.pid && !comm.empty()) heard.target->main_comm = comm;
  return heard;
}

void TargetTable::EvictExited() {
  for (size_t left = exited_.size(); left > 0 && targets_.size() >= max_processes_; --left) {
    const ProcessKey process = exited_.front();
    exited_.pop_front();
    const Target* target = Find(process);
    if (target == nullptr) continue;
    if (target->is_being_read || !target->waiting.empty()) {
      exited_.push_back(process);
    } else {
      evicted_.push_back(target->Named());
      targets_.erase(process);
    }
  }
}

void TargetTable::HearOfInWindow(const ProcessKey& process) {
  if (Target* target = Find(process)) target->heard_in = windows_;
}

void TargetTable::Forget() {
  absl::erase_if(targets_, [this](const auto& entry) {
    const Target& target = *entry.second;
    return target.heard_in != windows_ && !target.is_being_read && target.waiting.empty();
  });
  std::erase_if(exited_, [this](const ProcessKey& process) { return !targets_.contains(process); });
}

std::vector<ProcessInfo> TargetTable::Describe() const {
  std::vector<ProcessInfo> processes;
  processes.reserve(targets_.size());
  for (const auto& [process, target] : targets_) processes.push_back(target->Named());
  return processes;
}

}  // namespace offcpu

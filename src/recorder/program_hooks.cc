#include "recorder/program_hooks.h"

namespace offcpu {

void SetProgramHooks(const std::shared_ptr<Programs>& programs, Pipeline::Hooks* hooks) {
  hooks->hint = [programs](int32_t tid, const StackHint& hint) { programs->SetStackHint(tid, hint); };
  hooks->forget_definition = [programs](uint64_t id) { programs->ForgetDefinition(id); };
  if (!programs->WalksUserStacks()) return;
  hooks->known_stacks = {.tell = [programs](const ToldWalk& walk) { programs->TellWalk(walk); },
                         .forget = [programs] { programs->ForgetWalks(); }};
}

}  // namespace offcpu

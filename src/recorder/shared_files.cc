#include "recorder/shared_files.h"

#include <sys/sysmacros.h>

#include <utility>

namespace offcpu {
namespace {

// As the kernel counts, without the generation that is above it.
uint32_t DeviceOf(uint64_t device) { return major(device) << 20 | minor(device); }

bool IsOf(const CodeMapping& mapping, const Module& module) {
  const FileIdentity& file = module.identity;
  if (!module.file || mapping.changed_ns != file.changed_ns) return false;
  if (file.is_layered) return static_cast<uint32_t>(mapping.inode) == static_cast<uint32_t>(file.inode);
  return mapping.inode == file.inode && static_cast<uint32_t>(mapping.device) == DeviceOf(file.device);
}

}  // namespace

SharedFiles::Key SharedFiles::KeyOf(const CodeMapping& mapping) {
  return {mapping.offset, mapping.inode, mapping.device, mapping.changed_ns};
}

void SharedFiles::Learn(const CodeMapping& mapping, const MappedCode& piece) {
  if (mapping.inode == 0 || mapping.changed_ns == 0) return;
  if (piece.module == nullptr || !piece.module->matches_file || !IsOf(mapping, *piece.module)) return;
  Keep(mapping, piece);
}

void SharedFiles::LearnVdso(const CodeMapping& mapping, const MappedCode& piece) {
  if (piece.module != nullptr && mapping.inode == 0 && mapping.device == kVdsoDevice) Keep(mapping, piece);
}

void SharedFiles::Keep(const CodeMapping& mapping, const MappedCode& piece) {
  const std::lock_guard lock(mutex_);
  if (pieces_.size() >= max_pieces_)
    absl::erase_if(pieces_, [](const auto& entry) { return std::get<1>(entry.first) != 0; });
  pieces_.insert_or_assign(KeyOf(mapping), Piece{piece, mapping.begin - piece.bias});
}

std::optional<MappedCode> SharedFiles::Find(const CodeMapping& mapping) const {
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(KeyOf(mapping));
  if (found == pieces_.end()) return std::nullopt;
  MappedCode code = found->second.code;
  code.begin = mapping.begin;
  code.end = mapping.end;
  if (mapping.inode != 0) code.offset = mapping.offset;
  code.bias = mapping.begin - found->second.link_address;
  return code;
}

ComposedCode SharedFiles::Compose(const std::vector<CodeMapping>& mappings, const Target* process) const {
  ComposedCode composed;
  for (const CodeMapping& mapping : mappings) {
    const MappedCode* seen = process == nullptr ? nullptr : process->FindPiece(mapping);
    std::optional<MappedCode> code = seen != nullptr ? *seen : Find(mapping);
    if (code.has_value()) composed.code.push_back(*std::move(code));
  }
  composed.whole = composed.code.size() == mappings.size() && mappings.size() < kMaxListedMappings;
  return composed;
}

size_t SharedFiles::pieces() const {
  const std::lock_guard lock(mutex_);
  return pieces_.size();
}

}  // namespace offcpu

#include "recorder/shared_files.h"

#include <sys/sysmacros.h>

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
  if (pieces_.size() >= max_pieces_) pieces_.clear();
  pieces_.insert_or_assign(KeyOf(mapping), Piece{piece.module, mapping.begin - piece.bias});
}

std::optional<MappedCode> SharedFiles::Find(const CodeMapping& mapping) const {
  const auto found = pieces_.find(KeyOf(mapping));
  if (mapping.inode == 0 || found == pieces_.end()) return std::nullopt;
  const Piece& piece = found->second;
  return MappedCode{
      .begin = mapping.begin, .end = mapping.end, .module = piece.module, .bias = mapping.begin - piece.link_address};
}

}  // namespace offcpu

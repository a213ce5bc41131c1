#include "profiler/shared_files.h"

namespace offcpu {

SharedFiles::Key SharedFiles::KeyOf(const CodeMapping& mapping) {
  return {mapping.offset, mapping.inode, mapping.device, mapping.modified_ns};
}

void SharedFiles::Learn(const CodeMapping& mapping, const MappedCode& piece) {
  if (mapping.inode == 0 || mapping.modified_ns == 0) return;
  if (piece.module == nullptr || !piece.module->matches_file) return;
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

// Windows as the recording hands them over when they have ended.
#ifndef OFFCPU_TESTS_EXPORT_WINDOWS_H_
#define OFFCPU_TESTS_EXPORT_WINDOWS_H_

#include <memory>
#include <utility>

#include "export/ended_window.h"

namespace offcpu {

inline std::shared_ptr<EndedWindow> Ended(WindowPieces pieces, std::shared_ptr<ReaderPool> readers = nullptr) {
  return std::make_shared<EndedWindow>(std::move(pieces), std::make_shared<WindowNames>(std::move(readers)));
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_EXPORT_WINDOWS_H_

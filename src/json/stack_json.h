// A user stack as the fields of a JSON object that the caller has open:
//   "user": [{"pc", "name", "module", "address", "source"}], frames leaf first, and either
//   "user_end", why the walk ended, or "no_user_stack", why there is none.
// A frame also has "file" and "line" of its function, as far as they are known, and "inlined", the functions that were
// inlined there, innermost first. "address" is the one in the module, of a caller the one to return to; "pc" that in
// the process, there only if it is known; both are hexadecimal strings.
#ifndef OFFCPU_JSON_STACK_JSON_H_
#define OFFCPU_JSON_STACK_JSON_H_

#include <cstdint>
#include <span>

#include "json/json_writer.h"
#include "profile/named_profile.h"

namespace offcpu {

// The fields of a frame that say where in the source it is, and what was inlined there; none where nothing is known.
void WriteFrameLines(const NamedFrame& frame, JsonWriter& json);

// `pcs`: of its frames, or none.
void WriteUserStackFields(const NamedUserStack& stack, std::span<const uint64_t> pcs, JsonWriter& json);

}  // namespace offcpu

#endif  // OFFCPU_JSON_STACK_JSON_H_

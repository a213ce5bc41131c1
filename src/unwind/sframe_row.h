// A row of an SFrame section in the form that all sources share. Pure functions; safe from any thread.
#ifndef OFFCPU_UNWIND_SFRAME_ROW_H_
#define OFFCPU_UNWIND_SFRAME_ROW_H_

#include "unwind/find_outcome.h"
#include "unwind/sframe_section.h"
#include "unwind/unwind_row.h"

namespace offcpu {

// Fills the rules of `row`, not the addresses that it is valid for. kExpression: they have no form there, or may not be
// what was meant; else kFound.
FindOutcome ToRow(const SFrameHeader& header, const SFrameFunction& function, const SFrameRow& from, UnwindRow* row);

// The rules of a function without rows.
UnwindRow RowlessRow(const SFrameHeader& header, const SFrameFunction& function);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_SFRAME_ROW_H_

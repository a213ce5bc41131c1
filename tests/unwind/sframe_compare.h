// What offcpu reads of the tables of an ELF object, compared with what readelf says of them, and with its .eh_frame.
#ifndef OFFCPU_TESTS_UNWIND_SFRAME_COMPARE_H_
#define OFFCPU_TESTS_UNWIND_SFRAME_COMPARE_H_

#include <cstddef>
#include <istream>
#include <vector>

#include "tests/unwind/readelf_dump.h"
#include "tests/unwind/sframe_object.h"
#include "unwind/sframe_section.h"

namespace offcpu {

std::vector<ReadelfFunction> FunctionsOf(const SFrameSection& section);

// In an object that is not linked, readelf's addresses are what the relocations will add.
void Unlink(std::vector<ReadelfFunction>& functions);

// Every function and every row. Returns the number of rows.
size_t CompareWithReadelf(const SFrameObject& object, std::istream& text);

// Where both tables have a row they must agree. Returns how many rows both have.
size_t CompareWithEhFrame(const SFrameObject& object);

}  // namespace offcpu

#endif  // OFFCPU_TESTS_UNWIND_SFRAME_COMPARE_H_

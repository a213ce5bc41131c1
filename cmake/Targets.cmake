# Links tests in a third of the time, where it is to be had.
find_program(OFFCPU_LLD ld.lld)

# What the scripts build by name.
add_custom_target(unit_tests)
add_custom_target(root_tests)
add_custom_target(optimized_tests)
add_custom_target(threads_tests)
add_custom_target(fuzzers)
foreach(part times host software runtimes attacks steps screen sframe browser)
  add_custom_target(${part}_tests)
endforeach()

# offcpu_library(NAME SOURCES a.cc ... DEPS t ...): one folder of src/. The DEPS are what src/FOLDERS allows,
# which scripts/folders checks of every include.
function(offcpu_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC offcpu_options ${ARG_DEPS})
endfunction()

# Tells those sources of a test that ask for it where the checkout is. The others compile alike in every checkout, and
# ccache finds them there.
function(offcpu_test_places name)
  get_target_property(sources ${name} SOURCES)
  foreach(source ${sources})
    file(STRINGS ${source} asks REGEX "OFFCPU_(SOURCE|BIN)_DIR" LIMIT_COUNT 1)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    if(asks)
      set_property(SOURCE ${source} TARGET_DIRECTORY ${name} APPEND PROPERTY COMPILE_DEFINITIONS
        OFFCPU_SOURCE_DIR="${CMAKE_SOURCE_DIR}" OFFCPU_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
    endif()
  endforeach()
endfunction()

# How a test is built: quickly, for the code that is tested lies in libraries. At -O1 gcc 12 takes the space of short
# strings for all that strings have.
function(offcpu_test_options name)
  offcpu_test_places(${name})
  if(OFFCPU_LLD)
    target_link_options(${name} PRIVATE -fuse-ld=lld)
  endif()
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1 -g1 -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow>)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O0>) # optimized, they take longer to compile than to run
  if(OFFCPU_FUZZERS)
    target_compile_options(${name} PRIVATE -fno-sanitize=fuzzer-no-link) # no fuzzer runs a test
  endif()
endfunction()

# offcpu_test(NAME SOURCES a_test.cc ... DEPS t ... [LABELS l ...]): one test program; ctest knows its labels.
#   root       loads BPF programs or records processes, and runs beside others
#   deep PART  of tests/deep: runs by itself, unless it is labelled `beside` as well
#   threads    needs no root and is worth a run under TSan
#   optimized  needs no root and does less with a sanitizer
# All others are labelled `unit`. A program that records is a test of ctest's for each of its tests. The others are one
# each: to start a process for each of their tests takes longer than these.
function(offcpu_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  offcpu_test_options(${name})
  target_precompile_headers(${name} REUSE_FROM offcpu_precompiled)
  set(labels ${ARG_LABELS})
  set(properties TIMEOUT 600)
  if("deep" IN_LIST labels AND NOT "beside" IN_LIST labels)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  list(REMOVE_ITEM labels beside)
  if(NOT "root" IN_LIST labels AND NOT "deep" IN_LIST labels)
    list(APPEND labels unit)
  endif()
  foreach(label ${labels})
    if(TARGET ${label}_tests)
      add_dependencies(${label}_tests ${name})
    endif()
  endforeach()
  if("unit" IN_LIST labels OR OFFCPU_SANITIZER)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties} LABELS "${labels}")
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  # What is discovered can be given one label only.
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  set(tests \${${name}_TESTS})
  file(WRITE ${labels_file} "if(${name}_TESTS)\n  set_tests_properties(${tests} PROPERTIES LABELS \"${labels}\")\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()

# offcpu_fuzzer(NAME SOURCE x_fuzzer.cc DEPS t ...): a libFuzzer program, its corpus in tests/fuzz/corpus/NAME. In builds
# without libFuzzer a program that gives it the corpus, as a unit test.
function(offcpu_fuzzer name)
  cmake_parse_arguments(ARG "" "SOURCE" "DEPS" ${ARGN})
  if(OFFCPU_FUZZERS)
    add_executable(${name} ${ARG_SOURCE})
    target_link_libraries(${name} PRIVATE ${ARG_DEPS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
    return()
  endif()
  add_executable(${name}_replay ${ARG_SOURCE} replay.cc)
  target_link_libraries(${name}_replay PRIVATE ${ARG_DEPS})
  offcpu_test_options(${name}_replay)
  add_dependencies(unit_tests ${name}_replay)
  add_test(NAME ${name}_replay COMMAND ${name}_replay ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set_tests_properties(${name}_replay PROPERTIES LABELS unit TIMEOUT 600)
endfunction()

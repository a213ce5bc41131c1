# Links tests in a third of the time, where it is to be had.
find_program(OFFCPU_LLD ld.lld)

# What the scripts build by name.
add_custom_target(unit_tests)
add_custom_target(root_tests)
add_custom_target(deep_tests)
add_custom_target(optimized_tests)
add_custom_target(threads_tests)
add_custom_target(fuzzers)

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
  if(OFFCPU_SANITIZER)
    target_compile_options(${name} PRIVATE -O0) # the presets optimize, but tests take longer to compile so than to run
  endif()
  if(OFFCPU_FUZZERS)
    target_compile_options(${name} PRIVATE -fno-sanitize=fuzzer-no-link) # no fuzzer runs a test
  endif()
endfunction()

# offcpu_test(NAME SOURCES a_test.cc ... DEPS t ... [LABELS l ...]): one test program. Those labelled `root` load
# BPF programs or record processes, and run beside each other. Those of tests/deep are labelled `deep`, and with their
# part, which ctest knows as well; they run one at a time but for those labelled `beside`. Those labelled `threads` are
# worth a run under TSan. Those labelled `optimized` need no root and do less with a sanitizer.
# With a sanitizer a program is one test of ctest's: to start a process for each of its tests takes longer than these.
function(offcpu_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  offcpu_test_options(${name})
  target_precompile_headers(${name} REUSE_FROM offcpu_precompiled)
  set(properties TIMEOUT 600)
  if("root" IN_LIST ARG_LABELS)
    add_dependencies(root_tests ${name})
    list(APPEND properties LABELS root)
  elseif("deep" IN_LIST ARG_LABELS)
    add_dependencies(deep_tests ${name})
    set(ctest_labels ${ARG_LABELS})
    list(REMOVE_ITEM ctest_labels beside optimized)
    if(NOT "beside" IN_LIST ARG_LABELS)
      list(APPEND properties RUN_SERIAL TRUE)
    endif()
  else()
    add_dependencies(unit_tests ${name})
  endif()
  if("optimized" IN_LIST ARG_LABELS)
    add_dependencies(optimized_tests ${name})
  endif()
  if("threads" IN_LIST ARG_LABELS)
    add_dependencies(threads_tests ${name})
    list(APPEND properties LABELS threads)
  endif()
  if(OFFCPU_SANITIZER)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
    if(ctest_labels)
      set_tests_properties(${name} PROPERTIES LABELS "${ctest_labels}")
    endif()
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
    if(ctest_labels)
      # What is discovered can be given one label only.
      set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
      set(tests \${${name}_TESTS})
      file(WRITE ${labels_file}
           "if(${name}_TESTS)\n  set_tests_properties(${tests} PROPERTIES LABELS \"${ctest_labels}\")\nendif()\n")
      set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
    endif()
  endif()
endfunction()

# offcpu_fuzzer(NAME SOURCE x_fuzzer.cc DEPS t ...): a libFuzzer program, its corpus in tests/fuzz/corpus/NAME.
function(offcpu_fuzzer name)
  cmake_parse_arguments(ARG "" "SOURCE" "DEPS" ${ARGN})
  if(OFFCPU_FUZZERS)
    add_executable(${name} ${ARG_SOURCE})
    target_link_libraries(${name} PRIVATE ${ARG_DEPS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
  endif()
endfunction()

# One folder is one target. Headers are named from the repository root
# ("model/base/units.h"); cmake/check_layers.cmake refuses an include that the
# table in CONTRIBUTING.md does not allow, and links follow the same table.

option(UMF_SANITIZE "Build with address and undefined-behaviour sanitizers" OFF)
option(UMF_COVERAGE "Build with coverage counters" OFF)
option(UMF_FUZZ "Build the fuzzers of tests/fuzz (needs clang++)" OFF)

add_library(umf_options INTERFACE)
target_compile_features(umf_options INTERFACE cxx_std_20)
# -ffp-contract=off: the same bytes out on every machine.
target_compile_options(umf_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
                       -ffp-contract=off)
target_include_directories(umf_options INTERFACE ${PROJECT_SOURCE_DIR})
if(UMF_SANITIZE)
  # GCC sees uninitialised variables in what the sanitizers add to the standard library.
  target_compile_options(umf_options INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer
                         -Wno-maybe-uninitialized)
  target_link_options(umf_options INTERFACE -fsanitize=address,undefined)
endif()
if(UMF_FUZZ)
  # Clang is not the compiler the warnings are kept clean for, so they do not stop it.
  target_compile_options(umf_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-error)
  target_link_options(umf_options INTERFACE -fsanitize=address,undefined)
endif()
if(UMF_COVERAGE)
  target_compile_options(umf_options INTERFACE --coverage)
  target_link_options(umf_options INTERFACE --coverage)
endif()

# umf_precompile(TARGET OWNER [HEADER <header> ...]): the standard headers nearly every file
# reads, and those given, are parsed once, for OWNER, and reused by every target with the same
# options: half the time of a small file. GCC alone, so the fuzzers' build still finds a file
# that leans on an include it does not have.
function(umf_precompile target owner)
  cmake_parse_arguments(ARG "" "" "HEADER" ${ARGN})
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <deque>
                              <filesystem> <functional> <limits> <map> <memory> <optional> <set>
                              <span> <string> <string_view> <utility> <vector> <fmt/format.h>
                              ${ARG_HEADER})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# umf_library(NAME SOURCES a.cpp ... LINKS target ... PRECOMPILED owner [HEADER <header> ...])
# PRECOMPILED: as for umf_precompile, where the header of umf_base does not do.
# Whoever links the library gets its object files, not only the archive: a linker
# takes from an archive just what is asked for by name, and would drop a file whose
# only job is to register a policy or a tier.
function(umf_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRECOMPILED" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  # CMake counts a precompiled header among the objects.
  set(objects $<FILTER:$<TARGET_OBJECTS:${name}>,EXCLUDE,[.]gch$>)
  target_link_libraries(${name} PUBLIC umf_options ${ARG_LINKS} INTERFACE ${objects})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED umf_base)
  endif()
  umf_precompile(${name} ${ARG_PRECOMPILED})
  # Fuzzers and benchmarks link all libraries of a top folder; see umf_libraries_of.
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
             OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "/.*" "" top "${folder}")
  set_property(GLOBAL APPEND PROPERTY UMF_LIBRARIES_${top} ${name})
endfunction()

# umf_libraries_of(OUT model traces ...): every umf_library below these top folders.
function(umf_libraries_of out)
  set(all "")
  foreach(top ${ARGN})
    get_property(libraries GLOBAL PROPERTY UMF_LIBRARIES_${top})
    list(APPEND all ${libraries})
  endforeach()
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

# Test code is quick to run and slow to compile; what it tests is built in full.
if(UMF_SANITIZE)
  set(umf_test_options -O0 -g1)
else()
  set(umf_test_options $<$<CONFIG:Release>:-O1>)
endif()

# umf_test(NAME SOURCES a_test.cpp ... LINKS target ... LABEL label)
# Every test case is its own ctest entry and process. A case whose third-party
# input is absent says so and exits with 77; only that code counts as skipped,
# so a failure can never be read as a skip.
function(umf_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE umf_options umf_test_main ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${umf_test_options})
  umf_precompile(${name} umf_test_main)
  set(labels "")
  if(ARG_LABEL)
    set(labels LABELS ${ARG_LABEL})
  endif()
  # A name that ctest mangles ([, ;) would select no case and pass: that is a failure.
  catch_discover_tests(${name} TEST_PREFIX "${name}: " EXTRA_ARGS --warn NoTests
                       PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 ${labels})
endfunction()

# umf_bench(NAME SOURCES a_bench.cpp ... LINKS target ...): Google Benchmark, run by hand.
function(umf_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE umf_options benchmark::benchmark_main ${ARG_LINKS})
endfunction()

# cmake -DROOT=<checkout> -P check_layers.cmake
# Fails, one line a fault, when a source file includes what its folder may not.
# A folder stands for everything below it; app/ may include everything of ours.
cmake_minimum_required(VERSION 3.25)

set(folders model/base model/stream model hw traces exec app tests) # narrower first
set(may_model/base   model/base)
set(may_model/stream model/base model/stream)
set(may_model        model)
set(may_hw           model hw)
set(may_traces       model traces)
set(may_exec         model traces exec)
set(may_app          model hw traces exec app)
set(systemc_in       hw app)

if(NOT IS_DIRECTORY "${ROOT}/model")
  message(FATAL_ERROR "check_layers: no model/ under ROOT \"${ROOT}\"")
endif()

# The first of `candidates` that holds `path`, or "".
function(folder_of path candidates out)
  set(${out} "" PARENT_SCOPE)
  foreach(folder IN LISTS candidates)
    string(FIND "${path}" "${folder}/" at)
    if(at EQUAL 0)
      set(${out} ${folder} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

set(faults 0)
# Uses the caller's `file`, `text` and `match`.
macro(fault message)
  # `text` and `match` both begin with a newline that is not in the file, so the
  # newlines before the match number its line less one.
  string(FIND "${text}" "${match}" at)
  string(SUBSTRING "${text}" 0 ${at} before)
  string(REGEX MATCHALL "\n" newlines "${before}")
  list(LENGTH newlines line)
  math(EXPR line "${line} + 1")
  message(NOTICE "${file}:${line}: ${message}")
  math(EXPR faults "${faults} + 1")
endmacro()

foreach(top model hw traces exec app)
  file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${top}/*.h" "${ROOT}/${top}/*.cpp"
       "${ROOT}/${top}/*.cu")
  foreach(file IN LISTS files)
    folder_of("${file}" "${folders}" layer)
    file(READ "${ROOT}/${file}" text)
    set(text "\n${text}")
    string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[ \t]*[<\"][^>\"\n]+" matches "${text}")
    foreach(match IN LISTS matches)
      string(REGEX REPLACE "^[^<\"]*[<\"]" "" included "${match}")
      if(match MATCHES "<(systemc|systemc\\.h|sysc/.*|tlm.*)$" AND NOT layer IN_LIST systemc_in)
        fault("${layer} may not include SystemC (<${included}>): only hw, app may")
        continue()
      endif()
      # A name found beside the including file is that file, as the compiler has it.
      cmake_path(GET file PARENT_PATH here)
      if(match MATCHES "\"" AND EXISTS "${ROOT}/${here}/${included}")
        cmake_path(SET included NORMALIZE "${here}/${included}")
      endif()
      folder_of("${included}" "${folders}" target)
      if(target STREQUAL "")
        continue() # a third party's
      endif()
      folder_of("${included}" "${may_${layer}}" allowed)
      if(allowed STREQUAL "")
        list(JOIN may_${layer} ", " list)
        fault("${layer} may not include \"${included}\": only ${list}")
      endif()
    endforeach()
  endforeach()
endforeach()

if(faults GREATER 0)
  message(FATAL_ERROR "check_layers: ${faults} forbidden include(s); CONTRIBUTING.md has the table")
endif()

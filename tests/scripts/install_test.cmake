# Installs the build into a scratch prefix, as `cmake --install` does, and starts the program.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(pattern bin/umfsim share/umfsim/scenarios/hardware/*.json share/umfsim/samples/*
        share/doc/umfsim/LICENSE share/doc/umfsim/README.md)
  file(GLOB found "${PREFIX}/${pattern}")
  if(NOT found)
    message(SEND_ERROR "not installed: ${pattern}")
  endif()
endforeach()
execute_process(COMMAND "${PREFIX}/bin/umfsim" --help OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

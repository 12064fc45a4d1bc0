# Feeds check_layers.cmake small trees; each forbidden include must be named, nothing else.
cmake_minimum_required(VERSION 3.25)

# accepts(FILE TEXT)
function(accepts file text)
  run("${file}" "${text}")
  if(NOT status EQUAL 0)
    message(SEND_ERROR "refused ${file}:\n${text}\n${out}")
  endif()
endfunction()

# refuses(FILE TEXT LINE...): with exactly these error lines
function(refuses file text)
  run("${file}" "${text}")
  string(REGEX MATCHALL "[^\n]*may not include[^\n]*" lines "${out}")
  if(status EQUAL 0 OR NOT "${lines}" STREQUAL "${ARGN}")
    message(SEND_ERROR "${file}:\n${text}\nexpected: ${ARGN}\ngot (status ${status}): ${lines}")
  endif()
endfunction()

macro(run file text)
  file(REMOVE_RECURSE "${TREE}")
  file(WRITE "${TREE}/model/base/units.h" "#pragma once\n")
  file(WRITE "${TREE}/hw/gpu/sm.h" "#include <systemc>\n#include \"model/base/units.h\"\n")
  file(WRITE "${TREE}/${file}" "${text}")
  execute_process(COMMAND ${CMAKE_COMMAND} "-DROOT=${TREE}" -P "${CHECKER}"
                  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
endmacro()

accepts(model/base/a.h "#include \"model/base/units.h\"\n#include <vector>\n")
accepts(model/stream/a.h "#include \"model/base/units.h\"\n#include \"model/stream/b.h\"\n")
accepts(model/policy/a.cpp "#include \"model/memory/b.h\"\n")
accepts(hw/hbm/a.cpp "#include \"model/memory/b.h\"\n#include \"hw/gpu/sm.h\"\n#include <tlm.h>\n")
accepts(traces/io/a.cpp "#include \"model/stream/b.h\"\n#include <zlib.h>\n")
accepts(exec/cuda/a.cu "#include \"traces/io/b.h\"\n")
accepts(app/a.cpp "#include \"hw/gpu/sm.h\"\n#include \"exec/b.h\"\n#include <systemc.h>\n")
accepts(model/base/a.h "// #include \"hw/gpu/sm.h\"\n#include <simdjson.h>\n")

refuses(model/base/a.h "#pragma once\n\n#include \"model/stream/b.h\" // [; x\n"
        "model/base/a.h:3: model/base may not include \"model/stream/b.h\": only model/base")
refuses(model/stream/a.h "#include \"model/memory/b.h\"\n"
        "model/stream/a.h:1: model/stream may not include \"model/memory/b.h\": only model/base, model/stream")
refuses(model/policy/a.cpp "#include \"hw/gpu/sm.h\"\n"
        "model/policy/a.cpp:1: model may not include \"hw/gpu/sm.h\": only model")
refuses(model/policy/a.cpp "  #  include <tlm_utils/simple_target_socket.h>\n"
        "model/policy/a.cpp:1: model may not include SystemC (<tlm_utils/simple_target_socket.h>): only hw, app may")
refuses(hw/hbm/a.cpp "#include \"traces/io/b.h\"\n#include \"model/base/units.h\"\n#include \"app/b.h\"\n"
        "hw/hbm/a.cpp:1: hw may not include \"traces/io/b.h\": only model, hw"
        "hw/hbm/a.cpp:3: hw may not include \"app/b.h\": only model, hw")
refuses(traces/io/a.h "int x;\n#include <systemc>\n"
        "traces/io/a.h:2: traces may not include SystemC (<systemc>): only hw, app may")
refuses(exec/cuda/a.cu "#include \"hw/gpu/sm.h\"\n"
        "exec/cuda/a.cu:1: exec may not include \"hw/gpu/sm.h\": only model, traces, exec")
refuses(app/a.cpp "#include \"tests/support/b.h\"\n"
        "app/a.cpp:1: app may not include \"tests/support/b.h\": only model, hw, traces, exec, app")
# Neither a relative path nor angle brackets get past the table.
refuses(model/policy/a.cpp "#include \"../../hw/gpu/sm.h\"\n"
        "model/policy/a.cpp:1: model may not include \"hw/gpu/sm.h\": only model")
refuses(traces/io/a.cpp "#include <hw/gpu/sm.h>\n"
        "traces/io/a.cpp:1: traces may not include \"hw/gpu/sm.h\": only model, traces")

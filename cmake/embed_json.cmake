# umf_embed_json(OUT FOLDER folder HEADER h NAMESPACE n TYPE t FUNCTION f): a source file made of
# every JSON file of the folder. Its function gives a span of {name, text}, by name: adding one is
# adding a file. Run as a script (-P), it writes that file.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(umf_embed_json_script ${CMAKE_CURRENT_LIST_FILE})
  function(umf_embed_json out)
    cmake_parse_arguments(ARG "" "FOLDER;HEADER;NAMESPACE;TYPE;FUNCTION" "" ${ARGN})
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER})
    set(written ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cpp)
    file(GLOB files CONFIGURE_DEPENDS ${folder}/*.json)
    add_custom_command(
      OUTPUT ${written}
      COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUT=${written} -DHEADER=${ARG_HEADER}
              -DNAMESPACE=${ARG_NAMESPACE} -DTYPE=${ARG_TYPE} -DFUNCTION=${ARG_FUNCTION}
              -P ${umf_embed_json_script}
      DEPENDS ${umf_embed_json_script} ${files}
      COMMENT "Embedding ${ARG_FUNCTION}"
      VERBATIM)
    set(${out} ${written} PARENT_SCOPE)
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.25)
file(GLOB files "${FOLDER}/*.json")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WLE)
  file(READ "${file}" text)
  string(APPEND entries "    {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE "${OUT}" "#include \"${HEADER}\"

namespace ${NAMESPACE} {

std::span<const ${TYPE}> ${FUNCTION}() {
  static constexpr ${TYPE} all[] = {
${entries}  };
  return all;
}

} // namespace ${NAMESPACE}
")

# Which folder may include which is checked in every build (check_layers.cmake),
# again only when a source file changed.
file(GLOB_RECURSE layered_sources CONFIGURE_DEPENDS
     model/*.h model/*.cpp model/*.cu hw/*.h hw/*.cpp hw/*.cu traces/*.h traces/*.cpp traces/*.cu
     exec/*.h exec/*.cpp exec/*.cu app/*.h app/*.cpp app/*.cu)
set(layers_checker ${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake)
set(layers_stamp ${PROJECT_BINARY_DIR}/layers.stamp)
add_custom_command(
  OUTPUT ${layers_stamp}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${layers_checker}
  COMMAND ${CMAKE_COMMAND} -E touch ${layers_stamp}
  DEPENDS ${layers_checker} ${layered_sources}
  COMMENT "Checking which folder includes which"
  VERBATIM)
add_custom_target(layers ALL DEPENDS ${layers_stamp})

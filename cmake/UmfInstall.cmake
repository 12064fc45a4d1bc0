# cmake --install build/release --prefix DIR
include(GNUInstallDirs)

set(share ${CMAKE_INSTALL_DATADIR}/umfsim)
if(TARGET umfsim)
  install(TARGETS umfsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios/ DESTINATION ${share}/scenarios)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/traces/samples/ DESTINATION ${share}/samples)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/umfsim)

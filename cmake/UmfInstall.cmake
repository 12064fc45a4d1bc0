# cmake --install build/release --prefix DIR
include(GNUInstallDirs)

set(share ${CMAKE_INSTALL_DATADIR}/umfsim)
if(TARGET umfsim)
  install(TARGETS umfsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set(generated ${PROJECT_BINARY_DIR}/app/generated)
  install(FILES ${generated}/umfsim.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME umfsim)
  install(FILES ${generated}/_umfsim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${generated}/umfsim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios/ DESTINATION ${share}/scenarios)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/traces/samples/ DESTINATION ${share}/samples)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/umfsim)

# What `cmake --install` puts in place: the library, its headers, and what find_package and pkg-config read.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/flashwave)

install(TARGETS flashwave EXPORT flashwave)
install(DIRECTORY include/flashwave TYPE INCLUDE)
install(EXPORT flashwave NAMESPACE flashwave:: FILE flashwaveTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/flashwaveConfig.cmake.in flashwaveConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(flashwaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/flashwaveConfig.cmake ${PROJECT_BINARY_DIR}/flashwaveConfigVersion.cmake
  DESTINATION ${package_dir})

# pkg-config has no notion of a library that is static only: then the C++ runtime and threads are public needs.
if(NOT BUILD_SHARED_LIBS)
  set(pc_static_libs "-lstdc++ -lm -pthread")
endif()
file(RELATIVE_PATH pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/flashwave.pc.in flashwave.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/flashwave.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# `cmake --install`: the library and its components, with headers and a package for
# find_package(Blockspan); the apps add themselves. Kokkos and Kokkos Kernels install themselves along when they were built here.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(blockspan_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Blockspan)

install(TARGETS blockspan EXPORT BlockspanTargets)
get_property(blockspan_components GLOBAL PROPERTY BLOCKSPAN_COMPONENTS)
foreach(component IN LISTS blockspan_components)
  install(TARGETS blockspan_${component} EXPORT BlockspanTargets)
endforeach()
if(TARGET blockspan_mumps)  # of component direct
  install(TARGETS blockspan_mumps EXPORT BlockspanTargets)
endif()
foreach(folder ${PROJECT_SOURCE_DIR}/src/blockspan ${PROJECT_BINARY_DIR}/generated/blockspan)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} OPTIONAL
    FILES_MATCHING PATTERN "*.hpp" PATTERN link.cpp PATTERN mumps EXCLUDE)
endforeach()
install(EXPORT BlockspanTargets NAMESPACE Blockspan:: DESTINATION ${blockspan_package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/BlockspanConfig.cmake.in
  ${PROJECT_BINARY_DIR}/BlockspanConfig.cmake INSTALL_DESTINATION ${blockspan_package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/BlockspanConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/BlockspanConfig.cmake
  ${PROJECT_BINARY_DIR}/BlockspanConfigVersion.cmake DESTINATION ${blockspan_package_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Tiny packages that look like Kokkos and Kokkos Kernels to find_package and add_subdirectory.

# fake_installed(PREFIX PACKAGE TARGET VERSION [DEVICES] [OPTIONS])
function(fake_installed prefix package target version)
  set(folder ${prefix}/lib/cmake/${package})
  file(WRITE ${folder}/${package}Config.cmake
    "add_library(Kokkos::${target} INTERFACE IMPORTED)
set_target_properties(Kokkos::${target} PROPERTIES INTERFACE_FAKE_ORIGIN \"installed ${version}\")
")
  set(devices ${ARGV4})
  set(options ${ARGV5})
  file(WRITE ${folder}/KokkosConfigCommon.cmake
    "set(Kokkos_DEVICES ${devices})\nset(Kokkos_OPTIONS ${options})\nset(Kokkos_ARCH )\n")
  file(WRITE ${folder}/${package}ConfigVersion.cmake
    "set(PACKAGE_VERSION \"${version}\")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
")
endfunction()

# Like Kokkos Kernels 4.4.0: the version file states none, the header does.
function(fake_installed_kernels_by_header prefix major minor)
  fake_installed(${prefix} KokkosKernels kokkoskernels "..")
  file(WRITE ${prefix}/include/KokkosKernels_config.h
    "#define KOKKOSKERNELS_VERSION ${major}0${minor}00
#define KOKKOSKERNELS_VERSION_MAJOR ${major}
#define KOKKOSKERNELS_VERSION_MINOR ${minor}
#define KOKKOSKERNELS_VERSION_PATCH 0
")
endfunction()

# fake_source(FOLDER TARGET ORIGIN [QUIET])
function(fake_source folder target origin)
  set(chatter "message(AUTHOR_WARNING \"chatter\")
message(DEPRECATION \"chatter\")
message(STATUS \"chatter\")
")
  if(ARGV3 STREQUAL "QUIET")
    set(chatter)
  endif()
  file(WRITE ${folder}/CMakeLists.txt
    "cmake_minimum_required(VERSION 3.16)
project(Fake_${target} LANGUAGES NONE)
set(Kokkos_VERSION_MAJOR 4)
set(Kokkos_VERSION_MINOR 7)
set(Kokkos_VERSION_PATCH 0)
add_library(${target} INTERFACE)
add_library(Kokkos::${target} ALIAS ${target})
set_target_properties(${target} PROPERTIES INTERFACE_FAKE_ORIGIN \"${origin}\")
${chatter}")
endfunction()

# The two calls that CUDA 13 changed.
function(fake_old_cuda_calls folder)
  file(WRITE ${folder}/core/src/Cuda/Kokkos_Cuda_Instance.hpp
    "return cudaGraphAddDependencies(graph, from, to, numDependencies);
return cudaMemPrefetchAsync(devPtr, count, dstDevice, m_stream);
")
endfunction()

# pack(ARCHIVE ROOT): the folder ROOT as a .tar.gz; sets ARCHIVE's SHA-256 in `hash`.
function(pack archive root hash)
  cmake_path(GET root PARENT_PATH parent)
  cmake_path(GET root FILENAME name)
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${archive} ${name} WORKING_DIRECTORY ${parent}
    COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${archive} sum)
  set(${hash} ${sum} PARENT_SCOPE)
endfunction()

# A source package like pygenten's, and a pip that hands it out. Sets fake_pip and fake_hash.
function(fake_index folder)
  set(root ${folder}/pygenten-0.1.5)
  fake_source(${root}/tpls/kokkos kokkos index)
  fake_old_cuda_calls(${root}/tpls/kokkos)
  fake_source(${root}/tpls/kokkos-kernels kokkoskernels index)
  file(WRITE ${root}/src/unwanted.txt "not unpacked")
  file(MAKE_DIRECTORY ${folder}/archive)
  pack(${folder}/archive/pygenten-0.1.5.tar.gz ${root} hash)
  file(WRITE ${folder}/pip "#!/bin/sh
while [ \"$1\" != --dest ]; do shift; done
cp ${folder}/archive/pygenten-0.1.5.tar.gz \"$2\"
echo run >>${folder}/pip-runs
")
  file(CHMOD ${folder}/pip PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(fake_pip ${folder}/pip PARENT_SCOPE)
  set(fake_hash ${hash} PARENT_SCOPE)
endfunction()

# Release archives. Sets fake_release to the arguments that name them by file:// URLs.
function(fake_release folder)
  fake_source(${folder}/kokkos-9.9 kokkos release)
  fake_source(${folder}/kokkos-kernels-9.9 kokkoskernels release)
  pack(${folder}/kokkos-9.9.tar.gz ${folder}/kokkos-9.9 kokkos_hash)
  pack(${folder}/kokkos-kernels-9.9.tar.gz ${folder}/kokkos-kernels-9.9 kernels_hash)
  set(fake_release
    -DBlockspan_KOKKOS_URL=file://${folder}/kokkos-9.9.tar.gz
    -DBlockspan_KOKKOS_SHA256=${kokkos_hash}
    -DBlockspan_KOKKOSKERNELS_URL=file://${folder}/kokkos-kernels-9.9.tar.gz
    -DBlockspan_KOKKOSKERNELS_SHA256=${kernels_hash}
    PARENT_SCOPE)
endfunction()

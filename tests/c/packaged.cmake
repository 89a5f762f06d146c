# Makes the .deb files, unpacks them into an empty folder, and compiles and runs SOURCE with what is there.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${CPACK} --config ${BUILD}/CPackConfig.cmake -G DEB -B ${WORK}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB packages ${WORK}/*.deb)
if(NOT packages MATCHES "libblockspan-c-dev_")
  message(FATAL_ERROR "no package among: ${packages}")
endif()
foreach(package IN LISTS packages)
  execute_process(COMMAND ${DPKG} -x ${package} ${WORK}/installed COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE pc ${WORK}/installed/*/blockspan.pc)
cmake_path(GET pc PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})
execute_process(COMMAND ${PKG_CONFIG} --define-prefix --cflags --libs blockspan
  OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${FLAGS} ${flags}")
execute_process(COMMAND ${CC} -std=c99 ${SOURCE} -o ${WORK}/program ${flags} -lm
  COMMAND_ERROR_IS_FATAL ANY)
cmake_path(GET folder PARENT_PATH libraries)
set(ENV{LD_LIBRARY_PATH} ${libraries})
execute_process(COMMAND ${WORK}/program COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ldd ${WORK}/program OUTPUT_VARIABLE loaded COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${loaded}" "${BUILD}/src" place)
if(NOT place EQUAL -1)
  message(FATAL_ERROR "the packaged library needs the build folder: ${loaded}")
endif()

# The programs, where they were built too, with what goes with them.
if(packages MATCHES "/blockspan_")
  execute_process(COMMAND ${WORK}/installed/usr/bin/blockspan-eig laplace5:8x8 --pairs 2 --quiet
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(file man/man1/blockspan-eig.1 bash-completion/completions/blockspan-eig)
    if(NOT EXISTS ${WORK}/installed/usr/share/${file})
      message(FATAL_ERROR "no ${file} in ${packages}")
    endif()
  endforeach()
endif()

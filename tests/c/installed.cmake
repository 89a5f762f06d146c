# Installs component c into an empty folder, compiles SOURCE by what its .pc says, and runs it.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component c --prefix ${WORK}/installed
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
set(ENV{PKG_CONFIG_PATH} ${WORK}/installed/${LIBDIR}/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs blockspan
  OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${FLAGS} ${flags}")
execute_process(COMMAND ${CC} -std=c99 ${SOURCE} -o ${WORK}/program ${flags} -lm
  COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} ${WORK}/installed/${LIBDIR})
execute_process(COMMAND ${WORK}/program COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ldd ${WORK}/program OUTPUT_VARIABLE loaded COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${loaded}" "${BUILD}/src" place)
if(NOT place EQUAL -1)
  message(FATAL_ERROR "the installed library needs the build folder: ${loaded}")
endif()

# LAPACK and zlib for the Python package where the system has none, installed beside the module: from
# the wheels scipy-openblas32, whose functions have the prefix scipy_, and cmeel-zlib, that pip
# installs for the build.
if(NOT Blockspan_ENABLE_PYTHON)
  return()
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)

# Runs a line of Python; `result` is what it prints, or "".
function(blockspan_ask_python line result)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "${line}"
    OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

find_package(LAPACK QUIET)
if(NOT LAPACK_FOUND)
  blockspan_ask_python("import scipy_openblas32 as o; print(o.get_lib_dir())" folder)
  if(folder)
    set(LAPACK_FOUND TRUE)
    set(blockspan_lapack_of_wheel ${folder}/libscipy_openblas.so)
    list(APPEND blockspan_libraries_of_wheels ${blockspan_lapack_of_wheel})
    add_library(LAPACK::LAPACK SHARED IMPORTED)
    set_target_properties(LAPACK::LAPACK PROPERTIES IMPORTED_LOCATION ${blockspan_lapack_of_wheel})
    message(STATUS "Blockspan: LAPACK: ${blockspan_lapack_of_wheel}")
  endif()
endif()
find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  blockspan_ask_python("from importlib.metadata import distribution as d
print(d('cmeel-zlib').locate_file('cmeel.prefix'))" folder)
  if(EXISTS ${folder}/lib64/libz.so.1)  # its libz.a is not position-independent
    set(ZLIB_FOUND TRUE)
    list(APPEND blockspan_libraries_of_wheels ${folder}/lib64/libz.so.1)
    add_library(ZLIB::ZLIB SHARED IMPORTED)
    set_target_properties(ZLIB::ZLIB PROPERTIES
      IMPORTED_LOCATION ${folder}/lib64/libz.so.1
      INTERFACE_INCLUDE_DIRECTORIES ${folder}/include)
    message(STATUS "Blockspan: zlib: ${folder}")
  endif()
endif()

# The one list of what the library is compiled for, and with it its tests and apps. Each combination
# is its own translation unit, so that builds parallelise; other combinations compile from the
# headers. Shorter lists build faster; the apps need double, and what else they
# offer (complex matrices, --precision mixed) follows these lists.
set(Blockspan_SCALARS "float;double;complex_float;complex_double"
  CACHE STRING "Scalars the library is instantiated for")

set(Blockspan_STORAGE_SCALARS "" CACHE STRING
  "16-bit storage types of products and sddmm, summed in float (half;bfloat16)")

set(Blockspan_BACKENDS "" CACHE STRING
  "Backends of Kokkos the library is instantiated for (CUDA;OPENMP;SERIAL;...); empty: the default \
execution space and the default one of hosts")

# The backends of Kokkos' defaults: of devices and of hosts the first that is there.
set(blockspan_backends)
foreach(kind IN ITEMS "CUDA;HIP;SYCL" "OPENMP;THREADS;SERIAL")
  foreach(backend IN LISTS kind)
    if(Kokkos_ENABLE_${backend})
      list(APPEND blockspan_backends ${backend})
      break()
    endif()
  endforeach()
endforeach()
list(GET blockspan_backends -1 blockspan_default_host)
foreach(backend IN LISTS Blockspan_BACKENDS)
  if(NOT Kokkos_ENABLE_${backend})
    message(FATAL_ERROR "Blockspan: Blockspan_BACKENDS names ${backend}, which this Kokkos has not "
      "(-DKokkos_ENABLE_${backend}=ON)")
  endif()
endforeach()
if(Blockspan_BACKENDS)
  set(blockspan_backends ${Blockspan_BACKENDS})
endif()

set(blockspan_type_SERIAL "Kokkos::Serial")
set(blockspan_type_OPENMP "Kokkos::OpenMP")
set(blockspan_type_THREADS "Kokkos::Threads")
set(blockspan_type_CUDA "Kokkos::Cuda")
set(blockspan_type_HIP "Kokkos::HIP")
set(blockspan_type_SYCL "Kokkos::SYCL")
set(blockspan_type_float "float")
set(blockspan_type_double "double")
set(blockspan_type_complex_float "Kokkos::complex<float>")
set(blockspan_type_complex_double "Kokkos::complex<double>")
set(blockspan_type_half "blockspan::half")
set(blockspan_type_bfloat16 "blockspan::bfloat16")

set(Blockspan_FOREIGN_OPTIONS "" CACHE STRING
  "More compiler options for what is nearly all Kokkos Kernels' templates, -O0 say")
mark_as_advanced(Blockspan_FOREIGN_OPTIONS)

# blockspan_type_list(RESULT NAME ...): the C++ types of the named backends or scalars,
# separated by commas.
function(blockspan_type_list result)
  set(types)
  foreach(name IN LISTS ARGN)
    list(APPEND types "${blockspan_type_${name}}")
  endforeach()
  list(JOIN types ", " types)
  set(${result} "${types}" PARENT_SCOPE)
endfunction()

# blockspan_instantiate(FILE [TARGET NAME] [ROUND_EACH] [FUSE_EACH] [FOREIGN] [SINGLES_TOGETHER]
#   [STORAGE_SCALARS] [BACKENDS NAME ...] [SCALARS NAME ...]):
# configures FILE (.cpp.in, with @BACKEND@ and @SCALAR@) once for every backend and scalar, and adds
# the results to TARGET, by default blockspan.
# ROUND_EACH: hosts round every product before it is added. Whether the compiler fuses the two may
# depend on how a loop was vectorised, and so on the width of a block.
# FUSE_EACH: hosts never round one. For processors where chains of fused operations are slow, GCC rounds
# in some loops and not in others, by the height of a tile, and so by where the rows of a rank end.
# FOREIGN: nearly all of it is another library's templates, which preset debug need not sanitize (a
# third of the time), and which need no optimisation where their answers are tested and not their
# speed (Blockspan_FOREIGN_OPTIONS).
# SINGLES_TOGETHER: float and complex float are one translation unit. FILE has no names for its types
# then, since it follows itself in that unit.
# STORAGE_SCALARS: for the 16-bit storage types instead of the scalars.
# BACKENDS, SCALARS: of them only those.
function(blockspan_instantiate file)
  cmake_parse_arguments(PARSE_ARGV 1 arg
    "ROUND_EACH;FUSE_EACH;FOREIGN;SINGLES_TOGETHER;STORAGE_SCALARS" "TARGET" "BACKENDS;SCALARS")
  if(NOT arg_TARGET)
    set(arg_TARGET blockspan)
  endif()
  set(list Blockspan_SCALARS)
  if(arg_STORAGE_SCALARS)
    set(list Blockspan_STORAGE_SCALARS)
  endif()
  cmake_path(GET file STEM name)
  cmake_path(ABSOLUTE_PATH file)
  file(READ ${file} template)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  foreach(backend IN LISTS blockspan_backends)
    if(arg_BACKENDS AND NOT backend IN_LIST arg_BACKENDS)
      continue()
    endif()
    set(units)
    foreach(scalar IN LISTS ${list})
      if(arg_SCALARS AND NOT scalar IN_LIST arg_SCALARS)
        continue()
      endif()
      set(unit ${scalar})
      if(arg_SINGLES_TOGETHER AND scalar MATCHES "float")
        set(unit single)
      endif()
      if(NOT unit IN_LIST units)
        list(APPEND units ${unit})
        set(text_${unit})
      endif()
      set(BACKEND ${blockspan_type_${backend}})
      set(SCALAR ${blockspan_type_${scalar}})
      string(CONFIGURE "${template}" text @ONLY)
      string(CONFIGURE "${text}" text @ONLY)  # what lists of offsets say of the scalar
      string(APPEND text_${unit} "${text}")
    endforeach()
    foreach(unit IN LISTS units)
      string(TOLOWER "${name}_${backend}_${unit}" stem)
      set(output ${CMAKE_CURRENT_BINARY_DIR}/${stem}.cpp)
      file(CONFIGURE OUTPUT ${output} CONTENT "${text_${unit}}" @ONLY)
      target_sources(${arg_TARGET} PRIVATE ${output})
      if(arg_ROUND_EACH AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
        set_source_files_properties(${output} TARGET_DIRECTORY ${arg_TARGET}
          PROPERTIES COMPILE_OPTIONS "-ffp-contract=off")
      endif()
      if(arg_FUSE_EACH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set_source_files_properties(${output} TARGET_DIRECTORY ${arg_TARGET}
          PROPERTIES COMPILE_OPTIONS "--param=avoid-fma-max-bits=0")
      endif()
      if(arg_FOREIGN)
        set(options ${Blockspan_FOREIGN_OPTIONS})
        if(CMAKE_CXX_FLAGS_DEBUG MATCHES "-fsanitize=")
          list(APPEND options "$<$<CONFIG:Debug>:-fno-sanitize=all>")
        endif()
        set_source_files_properties(${output} TARGET_DIRECTORY ${arg_TARGET}
          PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
      endif()
    endforeach()
  endforeach()
endfunction()

# The upstream release of Kokkos and Kokkos Kernels. A host that cannot be reached is no error, the
# next step is tried; an archive with another hash than the pinned one is.
set(blockspan_release 4.7.00)
set(Blockspan_KOKKOS_URL
  "https://github.com/kokkos/kokkos/releases/download/${blockspan_release}/kokkos-${blockspan_release}.tar.gz"
  CACHE STRING "Archive of the sources of Kokkos")
set(Blockspan_KOKKOS_SHA256 126b774a24dde8c1085c4aede7564c0b7492d6a07d85380f2b387a712cea1ff5
  CACHE STRING "SHA-256 of Blockspan_KOKKOS_URL")
set(Blockspan_KOKKOSKERNELS_URL
  "https://github.com/kokkos/kokkos-kernels/releases/download/${blockspan_release}/kokkos-kernels-${blockspan_release}.tar.gz"
  CACHE STRING "Archive of the sources of Kokkos Kernels")
set(Blockspan_KOKKOSKERNELS_SHA256 5c7c8c8f91817ab22dbc50ea72f02292bbd6c5b412d6f1588b27574600c478ef
  CACHE STRING "SHA-256 of Blockspan_KOKKOSKERNELS_URL")
set(Blockspan_PROBE_SECONDS 15 CACHE STRING "How long to wait for the host of a release to answer")
mark_as_advanced(Blockspan_KOKKOS_URL Blockspan_KOKKOS_SHA256 Blockspan_KOKKOSKERNELS_URL
  Blockspan_KOKKOSKERNELS_SHA256 Blockspan_PROBE_SECONDS)

# Sets `why` to "" when the first byte of `url` arrives in time.
function(blockspan_probe url why)
  file(DOWNLOAD ${url} TIMEOUT ${Blockspan_PROBE_SECONDS} RANGE_START 0 RANGE_END 0 STATUS status)
  list(POP_FRONT status code)
  string(REPLACE "\"" "" text "${status}")
  if(code EQUAL 0)
    set(text "")
  endif()
  set(${why} "${text}" PARENT_SCOPE)
endfunction()

# Brings `url` into the download folder, unless it is there. Sets `file`, or `why` it did not come.
function(blockspan_download url sha256 file why)
  cmake_path(GET url FILENAME name)
  set(target ${Blockspan_DOWNLOAD_DIR}/${name})
  set(${file} ${target} PARENT_SCOPE)
  set(${why} "" PARENT_SCOPE)
  if(EXISTS ${target})
    file(SHA256 ${target} actual)
    if(actual STREQUAL sha256)
      return()
    endif()
  endif()
  blockspan_probe(${url} reason)
  if(NOT reason)
    file(DOWNLOAD ${url} ${target}.part INACTIVITY_TIMEOUT ${Blockspan_PROBE_SECONDS} STATUS status)
    list(POP_FRONT status code)
    if(NOT code EQUAL 0)
      set(reason "${status}")
    endif()
  endif()
  if(reason)
    set(${why} "${url}: ${reason}" PARENT_SCOPE)
    return()
  endif()
  file(SHA256 ${target}.part actual)
  if(NOT actual STREQUAL sha256)
    file(REMOVE ${target}.part)
    message(FATAL_ERROR "Blockspan: ${url} has the wrong hash: SHA-256 ${actual}, expected ${sha256}.")
  endif()
  file(RENAME ${target}.part ${target})
endfunction()

# Unpacks the parts of `archive` that match the patterns given last; `folder`, a path inside it
# (a regular expression for its top folder is allowed), becomes `target`.
function(blockspan_unpack archive folder target)
  set(scratch ${target}.unpacking)
  file(REMOVE_RECURSE ${scratch} ${target})
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${scratch} PATTERNS ${ARGN})
  file(GLOB top ${scratch}/${folder})
  file(RENAME ${top} ${target})
  file(REMOVE_RECURSE ${scratch})
endfunction()

# Sets `origin` to words for where the sources came from, or to "".
function(blockspan_fetch_kokkos_release kokkos_source kernels_source origin)
  set(${origin} "" PARENT_SCOPE)
  if(FETCHCONTENT_FULLY_DISCONNECTED)
    blockspan_kokkos_step("upstream release not tried: FETCHCONTENT_FULLY_DISCONNECTED")
    return()
  endif()
  blockspan_download(${Blockspan_KOKKOS_URL} ${Blockspan_KOKKOS_SHA256} kokkos why)
  if(NOT why)
    blockspan_download(${Blockspan_KOKKOSKERNELS_URL} ${Blockspan_KOKKOSKERNELS_SHA256} kernels why)
  endif()
  if(why)
    blockspan_kokkos_step("upstream release not reached: ${why}")
    return()
  endif()
  blockspan_unpack(${kokkos} * ${kokkos_source} *)
  blockspan_unpack(${kernels} * ${kernels_source} *)
  set(${origin} "the release ${Blockspan_KOKKOS_URL}" PARENT_SCOPE)
endfunction()

# Libraries that come from the system. All missing ones are named at once.
set(blockspan_missing_packages)

# blockspan_require_package(NAME DEBIAN_PACKAGE ...): find_package, remembering what is missing. A
# macro, so that the imported targets' variables reach the caller.
macro(blockspan_require_package name)
  if(NOT ${name}_FOUND)
    find_package(${name} QUIET)
  endif()
  if(NOT ${name}_FOUND)
    string(JOIN " " blockspan_debian_packages ${ARGN})
    list(APPEND blockspan_missing_packages "${name} (Debian: ${blockspan_debian_packages})")
  endif()
endmacro()

macro(blockspan_report_missing_packages)
  if(blockspan_missing_packages)
    list(JOIN blockspan_missing_packages ", " blockspan_missing_text)
    message(FATAL_ERROR "Blockspan: not found: ${blockspan_missing_text}. "
      "Install them, or name their prefixes in CMAKE_PREFIX_PATH.")
  endif()
endmacro()

# Warnings for Blockspan's own files; dependencies come in as system includes and stay silent.
function(blockspan_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  if(Blockspan_ENABLE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

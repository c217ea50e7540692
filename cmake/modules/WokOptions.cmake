# Compiler and linker flags that hold for every target of Wok.
include_guard()

find_program(WOK_MOLD mold)
if(WOK_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=mold)
endif()
find_program(WOK_CCACHE ccache)
if(WOK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${WOK_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WOK_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-comment
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-dangling-reference>)
if(WOK_ENABLE_WERROR)
  add_compile_options(-Werror)
endif()
if(WOK_ENABLE_ASSERTIONS)
  string(REGEX REPLACE "[-/]D *NDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REGEX REPLACE "[-/]D *NDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  add_compile_options(-UNDEBUG)
endif()
if(WOK_SANITIZER)
  add_compile_options(-fsanitize=${WOK_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WOK_SANITIZER})
  if(WOK_SANITIZER MATCHES "undefined")
    # LLVM has no type information that `vptr` could read, and generated code no signature in front
    # of its functions.
    add_compile_options(-fno-sanitize-recover=all -fno-sanitize=vptr,function)
  endif()
endif()

# add_wok_library, add_wok_layers, add_wok_tool and add_wok_unittest.
include_guard()

# The rows of the layer table in docs/Architecture.md, left to right.
set(WOK_LAYER_ORDER
  Support Runtime
  IR
  Analysis Transforms Conversion Import
  Pipelines JIT
  Compiler Host
  Capture Python CAPI)
# Headers that a library must do without, by their first folder.
set(WOK_FORBIDDEN_Support "llvm|mlir")
set(WOK_FORBIDDEN_Runtime "llvm|mlir")
set(WOK_FORBIDDEN_JIT "mlir")

# add_wok_library(WokTransforms LAYER 2
#   Foo.cpp ...
#   [DEPENDS WokTransformsIncGen]
#   [LINK_LIBS PUBLIC WokIR MLIRPass ...])
#
# A Wok library may link libraries of a lower layer, or of its own layer if they stand before it
# in WOK_LAYER_ORDER; it may include wok/X/... only if it links WokX, and nothing that is forbidden
# to it above. Anything else fails here.
function(add_wok_library name)
  cmake_parse_arguments(ARG "" "LAYER" "DEPENDS;LINK_LIBS" ${ARGN})
  string(REGEX REPLACE "^Wok" "" module ${name})
  wok_check_layers(${name} ${module} "${ARG_LAYER}" "${ARG_LINK_LIBS}")
  wok_check_sources(${name} "${ARG_UNPARSED_ARGUMENTS}")

  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} ${ARG_LINK_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(ARG_LINK_LIBS MATCHES "MLIR")
    wok_precompile_mlir(${name})
  endif()
endfunction()

# Every source file of the folder belongs to its library.
function(wok_check_sources name sources)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
    ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(file IN LISTS files)
    if(NOT file IN_LIST sources)
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/${file} is not listed in ${name}")
    endif()
  endforeach()
endfunction()

function(wok_check_layers name module layer libs)
  list(FIND WOK_LAYER_ORDER ${module} rank)
  if(rank LESS 0)
    message(FATAL_ERROR "${name}: '${module}' is not in WOK_LAYER_ORDER")
  endif()
  foreach(lib IN LISTS libs)
    if(lib MATCHES "^Wok")
      get_property(other GLOBAL PROPERTY WOK_LAYER_${lib})
      string(REGEX REPLACE "^Wok" "" other_module ${lib})
      list(FIND WOK_LAYER_ORDER ${other_module} other_rank)
      if("${other}" STREQUAL "" OR other GREATER layer OR NOT other_rank LESS rank)
        message(FATAL_ERROR "${name} may not link ${lib}, which does not come before it in "
          "WOK_LAYER_ORDER (docs/Architecture.md, Layers)")
      endif()
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY WOK_LAYER_${name} ${layer})

  file(GLOB_RECURSE files CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*.h
    ${PROJECT_SOURCE_DIR}/include/wok/${module}/*.h)
  foreach(file IN LISTS files)
    file(STRINGS ${file} includes REGEX "^#include \"wok/[A-Za-z]+/")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"wok/([A-Za-z]+)/.*" "\\1" used "${line}")
      if(NOT used STREQUAL module AND NOT "Wok${used}" IN_LIST libs)
        message(FATAL_ERROR "${file}: includes wok/${used} but ${name} does not link Wok${used}")
      endif()
    endforeach()
    if(DEFINED WOK_FORBIDDEN_${module})
      file(STRINGS ${file} includes REGEX "^#include [<\"](${WOK_FORBIDDEN_${module}})/")
      if(includes)
        message(FATAL_ERROR "${file}: ${name} must do without ${includes}")
      endif()
    endif()
  endforeach()
endfunction()

# Adds the folders of libraries, in layer order; a folder counts once it has a CMakeLists.txt.
macro(add_wok_layers)
  foreach(module IN LISTS WOK_LAYER_ORDER)
    if(module MATCHES "^(Capture|Python)$" AND NOT WOK_ENABLE_PYTHON)
      continue()
    endif()
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${module}/CMakeLists.txt)
      add_subdirectory(${module})
    endif()
  endforeach()
endmacro()

# MLIR's headers are most of the time it takes to compile a file that includes them. With ccache the
# objects themselves are kept, across checkouts too; a precompiled header holds paths and would
# defeat that.
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
function(wok_precompile_mlir name)
  if(WOK_CCACHE)
    return()
  endif()
  target_precompile_headers(${name} PRIVATE
    <mlir/IR/Builders.h> <mlir/IR/BuiltinAttributes.h> <mlir/IR/BuiltinTypes.h>
    <mlir/IR/Matchers.h> <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>)
endfunction()

# LLVM's archives are not built with a sanitizer: what follows from that is said in the executable.
function(wok_sanitize name)
  if(WOK_SANITIZER MATCHES "address")
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/sanitizers/AddressOptions.cpp)
  endif()
endfunction()

# An executable of tools/. MLIR comes from its archives, LLVM from libLLVM: never both ways.
function(add_wok_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} LLVM)
  wok_sanitize(${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# A GoogleTest executable; every test in it becomes a test of ctest.
function(add_wok_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest GTest::gtest_main LLVM)
  wok_sanitize(${name})
  add_dependencies(wok-unittests ${name})
  add_test(NAME unit/${name} COMMAND ${name})
endfunction()

# Finds MLIR, LLVM, CPython and GoogleTest, and includes their CMake modules.
include_guard()

# MLIR's exported targets name zstd::libzstd_shared without finding it.
if(NOT TARGET zstd::libzstd_shared)
  find_library(WOK_ZSTD_LIBRARY zstd REQUIRED)
  add_library(zstd::libzstd_shared SHARED IMPORTED)
  set_target_properties(zstd::libzstd_shared PROPERTIES
    IMPORTED_LOCATION ${WOK_ZSTD_LIBRARY})
endif()

# `find_package(MLIR 22)` is refused by MLIR's version file: it wants the minor version too.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "MLIR ${MLIR_PACKAGE_VERSION}: ${MLIR_DIR}")

set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(WOK_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${WOK_LLVM_DEFINITIONS})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
# libLLVM is not in the loader's default path.
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR})
set(CMAKE_INSTALL_RPATH ${LLVM_LIBRARY_DIR})

if(WOK_ENABLE_PYTHON)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
  if(NOT Python3_VERSION VERSION_GREATER_EQUAL 3.11 OR NOT Python3_VERSION VERSION_LESS 3.12)
    message(FATAL_ERROR "Wok's CPython host needs CPython 3.11, found ${Python3_VERSION}; "
      "set Python3_EXECUTABLE or -DWOK_ENABLE_PYTHON=OFF")
  endif()
else()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

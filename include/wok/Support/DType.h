//===- DType.h - Element types of tensors -----------------------*- C++ -*-===//

#ifndef WOK_SUPPORT_DTYPE_H
#define WOK_SUPPORT_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wok {

/// The element types Wok computes with. One table: name in reports, bytes in
/// memory.
#define WOK_DTYPES(X)                                                          \
  X(I1, "i1", 1)                                                               \
  X(I8, "i8", 1)                                                               \
  X(U8, "ui8", 1)                                                              \
  X(I16, "i16", 2)                                                             \
  X(I32, "i32", 4)                                                             \
  X(I64, "i64", 8)                                                             \
  X(F16, "f16", 2)                                                             \
  X(BF16, "bf16", 2)                                                           \
  X(F32, "f32", 4)                                                             \
  X(F64, "f64", 8)

enum class DType : uint8_t {
#define X(name, text, bytes) name,
  WOK_DTYPES(X)
#undef X
};

/// Bytes of one element in memory (`i1` takes a byte).
constexpr size_t byteWidth(DType dtype) {
  constexpr uint8_t widths[] = {
#define X(name, text, bytes) bytes,
      WOK_DTYPES(X)
#undef X
  };
  return widths[static_cast<uint8_t>(dtype)];
}

/// The MLIR spelling of the element type.
constexpr std::string_view toString(DType dtype) {
  constexpr std::string_view names[] = {
#define X(name, text, bytes) text,
      WOK_DTYPES(X)
#undef X
  };
  return names[static_cast<uint8_t>(dtype)];
}

constexpr bool isFloat(DType dtype) { return dtype >= DType::F16; }
constexpr bool isInteger(DType dtype) {
  return dtype > DType::I1 && dtype < DType::F16;
}

} // namespace wok

#endif // WOK_SUPPORT_DTYPE_H

//===- TensorValue.h - Tensors of the IR host -------------------*- C++ -*-===//

#ifndef WOK_HOST_TENSORVALUE_H
#define WOK_HOST_TENSORVALUE_H

#include "wok/Support/DType.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wok::host {

/// A dense row-major tensor. Copies share the elements, which nobody changes
/// once the tensor is in a frame.
class TensorValue {
public:
  TensorValue() = default;
  /// Not initialised; and not set, if there is no such memory.
  TensorValue(DType dtype, std::vector<int64_t> extents);

  bool isSet() const { return memory != nullptr; }
  DType dtype() const { return elementType; }
  const std::vector<int64_t> &extents() const { return shape; }
  int64_t count() const;
  int64_t bytes() const { return count() * byteWidth(elementType); }
  std::byte *data() const { return memory.get(); }

  /// The bits of the only element.
  uint64_t scalarBits() const;

private:
  DType elementType = DType::F32;
  std::vector<int64_t> shape;
  std::shared_ptr<std::byte> memory;
};

/// As text: numbers in nested brackets, "true" and "false" for i1. Floats have
/// as many digits as they need to be read back.
std::string toString(const TensorValue &value);

/// Reads what `toString` writes. `extents` may hold `dynamicExtent`, which the
/// brackets then decide; one number alone fills a tensor whose extents are
/// known. "random" and "random:SEED" fill it with numbers in [-1, 1), or small
/// integers.
llvm::Expected<TensorValue> parseTensor(llvm::StringRef text, DType dtype,
                                        llvm::ArrayRef<int64_t> extents);

} // namespace wok::host

#endif // WOK_HOST_TENSORVALUE_H

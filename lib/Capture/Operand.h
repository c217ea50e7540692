//===- Operand.h - Operands of tensor operations ----------------*- C++ -*-===//
//
// What an operation on tensors needs to know of its operands: their values in
// the graph, how promotion sees them, and how they lie in memory; and the
// tensors that operations return.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CAPTURE_OPERAND_H
#define WOK_LIB_CAPTURE_OPERAND_H

#include "Call.h"

#include <optional>
#include <span>
#include <vector>

namespace wok::capture {

/// Whether `value` is a tensor, an array or a NumPy scalar.
bool isTensorLike(const Capture &capture, Value value);
/// It as a Tensor; a NumPy scalar becomes a constant under a guard of its
/// identity.
std::optional<Value> asTensorLike(Capture &capture, Value value);

/// False, with a break, if a mode is active that changes what torch functions
/// do.
bool torchIsPlain(Capture &capture);

/// A tensor (`asTensor` was called) or a Python number.
struct Operand {
  Value value;
  bool isTensor = false;
  NumberType number = NumberType::Int; ///< If it is no tensor.
  DType dtype = DType::F32;            ///< If it is a tensor.
  size_t rank = 0;
  bool wrapped = false; ///< A tensor that promotes as a number (PyTorch).
};

/// Describes a bound argument of type T, S or N.
Operand operandOf(Capture &capture, Value value);
/// The tensors among operands.
std::vector<Value> tensorsOf(std::span<const Operand> operands);

/// The operand as a value of `dtype`.
Emitter::V emit(Emitter &emitter, const Operand &operand, DType dtype);
/// A tensor's current value.
inline Emitter::V emit(Emitter &emitter, Value tensor) {
  return emitter.capture.read(tensor);
}

//===--- Nested lists -----------------------------------------------------===//

/// A number, or numbers in nested lists or tuples of one shape, row-major.
struct NestedNumbers {
  std::vector<int64_t> shape;
  std::vector<Value> numbers;
  NumberType type = NumberType::Bool; ///< The highest of all.
};

/// Nullopt if `data` is ragged, empty, long, or holds anything else.
std::optional<NestedNumbers> nestedNumbers(Capture &capture, Value data);
/// As one tensor. `Emitter::bad`, perhaps with a break, if `dtype` does not
/// hold them.
Emitter::V emitNested(Emitter &emitter, const NestedNumbers &nested,
                      DType dtype);

//===--- Promotion --------------------------------------------------------===//

/// torch.promote_types.
DType torchPromoteTypes(DType a, DType b);
/// torch.result_type of all operands.
DType torchResultType(Capture &capture, std::span<const Operand> operands);
DType torchDefaultDtype(Capture &capture);
/// Operations that give floats: integers become the default dtype.
DType torchFloatType(Capture &capture, DType dtype);

/// numpy.result_type, Python numbers being weak. Nullopt if a number needs
/// another dtype than an int or float of the array's category would.
std::optional<DType> numpyResultType(std::span<const Operand> operands);
DType numpyPromoteTypes(DType a, DType b);

//===--- Layout -----------------------------------------------------------===//

/// The geometry of a tensor that is no view and no input, or of those as they
/// say.
Geometry geometryOf(Capture &capture, Value tensor);
/// Whether the elements lie row-major without gaps (size-1 dimensions
/// wherever).
bool isContiguous(Capture &capture, const Geometry &geometry);
/// The order (outermost first; empty: row-major) in which eager lays out the
/// result of an elementwise operation on `tensors`, with `rank` dimensions.
std::vector<uint8_t> torchLayout(Capture &capture,
                                 std::span<const Value> tensors,
                                 std::span<const importer::ExtentId> extents);
/// Likewise for NumPy's order 'K'.
std::vector<uint8_t> numpyLayout(Capture &capture,
                                 std::span<const Value> tensors,
                                 std::span<const importer::ExtentId> extents);
/// The order of `torch.empty_like(tensor)` with preserve_format.
std::vector<uint8_t> preservedLayout(Capture &capture, Value tensor);

/// A number for an extent to compare strides by; symbols count as large.
int64_t hintOf(const importer::Graph &graph, importer::ExtentId extent);

//===--- Results ----------------------------------------------------------===//

/// torch.Tensor or numpy.ndarray. Borrowed.
PyTypeObject *tensorTypeOf(Library library);
/// A new tensor of the library holding `v`.
Value newTensor(Capture &capture, Library library, Emitter::V v,
                std::vector<uint8_t> layout = {});
/// A result of a NumPy function: a NumPy scalar if its rank is 0.
Value newArray(Capture &capture, Emitter::V v,
               std::vector<uint8_t> layout = {});

/// Writes `v` into `target` as an in-place operation: casts to its dtype if
/// eager may, needs equal extents. The target is the result.
std::optional<Value> storeInto(Emitter &emitter, Value target, Emitter::V v,
                               std::string_view what);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_OPERAND_H

//===- Compositions.cpp - What both libraries compute alike -----*- C++ -*-===//

#include "Compositions.h"

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

V capture::unsupported(Emitter &e, std::string_view why) {
  e.capture.breakHere(BreakInfo::Reason::UnsupportedArgument, std::string(why));
  return Emitter::bad;
}

V capture::logicalOf(Emitter &e, std::string_view op, const Operand &a,
                     const Operand &b) {
  auto truth = [&](const Operand &operand) {
    DType dtype = operand.isTensor                      ? operand.dtype
                  : operand.number == NumberType::Float ? DType::F64
                  : operand.number == NumberType::Int   ? DType::I64
                                                        : DType::I1;
    return e.truth(emit(e, operand, dtype));
  };
  return e.binary(op, truth(a), truth(b));
}

V capture::shiftByNumber(Emitter &e, std::string_view name, const Operand &a,
                         const Operand &b, DType dtype) {
  if (!isInteger(dtype) || b.isTensor)
    return unsupported(e, "a shift by a tensor");
  std::optional<long long> amount = e.capture.asInt(b.value);
  if (!amount || *amount < 0 ||
      *amount >= static_cast<long long>(8 * byteWidth(dtype)))
    return unsupported(e, "the amount of a shift");
  return e.binary(name, emit(e, a, dtype), e.number(dtype, int64_t{*amount}));
}

V capture::ignoreNaN(Emitter &e, std::string_view op, V a, V b) {
  if (e.failed() || !isFloat(e.dtype(a)))
    return e.binary(op, a, b);
  V both = e.binary(op, a, b);
  V orA = e.select(e.unary("is_nan", b), a, both);
  return e.select(e.unary("is_nan", a), b, orA);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// [1, ...] or [..., 1] around a vector.
static V asMatrix(Emitter &e, V v, bool row) {
  return e.unsqueeze(v, row ? 0 : 1);
}

static V matmulError(Emitter &e) {
  e.capture.breakHere(BreakInfo::Reason::WouldRaise, "matmul");
  return Emitter::bad;
}

V capture::matmul(Emitter &e, V a, V b) {
  size_t rankA = e.rank(a), rankB = e.rank(b);
  if (e.failed() || rankA == 0 || rankB == 0 || e.dtype(a) != e.dtype(b) ||
      e.dtype(a) == DType::I1)
    return matmulError(e);
  bool vectorA = rankA == 1, vectorB = rankB == 1;
  if (vectorA)
    a = asMatrix(e, a, true);
  if (vectorB)
    b = asMatrix(e, b, false);
  Extents left = e.extents(a), right = e.extents(b);
  Extents batchA(left.begin(), left.end() - 2);
  Extents batchB(right.begin(), right.end() - 2);
  importer::Graph &graph = e.capture.graph;

  V product;
  Extents batch;
  if (batchB.empty()) {
    // [.., m, k] x [k, n]: one product of [.. * m, k].
    batch = batchA;
    Extents folded(left.begin(), left.end() - 1);
    Extents flat = {e.build.elementCount(folded), left.back()};
    product = e.contract(e.reshape(a, flat), b);
  } else {
    std::optional<Extents> common =
        e.build.broadcastExtents(std::vector<Extents>{batchA, batchB});
    if (!common) {
      for (const Extents &shape : {batchA, batchB})
        for (ExtentId id : shape)
          if (graph.extent(id).kind != importer::ExtentExpr::Kind::Constant)
            e.capture.asConstant(id);
      return matmulError(e);
    }
    batch = *common;
    auto spread = [&](V v, const Extents &matrix) {
      Extents whole = batch;
      whole.insert(whole.end(), matrix.end() - 2, matrix.end());
      v = e.broadcastTo(v, whole);
      Extents flat = {e.build.elementCount(batch), matrix[matrix.size() - 2],
                      matrix.back()};
      return e.reshape(v, flat);
    };
    product = e.contract(spread(a, left), spread(b, right));
  }
  Extents result = batch;
  if (!vectorA)
    result.push_back(left[left.size() - 2]);
  if (!vectorB)
    result.push_back(right.back());
  return e.reshape(product, result);
}

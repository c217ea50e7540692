//===- VectorMath.h - Elementary functions as arithmetic --------*- C++ -*-===//
//
// A small language to write elementary functions in: `Float`, `Int` and `Bool`
// are SSA values, all scalars or all vectors of one width, and their operators
// emit `arith` and `math.fma`. Nothing is contracted or reassociated: what is
// written is what runs.
//
// The functions are accurate to 1 ulp of their f32 or f64 result; NaN,
// infinities, signed zeros and denormals come out as IEEE 754 asks. They hold
// no call and no branch except where said.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CONVERSION_VECTORMATH_H
#define WOK_LIB_CONVERSION_VECTORMATH_H

#include "wok/Conversion/TargetFeatures.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace wok::vecmath {

/// The constants of one function, each made once, at the start of its entry
/// block.
class ConstantPool {
public:
  explicit ConstantPool(mlir::Block &entry) : entry(&entry) {}

  /// The constant `value`; shaped types are splats of it.
  mlir::Value get(mlir::Location loc, mlir::TypedAttr value);

private:
  mlir::Block *entry;
  llvm::DenseMap<mlir::Attribute, mlir::Value> values;
};

class Emitter;

struct Float {
  mlir::Value value;
  Emitter *emitter;
};
struct Int {
  mlir::Value value;
  Emitter *emitter;
};
struct Bool {
  mlir::Value value;
  Emitter *emitter;
};
struct Pair;

/// Emits at the builder's insertion point, for one float type (f32 or f64,
/// scalar or 1-D vector).
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
          const TargetFeatures &target, ConstantPool &constants);

  Float wrap(mlir::Value value) { return {value, this}; }
  Float fp(double value);
  Pair pair(double high, double low);
  /// A 32-bit (f32) or 64-bit (f64) pattern.
  Int bits(uint64_t value);

  bool isDouble() const { return elementType.isF64(); }
  /// 1 for scalars.
  int64_t lanes() const { return laneCount; }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const TargetFeatures &target;
  ConstantPool &constants;
  /// The float type and the integer type of the same shape and width.
  mlir::Type type, intType;

private:
  mlir::Type elementType;
  int64_t laneCount;
};

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Float operator+(Float a, Float b);
Float operator-(Float a, Float b);
Float operator*(Float a, Float b);
Float operator/(Float a, Float b);
Float operator-(Float a);
inline Float operator+(Float a, double b) { return a + a.emitter->fp(b); }
inline Float operator-(Float a, double b) { return a - a.emitter->fp(b); }
inline Float operator-(double a, Float b) { return b.emitter->fp(a) - b; }
inline Float operator*(Float a, double b) { return a * a.emitter->fp(b); }
inline Float operator/(double a, Float b) { return b.emitter->fp(a) / b; }

/// a * b + c, rounded once.
Float fma(Float a, Float b, Float c);
inline Float fma(Float a, double b, Float c) {
  return fma(a, a.emitter->fp(b), c);
}
inline Float fma(Float a, Float b, double c) {
  return fma(a, b, a.emitter->fp(c));
}
inline Float fma(Float a, double b, double c) {
  return fma(a, a.emitter->fp(b), c);
}

Bool operator<(Float a, Float b);
Bool operator>(Float a, Float b);
Bool operator<=(Float a, Float b);
Bool operator>=(Float a, Float b);
Bool operator==(Float a, Float b);
inline Bool operator<(Float a, double b) { return a < a.emitter->fp(b); }
inline Bool operator>(Float a, double b) { return a > a.emitter->fp(b); }
inline Bool operator<=(Float a, double b) { return a <= a.emitter->fp(b); }
inline Bool operator>=(Float a, double b) { return a >= a.emitter->fp(b); }
inline Bool operator==(Float a, double b) { return a == a.emitter->fp(b); }
Bool isNan(Float a);

Int operator+(Int a, Int b);
Int operator-(Int a, Int b);
Int operator&(Int a, Int b);
Int operator|(Int a, Int b);
Int operator^(Int a, Int b);
Int operator<<(Int a, unsigned amount);
/// Arithmetic shift. AVX2 has none for 64 bits.
Int operator>>(Int a, unsigned amount);
Int shiftRightLogical(Int a, unsigned amount);
inline Int operator+(Int a, uint64_t b) { return a + a.emitter->bits(b); }
inline Int operator-(Int a, uint64_t b) { return a - a.emitter->bits(b); }
inline Int operator&(Int a, uint64_t b) { return a & a.emitter->bits(b); }
Bool operator<(Int a, Int b);
Bool operator==(Int a, Int b);

Bool operator&(Bool a, Bool b);
Bool operator|(Bool a, Bool b);
Bool operator~(Bool a);

Float select(Bool condition, Float a, Float b);
inline Float select(Bool condition, double a, Float b) {
  return select(condition, b.emitter->fp(a), b);
}
inline Float select(Bool condition, Float a, double b) {
  return select(condition, a, a.emitter->fp(b));
}
Int select(Bool condition, Int a, Int b);

Int asInt(Float a);
Float asFloat(Int a);
/// The value of a signed integer.
Float toFloat(Int a);

Float roundEven(Float a);
Float abs(Float a);
/// `magnitude` (not negative) with the sign bit of `sign`: exact where the
/// result is odd in x.
Float orSign(Float magnitude, Float sign);
/// max(a, low) and min(a, high), one instruction each; a NaN in `a` passes.
Float clampLow(Float a, double low);
Float clampHigh(Float a, double high);
/// Horner's scheme; coefficients with the constant term first.
Float polynomial(Float x, llvm::ArrayRef<double> coefficients);
/// The same by Estrin's scheme: more roundings, a fraction of the latency. For
/// long polynomials whose value is only a correction.
Float polynomialByEstrin(Float x, llvm::ArrayRef<double> coefficients);

/// Two floats whose sum counts: twice the precision.
struct Pair {
  Float high, low;
};
/// a + b, exactly, for |a| >= |b| or a = 0.
Pair fastTwoSum(Float a, Float b);
/// a * b to about twice the precision of a float.
Pair multiply(Pair a, Pair b);

/// The shift that rounds to an integer when added: its low bits are zero in f32
/// (1.5 * 2^23) and f64 (1.5 * 2^52).
double roundingShift(const Emitter &emitter);
/// p * 2^n for t = n + roundingShift, with one rounding; n in [-150, 128] (f64:
/// [-1080, 1024]).
Float scaleByPower(Float p, Float t);
/// 1/d for a normal d, to about 2^-28 in f32.
Float reciprocal(Float d);

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Float exp(Float x);
Float exp2(Float x);
Float expm1(Float x);
Float log(Float x);
Float log2(Float x);
Float log10(Float x);
Float log1p(Float x);
Float tanh(Float x);
Float erf(Float x);
Float pow(Float x, Float y);

enum class Trigonometric { Sin, Cos, Tan };

/// f64; |x| > 2^30 in some lane takes a branch to `slow`, which computes the
/// function of all lanes.
Float trigonometricDouble(
    Trigonometric function, Float x,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &)> slow);

/// f32; |x| > 131072 in some lane takes a branch to a call of `slowReduction`,
/// which calls the function that `slowTrigonometricReduction` filled.
Float trigonometric(
    Trigonometric function, Float x,
    llvm::function_ref<mlir::ValueRange(mlir::OpBuilder &, mlir::Value)>
        slowReduction);
/// Exact reduction of any x by pi/2: high part, low part (f32) and quadrant
/// (i32).
llvm::SmallVector<mlir::Value> slowTrigonometricReduction(Float x);

/// The series of e^r to degree 13 without its first `skipped` terms, over
/// r^skipped: e^r to 4e-18 for |r| <= 0.347.
Float expSeries(Float r, size_t skipped, size_t degree = 13);

/// A positive f64 as 2^n (1 + f), with 1 + f in [sqrt(1/2), sqrt(2)).
struct Reduced {
  Float f, n;
};
Reduced reduceDouble(Float x);

/// (e^r - 1) / r for |r| <= 0.3475, to 3.3e-9 in f32 and 4e-18 in f64.
Float expQuotient(Float r);

} // namespace wok::vecmath

#endif // WOK_LIB_CONVERSION_VECTORMATH_H

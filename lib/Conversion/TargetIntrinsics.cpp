//===- TargetIntrinsics.cpp -----------------------------------------------===//

#include "TargetIntrinsics.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace wok::vecmath {

namespace {
/// Centre of each interval, then the coefficients of tanh about it, constant
/// first. The low 5 bits of the biased exponent and the two upper bits of the
/// mantissa select the interval. Centres are chosen so that their tanh is
/// within 2^-30 of a float.
constexpr float tanhTable[8][32] = {
    {0x1.205b68p1,
     0x1.5ff0f8p1,
     0x1.a0145p1,
     0x1.e0729p1,
     0x1.1fbfdp2,
     0x1.60999p2,
     0x1.9f8418p2,
     0x1.e0a28p2,
     0x1.20a28p3,
     0x1.60a28p3,
     0,
     0,
     0x1.1ffc58p-4,
     0x1.6062b8p-4,
     0x1.a00f7p-4,
     0x1.df7238p-4,
     0x1.1fe8d8p-3,
     0x1.60215p-3,
     0x1.a02908p-3,
     0x1.dfff3p-3,
     0x1.2047e8p-2,
     0x1.600068p-2,
     0x1.a086ep-2,
     0x1.df9e18p-2,
     0x1.1f9f5p-1,
     0x1.5f9868p-1,
     0x1.9f855p-1,
     0x1.dff438p-1,
     0x1.2038ep0,
     0x1.5fe8d8p0,
     0x1.a01248p0,
     0x1.e02de8p0},
    {0x1.f4cfbp-1,  0x1.fbd41p-1,  0x1.fe76f6p-1, 0x1.ff701ap-1,
     0x1.ffdf66p-1, 0x1.fffbb4p-1, 0x1.ffff66p-1, 0x1.ffffecp-1,
     0x1p0,         0x1p0,         0x1p0,         0,
     0x1.1f831ap-4, 0x1.5f84dp-4,  0x1.9ea29ep-4, 0x1.dd44b8p-4,
     0x1.1e071cp-3, 0x1.5cb36p-3,  0x1.9a867ep-3, 0x1.d76598p-3,
     0x1.18e61ap-2, 0x1.52c322p-2, 0x1.8afab6p-2, 0x1.bf5f36p-2,
     0x1.04c0dap-1, 0x1.311518p-1, 0x1.57458p-1,  0x1.77d2cap-1,
     0x1.9e83eep-1, 0x1.c26e2ep-1, 0x1.d9cc3cp-1, 0x1.e880dcp-1},
    {0x1.62208p-5,
     0x1.09e592p-6,
     0x1.887328p-8,
     0x1.1fa39p-9,
     0x1.04c922p-11,
     0x1.13001ep-14,
     0x1.34008ep-17,
     0x1.42021p-20,
     0x1.f6de74p-25,
     0x1.26bb52p-30,
     0,
     0x1p0,
     0x1.fd7a32p-1,
     0x1.fc3aa6p-1,
     0x1.fac0dcp-1,
     0x1.f90c6ep-1,
     0x1.f6036p-1,
     0x1.f1283ep-1,
     0x1.eb6d68p-1,
     0x1.e4dfc8p-1,
     0x1.d978fcp-1,
     0x1.c7f704p-1,
     0x1.b3d2eap-1,
     0x1.9e464cp-1,
     0x1.7b33dap-1,
     0x1.4a365ep-1,
     0x1.19da58p-1,
     0x1.d844c6p-2,
     0x1.60d106p-2,
     0x1.cef0eep-3,
     0x1.26374ep-3,
     0x1.6f51e2p-4},
    {-0x1.5a636p-5,
     -0x1.07bafep-6,
     -0x1.8745fcp-8,
     -0x1.1f5356p-9,
     -0x1.04b7b4p-11,
     -0x1.12fe44p-14,
     -0x1.33fd04p-17,
     -0x1.86bfbcp-20,
     -0x1.2c5a68p-21,
     -0x1.601302p-27,
     0,
     0,
     -0x1.1e197ap-4,
     -0x1.5ced32p-4,
     -0x1.9a6524p-4,
     -0x1.d6c9bep-4,
     -0x1.18731p-3,
     -0x1.5297cep-3,
     -0x1.8a0758p-3,
     -0x1.be6d54p-3,
     -0x1.03c2e4p-2,
     -0x1.2dafdap-2,
     -0x1.5036cep-2,
     -0x1.69fb86p-2,
     -0x1.823e52p-2,
     -0x1.8985fap-2,
     -0x1.79f01p-2,
     -0x1.5aa8cap-2,
     -0x1.1da3fp-2,
     -0x1.974558p-3,
     -0x1.104374p-3,
     -0x1.5e7674p-4},
    {0x1.b98e6p-6,
     0x1.59e346p-7,
     0x1.0345a8p-8,
     0x1.7e3f74p-10,
     0x1.5b15f6p-12,
     0x1.6e42acp-15,
     0x1.9a4d2cp-18,
     0x1.ad46c2p-21,
     0x1.4e84a6p-25,
     0x1.881f6ap-31,
     0,
     -0x1.55553ep-2,
     -0x1.4f80b4p-2,
     -0x1.4d341cp-2,
     -0x1.48efb6p-2,
     -0x1.439c82p-2,
     -0x1.3aa29cp-2,
     -0x1.2e478p-2,
     -0x1.2069bep-2,
     -0x1.0fd3f8p-2,
     -0x1.e9065ep-3,
     -0x1.982c1cp-3,
     -0x1.41a7cep-3,
     -0x1.d8485p-4,
     -0x1.c0c476p-5,
     0x1.ca8ffep-7,
     0x1.05f4fcp-4,
     0x1.842e9p-4,
     0x1.c699e8p-4,
     0x1.97f69ap-4,
     0x1.33c2c4p-4,
     0x1.a7e056p-5},
    {-0x1.91fb8p-7,
     -0x1.4e800cp-8,
     -0x1.002252p-9,
     -0x1.7c3a1ep-11,
     -0x1.5ae59ep-13,
     -0x1.6e03acp-16,
     -0x1.9ac314p-19,
     0x1.2a08bep-19,
     0x1.52bb8ep-20,
     0x1.8d100ep-26,
     0,
     0,
     0x1.344dcp-4,
     0x1.6f6724p-7,
     0x1.129c5ap-3,
     0x1.267588p-4,
     0x1.7e265ap-4,
     0x1.c72e66p-4,
     0x1.d1dabap-4,
     0x1.459e5ep-3,
     0x1.31bc0cp-3,
     0x1.507c3ep-3,
     0x1.5dfbf4p-3,
     0x1.5a7bfap-3,
     0x1.3a9b56p-3,
     0x1.ea7bdap-4,
     0x1.484534p-4,
     0x1.625c76p-5,
     0x1.9ad624p-9,
     -0x1.5db0fcp-6,
     -0x1.9d24bep-6,
     -0x1.55a5d8p-6},
    {0x1.03f168p-8,
     0x1.f63b68p-10,
     0x1.93373p-11,
     0x1.2fe8fcp-12,
     0x1.20b1aap-14,
     0x1.31481p-17,
     0x1.557ff2p-20,
     0x1.5f4b88p-23,
     0x1.24fd5ep-27,
     0x1.577134p-33,
     0,
     0x1.10786p-3,
     0x1.6a2904p3,
     0x1.827c7ep4,
     0x1.33a4f6p4,
     0x1.046836p3,
     -0x1.58a018p0,
     -0x1.ef6b54p-1,
     0x1.030894p0,
     -0x1.4ebb96p-4,
     0x1.3ec944p-3,
     -0x1.2b5bcap-5,
     -0x1.8b0dc4p-6,
     0x1.433e82p-7,
     -0x1.607c8ap-5,
     -0x1.e0377ap-5,
     -0x1.02b622p-4,
     -0x1.c32a56p-5,
     -0x1.05fe6ep-5,
     -0x1.36d4fap-7,
     0x1.604346p-10,
     0x1.2faa8ap-8},
    {-0x1.788a08p-11,
     -0x1.1f5e0ap-11,
     -0x1.007d46p-12,
     -0x1.a7bfbcp-14,
     -0x1.7b8656p-16,
     -0x1.9ceafep-19,
     -0x1.bcf514p-22,
     -0x1.c615b8p-18,
     -0x1.ba083ap-21,
     -0x1.031344p-26,
     0,
     0,
     -0x1.c89236p7,
     0x1.2e48ccp9,
     -0x1.1eb8eep9,
     -0x1.a9948cp0,
     -0x1.a4f50ap3,
     -0x1.fdb6fep3,
     0x1.1fabeap4,
     -0x1.0a6e2ep6,
     0x1.1000dep-1,
     -0x1.9aa17ep-3,
     -0x1.448e42p-1,
     -0x1.51c384p-1,
     -0x1.230702p-5,
     -0x1.8011a6p-7,
     0x1.096b6cp-7,
     0x1.5aa138p-6,
     0x1.2add06p-6,
     0x1.70b068p-7,
     0x1.0ecc7cp-8,
     0x1.abaf0cp-11},
};
} // namespace

static bool hasWide(const Emitter &e) {
  return e.target.avx512 && !e.isDouble() && e.lanes() == 16;
}

static Value call(Emitter &e, StringRef name, Type result,
                  ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(e.builder, e.loc, result,
                                       e.builder.getStringAttr(name), operands)
      .getResults();
}

/// An operand that is the same in every call: a mask, an immediate, a rounding
/// mode.
static Value integer(Emitter &e, unsigned width, int64_t value) {
  return e.constants.get(
      e.loc, e.builder.getIntegerAttr(e.builder.getIntegerType(width), value));
}
static Value allLanes(Emitter &e) { return integer(e, 16, -1); }
static Value currentRounding(Emitter &e) { return integer(e, 32, 4); }

std::optional<Float> scaleIntrinsic(Float p, Float n) {
  Emitter &e = *p.emitter;
  if (!hasWide(e))
    return std::nullopt;
  return e.wrap(call(
      e, "llvm.x86.avx512.mask.scalef.ps.512", e.type,
      {p.value, n.value, e.fp(0.0).value, allLanes(e), currentRounding(e)}));
}

std::optional<ReciprocalEstimate> reciprocalEstimate(Float d) {
  Emitter &e = *d.emitter;
  if (hasWide(e))
    return ReciprocalEstimate{
        e.wrap(call(e, "llvm.x86.avx512.rcp14.ps.512", e.type,
                    {d.value, e.fp(0.0).value, allLanes(e)})),
        1};
  if (e.target.avx && !e.isDouble() && e.lanes() == 8)
    return ReciprocalEstimate{
        e.wrap(call(e, "llvm.x86.avx.rcp.ps.256", e.type, d.value)), 2};
  return std::nullopt;
}

std::optional<Split> splitIntrinsic(Float x) {
  Emitter &e = *x.emitter;
  if (!hasWide(e))
    return std::nullopt;
  // Mantissa in [1, 2), NaN for negative operands.
  constexpr int64_t form = 2 << 2;
  Value zero = e.fp(0.0).value;
  Value mantissa = call(
      e, "llvm.x86.avx512.mask.getmant.ps.512", e.type,
      {x.value, integer(e, 32, form), zero, allLanes(e), currentRounding(e)});
  Value exponent = call(e, "llvm.x86.avx512.mask.getexp.ps.512", e.type,
                        {x.value, zero, allLanes(e), currentRounding(e)});
  return Split{e.wrap(mantissa), e.wrap(exponent)};
}

std::optional<Float> tanhByTable(Float x) {
  Emitter &e = *x.emitter;
  if (!hasWide(e))
    return std::nullopt;
  Float b = clampHigh(abs(x), 10.0);
  Int key = asInt(b), least = e.bits(0x3d7fffff);
  Int index = select(key < least, least, key) >> 21;
  auto look = [&](unsigned row) {
    auto half = [&](unsigned from) {
      auto attr = DenseElementsAttr::get(
          cast<VectorType>(e.type), ArrayRef(tanhTable[row]).slice(from, 16));
      return e.constants.get(e.loc, attr);
    };
    return e.wrap(call(e, "llvm.x86.avx512.vpermi2var.ps.512", e.type,
                       {half(0), index.value, half(16)}));
  };
  Float t = b - look(0);
  Float p = look(7);
  for (unsigned row = 6; row >= 1; --row)
    p = fma(p, t, look(row));
  return orSign(p, x);
}

} // namespace wok::vecmath

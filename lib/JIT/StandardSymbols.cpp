//===- StandardSymbols.cpp - What any generated code may call ---*- C++ -*-===//

#include "wok/JIT/JIT.h"

#include <cmath>
#include <cstring>

using namespace wok::jit;

// The names are LLVM's run-time library calls. Defined by conversions of this
// compiler, whose own library may have them under a name that generated code
// cannot see.
static float halfToFloat(_Float16 value) { return static_cast<float>(value); }
static _Float16 floatToHalf(float value) {
  return static_cast<_Float16>(value);
}
static _Float16 doubleToHalf(double value) {
  return static_cast<_Float16>(value);
}

template <class Fn>
static void *address(Fn *function) {
  return reinterpret_cast<void *>(function);
}

std::span<const Symbol> wok::jit::standardSymbols() {
  static const Symbol symbols[] = {
      {"memcpy", address<void *(void *, const void *, size_t)>(std::memcpy)},
      {"memmove", address<void *(void *, const void *, size_t)>(std::memmove)},
      {"memset", address<void *(void *, int, size_t)>(std::memset)},
      {"fmod", address<double(double, double)>(std::fmod)},
      {"fmodf", address<float(float, float)>(::fmodf)},
      // Processors without FMA and without SSE4.1's rounding.
      {"fma", address<double(double, double, double)>(std::fma)},
      {"fmaf", address<float(float, float, float)>(::fmaf)},
      {"floor", address<double(double)>(std::floor)},
      {"floorf", address<float(float)>(::floorf)},
      {"ceil", address<double(double)>(std::ceil)},
      {"ceilf", address<float(float)>(::ceilf)},
      {"trunc", address<double(double)>(std::trunc)},
      {"truncf", address<float(float)>(::truncf)},
      {"roundeven", address<double(double)>(::roundeven)},
      {"roundevenf", address<float(float)>(::roundevenf)},
      {"rint", address<double(double)>(std::rint)},
      {"rintf", address<float(float)>(::rintf)},
      {"__extendhfsf2", address(halfToFloat)},
      {"__truncsfhf2", address(floatToHalf)},
      {"__truncdfhf2", address(doubleToHalf)},
  };
  return symbols;
}

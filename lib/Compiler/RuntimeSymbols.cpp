//===- RuntimeSymbols.cpp - What kernels may call ---------------*- C++ -*-===//

#include "RuntimeSymbols.h"

#include "wok/Runtime/Contract.h"
#include "wok/Runtime/Parallel.h"

#include <cmath>
#include <cstring>

using namespace wok;

// Chooses the overload of a name that C++ overloads.
using Unary = double (*)(double);
using Binary = double (*)(double, double);
using Ternary = double (*)(double, double, double);

template <class Fn>
static void *addressOf(Fn *function) {
  return reinterpret_cast<void *>(function);
}

std::vector<jit::Symbol> wok::runtimeSymbols() {
  std::vector<jit::Symbol> symbols = {
      {"wok_parallel_for", addressOf(wok_parallel_for)},
      {"wok_contract", addressOf(wok_contract)},
#define WOK_LIBM_UNARY(name)                                                   \
  {#name, reinterpret_cast<void *>(static_cast<Unary>(::name))},
#define WOK_LIBM_BINARY(name)                                                  \
  {#name, reinterpret_cast<void *>(static_cast<Binary>(::name))},
#define WOK_LIBM_TERNARY(name)                                                 \
  {#name, reinterpret_cast<void *>(static_cast<Ternary>(::name))},
#define WOK_LIBM_SYMBOL(name) {#name, addressOf(::name)},
#include "wok/Conversion/LibmSymbols.def"
  };
  for (const jit::Symbol &symbol : jit::standardSymbols())
    symbols.push_back(symbol);
  return symbols;
}

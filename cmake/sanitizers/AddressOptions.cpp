//===- AddressOptions.cpp - Defaults of AddressSanitizer --------*- C++ -*-===//
//
// LLVM's allocators poison the memory that they have not given out yet, in
// functions that are inlined in its headers. Where those are instrumented, as
// in Wok, and others are not, as in the archives of MLIR, memory is poisoned
// that nobody makes accessible again. Everything else is checked. And what asks
// for more memory than there is gets null, as without a sanitizer.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:allocator_may_return_null=1";
}

//===- ReferenceScalar.h - Operations on single elements --------*- C++ -*-===//

#ifndef WOK_TEST_UNIT_COMPILER_REFERENCESCALAR_H
#define WOK_TEST_UNIT_COMPILER_REFERENCESCALAR_H

#include "Reference.h"

#include <string_view>

namespace wok::test {

Element scalarUnary(std::string_view op, DType dtype, Element a);
Element scalarBinary(std::string_view op, DType dtype, Element a, Element b,
                     runtime::Status &status);
bool scalarCompare(std::string_view predicate, DType dtype, Element a,
                   Element b);
Element scalarFma(DType dtype, Element a, Element b, Element c);
Element scalarCast(DType from, DType to, Element a);

} // namespace wok::test

#endif // WOK_TEST_UNIT_COMPILER_REFERENCESCALAR_H

//===- GuardRecords.h - Records of guard programs ---------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_GUARDRECORDS_H
#define WOK_LIB_PYTHON_GUARDRECORDS_H

#include "wok/Capture/Source.h"
#include "wok/Runtime/GuardProgram.h"

#include <cstdint>

namespace wok::python {

/// The kinds of `runtime::GuardRecord`: a load for each step of a source, then
/// the tests. Operand and detail are as the comments say.
enum class Record : uint16_t {
#define X(name, text, object) Load##name,
  WOK_SOURCE_STEPS(X)
#undef X
      LoadWeakConstant, ///< What a weak reference refers to.
  FirstTest,
  TypeIs = FirstTest, ///< A type that the specialization holds.
  TypeIsWeak,         ///< A weak reference to a type.
  Is,                 ///< An object that the specialization holds.
  IsWeak,             ///< A weak reference to an object.
  IsNot,
  EqualsInt,    ///< An int64.
  EqualsFloat,  ///< The bits of a double.
  EqualsObject, ///< An exact int, float, str or bytes.
  IntAtLeast,
  IntAtMost,
  FloatType,
  LengthIs,
  KeyAbsent,       ///< A key.
  AttributeAbsent, ///< A name.
  Present,
  SlotNull,
  SameObject,    ///< detail: the other register.
  NotSameObject, ///< detail: the other register.
  DictVersion,
  TypeVersion,
  DictOrder,      ///< A tuple of keys.
  Tensor,         ///< A TensorCheck of the specialization.
  ExtentRelation, ///< A RelationCheck of the specialization.
  NoOverlap,      ///< detail: the other register.
  Ambient,        ///< A value; detail: which.
  RecursionRoom,
  RefCountAbove,
  DiesQuietly,
};

/// A load with this bit may find nothing.
inline constexpr uint16_t nullableBit = 0x8000;

inline Record recordOf(const runtime::GuardRecord &record) {
  return static_cast<Record>(record.kind & ~nullableBit);
}
inline bool isNullable(const runtime::GuardRecord &record) {
  return record.kind & nullableBit;
}
inline bool isLoad(Record kind) { return kind < Record::FirstTest; }
inline Record loadOf(capture::Step step) { return static_cast<Record>(step); }

} // namespace wok::python

#endif // WOK_LIB_PYTHON_GUARDRECORDS_H

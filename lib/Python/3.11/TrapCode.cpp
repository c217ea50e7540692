//===- TrapCode.cpp - A code object whose sites are traps -----------------===//

#include "TrapCode.h"

#include "opcode.h"

#include <cassert>
#include <unordered_map>

namespace wok::python {

using capture::PendingException;
using capture::Ref;

namespace {

/// Copy -> original, for all copies that live. Never destroyed: frames may
/// outlive static data.
std::unordered_map<PyCodeObject *, PyCodeObject *> &copies() {
  static auto &map = *new std::unordered_map<PyCodeObject *, PyCodeObject *>;
  return map;
}

/// Whether `opcode` executes the instruction behind it as well.
bool isFused(int opcode) {
  switch (opcode) {
  case LOAD_FAST__LOAD_FAST:
  case LOAD_FAST__LOAD_CONST:
  case LOAD_CONST__LOAD_FAST:
  case STORE_FAST__LOAD_FAST:
  case STORE_FAST__STORE_FAST:
  case BINARY_OP_INPLACE_ADD_UNICODE:
  case COMPARE_OP_FLOAT_JUMP:
  case COMPARE_OP_INT_JUMP:
  case COMPARE_OP_STR_JUMP:
    return true;
  default:
    return false;
  }
}

/// The form of `opcode` that counts and specialises itself, as quickening would
/// write it.
int adaptive(int opcode) {
  switch (opcode) {
  case BINARY_OP:
    return BINARY_OP_ADAPTIVE;
  case BINARY_SUBSCR:
    return BINARY_SUBSCR_ADAPTIVE;
  case CALL:
    return CALL_ADAPTIVE;
  case COMPARE_OP:
    return COMPARE_OP_ADAPTIVE;
  case LOAD_ATTR:
    return LOAD_ATTR_ADAPTIVE;
  case LOAD_GLOBAL:
    return LOAD_GLOBAL_ADAPTIVE;
  case LOAD_METHOD:
    return LOAD_METHOD_ADAPTIVE;
  case PRECALL:
    return PRECALL_ADAPTIVE;
  case STORE_ATTR:
    return STORE_ATTR_ADAPTIVE;
  case STORE_SUBSCR:
    return STORE_SUBSCR_ADAPTIVE;
  case UNPACK_SEQUENCE:
    return UNPACK_SEQUENCE_ADAPTIVE;
  default:
    return opcode;
  }
}

} // namespace

TrapCode *TrapCode::create(PyCodeObject *original,
                           std::shared_ptr<const Bytecode> bytecode) {
  // An unmodified `replace()` is the one way to copy everything that 3.11 keeps
  // in a code object.
  PendingException pending;
  Ref<> copy = Ref<>::steal(PyObject_CallMethod(
      reinterpret_cast<PyObject *>(original), "replace", nullptr));
  if (!copy || !PyCode_Check(copy.get()) ||
      Py_SIZE(copy.get()) != bytecode->size()) {
    PyErr_Clear();
    return nullptr;
  }
  auto *trap = new TrapCode;
  trap->object = Ref<PyCodeObject>::steal(copy.release());
  trap->decoded = std::move(bytecode);
  const int32_t size = trap->decoded->size();
  trap->pristine.assign(size, CACHE);
  trap->state.assign(size, 0);
  for (const Instruction &instruction : trap->decoded->instructions()) {
    for (int32_t unit = instruction.offset; unit < instruction.opOffset; ++unit)
      trap->pristine[unit] = EXTENDED_ARG;
    trap->pristine[instruction.opOffset] = static_cast<uint8_t>(instruction.op);
  }
  copies().emplace(trap->object.get(), original);
  return trap;
}

TrapCode::~TrapCode() { copies().erase(object.get()); }

PyCodeObject *TrapCode::originalOf(PyCodeObject *code) {
  auto found = copies().find(code);
  return found == copies().end() ? nullptr : found->second;
}

void TrapCode::addSite(int32_t offset) {
  if (!decoded->trapLegal(offset) || isSite(offset))
    return;
  state[offset] |= Site;
  if (!retired)
    arm(offset);
}

void TrapCode::removeSite(int32_t offset) {
  if (offset < 0 || offset >= decoded->size() || !isSite(offset))
    return;
  state[offset] &= ~Site;
  disarm(offset);
}

void TrapCode::arm(int32_t offset) {
  if (isArmed(offset))
    return;
  state[offset] |= Armed;
  _Py_CODEUNIT *code = units();
  const Instruction *instruction = decoded->at(offset);
  // A linear walk over the copy (`co_code`, quickening) takes the trap for an
  // instruction without caches: what lies under it must read as CACHE 0.
  if (instruction->opOffset == offset)
    for (int32_t unit = offset + 1; unit < instruction->next; ++unit)
      code[unit] = 0;
  // The argument stays: an instruction in front that was fused with this one
  // reads it.
  code[offset] = _Py_MAKECODEUNIT(RETURN_VALUE, _Py_OPARG(code[offset]));

  // Such an instruction would jump over the trap, so it is taken apart. Only
  // one that has no EXTENDED_ARG behind it can be fused.
  if (instruction->opOffset != offset || offset == 0)
    return;
  const int32_t before = decoded->containing(offset - 1).opOffset;
  if (!isArmed(before) && isFused(_Py_OPCODE(code[before])))
    code[before] = _Py_MAKECODEUNIT(pristine[before], _Py_OPARG(code[before]));
}

void TrapCode::disarm(int32_t offset) {
  if (!isArmed(offset))
    return;
  state[offset] &= ~Armed;
  _Py_CODEUNIT *code = units();
  assert(_Py_OPCODE(code[offset]) == RETURN_VALUE &&
         "somebody else writes to the copy");
  int opcode = pristine[offset];
  // Where the trap comes back soon, specialising would be lost work. (The
  // caches are zero: that is where counting starts.)
  if (!isSite(offset) || retired)
    if (object->co_warmup == 0)
      opcode = adaptive(opcode);
  code[offset] = _Py_MAKECODEUNIT(opcode, _Py_OPARG(code[offset]));
}

int32_t TrapCode::firstLegal(int32_t offset) const {
  while (offset < decoded->size()) {
    if (decoded->trapLegal(offset))
      return offset;
    const Instruction *instruction = decoded->at(offset);
    if (!instruction || hasTrait(instruction->op, Ends))
      return -1;
    offset = instruction->next;
  }
  return -1;
}

void TrapCode::passOver(int32_t offset) {
  const Instruction *instruction = decoded->at(offset);
  assert(instruction && isSite(offset));
  disarm(offset);
  passed.push_back(offset);
  auto trapNext = [&](int32_t successor) {
    successor = firstLegal(successor);
    if (successor < 0 || successor == offset || isArmed(successor))
      return;
    arm(successor);
    temporary.push_back(successor);
  };
  if (!hasTrait(instruction->op, Ends))
    trapNext(instruction->next);
  if (instruction->target >= 0)
    trapNext(instruction->target);
}

void TrapCode::settleSlowly() {
  for (int32_t offset : temporary)
    if (!isSite(offset))
      disarm(offset);
  temporary.clear();
  if (!retired)
    for (int32_t offset : passed)
      if (isSite(offset))
        arm(offset);
  passed.clear();
}

void TrapCode::retire() {
  settle();
  retired = true;
  for (int32_t offset = 0; offset < decoded->size(); ++offset)
    disarm(offset);
}

} // namespace wok::python

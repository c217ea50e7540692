//===- NoCallables.cpp - Importers of calls before they land --------------===//
//
// Every call and operator on tensors is a break. Goes away with the tables of
// callables.
//
//===----------------------------------------------------------------------===//

#include "wok/Capture/Capture.h"

namespace wok::capture {

using Reason = BreakInfo::Reason;

const CallableEntry *findCallable(PyObject *) { return nullptr; }
std::optional<Value> importBinary(Capture &capture, int, Value, Value) {
  return capture.breakHere(Reason::UnsupportedOp);
}
std::optional<Value> importCompare(Capture &capture, int, Value, Value) {
  return capture.breakHere(Reason::UnsupportedOp);
}
std::optional<Value> importUnary(Capture &capture, char, Value) {
  return capture.breakHere(Reason::UnsupportedOp);
}
std::optional<Value> importSubscript(Capture &capture, Value, Value) {
  return capture.breakHere(Reason::UnsupportedOp);
}
bool importStoreSubscript(Capture &capture, Value, Value, Value) {
  capture.breakHere(Reason::UnsupportedOp);
  return false;
}
std::optional<Value> importTensorAttribute(Capture &, Value, std::string_view) {
  return std::nullopt;
}

} // namespace wok::capture

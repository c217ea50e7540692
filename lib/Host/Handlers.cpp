//===- Handlers.cpp -------------------------------------------------------===//

#include "Handlers.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace wok;
using namespace wok::host;

/// The entry `name` of the break's configuration, or null.
template <class Attr>
static Attr configured(BreakOp op, StringRef name) {
  DictionaryAttr config = op.getConfigAttr();
  return config ? config.getAs<Attr>(name) : Attr();
}

static llvm::Error needs(StringRef what) {
  return llvm::createStringError("needs " + what);
}

static llvm::Expected<Values> print(const FrameHost::BreakContext &context) {
  llvm::raw_ostream &output = context.host.output();
  if (auto text = configured<StringAttr>(context.op, "text"))
    output << text.getValue() << (context.inputs.empty() ? "" : " ");
  llvm::interleave(
      context.inputs, output,
      [&](const TensorValue &value) { output << toString(value); }, " ");
  output << '\n';
  return Values();
}

static llvm::Expected<Values> append(const FrameHost::BreakContext &context) {
  auto list = configured<StringAttr>(context.op, "list");
  if (!list)
    return needs("the name of a list: config {list = \"name\"}");
  Values &values = context.host.lists[list.str()];
  values.insert(values.end(), context.inputs.begin(), context.inputs.end());
  return Values();
}

static llvm::Expected<Values> branch(const FrameHost::BreakContext &context) {
  if (BreakOp op = context.op; !op.isBranch())
    return needs("two arms");
  return context.executeArm(context.inputs.front().scalarBits() ? 0 : 1);
}

static llvm::Expected<Values> call(const FrameHost::BreakContext &context) {
  auto callee = configured<FlatSymbolRefAttr>(context.op, "callee");
  if (!callee)
    return needs("a function: config {callee = @name}");
  return context.host.call(callee.getValue(), context.inputs);
}

void host::addStandardHandlers(FrameHost &host) {
  host.setHandler("print", print);
  host.setHandler("append", append);
  host.setHandler("branch", branch);
  host.setHandler("call", call);
}

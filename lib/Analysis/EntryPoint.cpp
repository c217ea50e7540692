//===- EntryPoint.cpp -----------------------------------------------------===//

#include "wok/Analysis/EntryPoint.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace wok;

static ArrayAttr typesOf(Builder &builder, ArrayRef<RankedTensorType> types) {
  return builder.getTypeArrayAttr(
      SmallVector<Type>(types.begin(), types.end()));
}

void EntryPoint::set(Operation *op) const {
  Builder builder(op->getContext());
  SmallVector<int64_t> memory;
  for (const EntryTransient &transient : transients)
    memory.append({transient.bytes, transient.first, transient.last});
  op->setAttr(
      attrName,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("inputs", typesOf(builder, inputs)),
           builder.getNamedAttr("outputs", typesOf(builder, outputs)),
           builder.getNamedAttr("strided",
                                builder.getDenseBoolArrayAttr(strided)),
           builder.getNamedAttr("shape", builder.getBoolAttr(hasShape)),
           builder.getNamedAttr("transients",
                                builder.getDenseI64ArrayAttr(memory)),
           builder.getNamedAttr("arena", builder.getI64IntegerAttr(arenaBytes)),
           builder.getNamedAttr("kernels",
                                builder.getI64IntegerAttr(kernels))}));
}

std::optional<EntryPoint> EntryPoint::get(Operation *op) {
  auto dictionary = op->getAttrOfType<DictionaryAttr>(attrName);
  if (!dictionary)
    return std::nullopt;
  auto inputs = dictionary.getAs<ArrayAttr>("inputs");
  auto outputs = dictionary.getAs<ArrayAttr>("outputs");
  auto strided = dictionary.getAs<DenseBoolArrayAttr>("strided");
  auto shape = dictionary.getAs<BoolAttr>("shape");
  auto memory = dictionary.getAs<DenseI64ArrayAttr>("transients");
  auto arena = dictionary.getAs<IntegerAttr>("arena");
  auto kernels = dictionary.getAs<IntegerAttr>("kernels");
  if (!inputs || !outputs || !strided || !shape || !memory || !arena ||
      !kernels || memory.size() % 3 != 0)
    return std::nullopt;

  auto readTypes = [](ArrayAttr types, SmallVector<RankedTensorType> &result) {
    for (auto type : types.getAsRange<TypeAttr>())
      result.push_back(cast<RankedTensorType>(type.getValue()));
  };
  EntryPoint entry;
  readTypes(inputs, entry.inputs);
  readTypes(outputs, entry.outputs);
  entry.strided.assign(strided.asArrayRef().begin(),
                       strided.asArrayRef().end());
  entry.hasShape = shape.getValue();
  for (int64_t i = 0; i < memory.size(); i += 3)
    entry.transients.push_back({memory[i], static_cast<uint32_t>(memory[i + 1]),
                                static_cast<uint32_t>(memory[i + 2])});
  entry.arenaBytes = arena.getInt();
  entry.kernels = kernels.getInt();
  return entry;
}

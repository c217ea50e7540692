//===- TensorValue.cpp ----------------------------------------------------===//

#include "wok/Host/TensorValue.h"
#include "wok/Runtime/CompiledSubgraph.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace wok;
using namespace wok::host;

TensorValue::TensorValue(DType dtype, std::vector<int64_t> extents)
    : elementType(dtype), shape(std::move(extents)) {
  // Not by `operator new`: LLVM's tools abort where that fails.
  int64_t size = byteWidth(dtype);
  for (int64_t extent : shape)
    if (extent < 0 ||
        llvm::MulOverflow(size, std::max<int64_t>(extent, 1), size))
      return;
  if (llvm::AddOverflow(size, runtime::arenaAlignment - 1, size))
    return;
  void *raw = std::aligned_alloc(runtime::arenaAlignment,
                                 size & -runtime::arenaAlignment);
  if (raw)
    memory.reset(static_cast<std::byte *>(raw), &std::free);
}

int64_t TensorValue::count() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

uint64_t TensorValue::scalarBits() const {
  uint64_t bits = 0;
  std::memcpy(&bits, data(), byteWidth(elementType));
  return bits;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics *semanticsOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return &llvm::APFloat::IEEEhalf();
  case DType::BF16:
    return &llvm::APFloat::BFloat();
  case DType::F32:
    return &llvm::APFloat::IEEEsingle();
  case DType::F64:
    return &llvm::APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

static std::string elementToString(DType dtype, const std::byte *at) {
  uint64_t bits = 0;
  size_t width = byteWidth(dtype);
  std::memcpy(&bits, at, width);
  if (dtype == DType::I1)
    return bits ? "true" : "false";
  llvm::APInt integer(8 * width, bits);
  if (const llvm::fltSemantics *semantics = semanticsOf(dtype)) {
    // The shortest text that reads back as the same number; 16-bit floats as
    // the f32 that they are.
    llvm::APFloat number(*semantics, integer);
    if (number.isNaN())
      return "nan";
    std::array<char, 32> text;
    std::to_chars_result end =
        dtype == DType::F64
            ? std::to_chars(text.begin(), text.end(), number.convertToDouble())
            : std::to_chars(text.begin(), text.end(), number.convertToFloat());
    return std::string(text.begin(), end.ptr);
  }
  llvm::SmallString<32> text;
  integer.toString(text, 10, /*Signed=*/dtype != DType::U8);
  return std::string(text);
}

static bool parseElement(llvm::StringRef text, DType dtype, std::byte *to) {
  size_t width = byteWidth(dtype);
  uint64_t bits;
  if (dtype == DType::I1) {
    if (text != "true" && text != "false" && text != "1" && text != "0")
      return false;
    bits = text == "true" || text == "1";
  } else if (const llvm::fltSemantics *semantics = semanticsOf(dtype)) {
    llvm::APFloat number(*semantics);
    llvm::Expected<llvm::APFloat::opStatus> status =
        number.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return false;
    }
    bits = number.bitcastToAPInt().getZExtValue();
  } else {
    bool isNegative = text.consume_front("-");
    llvm::APInt magnitude;
    if (text.getAsInteger(10, magnitude))
      return false;
    llvm::APInt number =
        magnitude.zext(std::max<unsigned>(magnitude.getBitWidth(), 64) + 2);
    if (isNegative)
      number.negate();
    bool fits = dtype == DType::U8 ? !isNegative && number.isIntN(8)
                                   : number.isSignedIntN(8 * width);
    if (!fits)
      return false;
    bits = number.trunc(64).getZExtValue();
  }
  std::memcpy(to, &bits, width);
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::string host::toString(const TensorValue &value) {
  if (!value.isSet())
    return "unset";
  std::string text;
  const std::byte *at = value.data();
  size_t width = byteWidth(value.dtype());
  auto print = [&](auto &self, size_t dim) -> void {
    if (dim == value.extents().size()) {
      text += elementToString(value.dtype(), at);
      at += width;
      return;
    }
    text += '[';
    for (int64_t i = 0; i < value.extents()[dim]; ++i) {
      if (i)
        text += ", ";
      self(self, dim + 1);
    }
    text += ']';
  };
  print(print, 0);
  return text;
}

namespace {
/// Nested brackets: the words in order, and the extents they span.
class BracketParser {
public:
  BracketParser(llvm::StringRef text, size_t rank)
      : rest(text.trim()), rank(rank) {}

  bool parse() { return parseLevel(0) && rest.trim().empty(); }

  std::vector<llvm::StringRef> words;
  std::vector<int64_t> extents;
  bool isTooDeep = false;

private:
  bool parseLevel(size_t depth) {
    rest = rest.ltrim();
    if (!rest.consume_front("[")) {
      size_t end = rest.find_first_of(",[] \t\n");
      words.push_back(rest.substr(0, end));
      rest =
          end == llvm::StringRef::npos ? llvm::StringRef() : rest.substr(end);
      // All numbers stand at one depth.
      if (numberDepth == unknown)
        numberDepth = depth;
      return numberDepth == depth && !words.back().empty();
    }
    if (depth == rank) {
      isTooDeep = true;
      return false;
    }
    int64_t count = 0;
    rest = rest.ltrim();
    if (!rest.consume_front("]")) {
      do {
        if (!parseLevel(depth + 1))
          return false;
        ++count;
        rest = rest.ltrim();
      } while (rest.consume_front(","));
      if (!rest.consume_front("]"))
        return false;
    }
    // All lists of one depth are equally long.
    if (extents.size() <= depth)
      extents.resize(depth + 1, -1);
    if (extents[depth] == -1)
      extents[depth] = count;
    return extents[depth] == count;
  }

  static constexpr size_t unknown = ~size_t(0);
  llvm::StringRef rest;
  size_t rank;
  size_t numberDepth = unknown;
};
} // namespace

static TensorValue randomTensor(DType dtype, std::vector<int64_t> extents,
                                uint64_t seed) {
  TensorValue value(dtype, std::move(extents));
  if (!value.isSet())
    return value;
  std::mt19937_64 random(seed);
  std::byte *at = value.data();
  size_t width = byteWidth(dtype);
  for (int64_t i = 0, n = value.count(); i < n; ++i, at += width) {
    uint64_t bits = random();
    if (const llvm::fltSemantics *semantics = semanticsOf(dtype)) {
      llvm::APFloat number(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
      bool inexact;
      number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
      bits = number.bitcastToAPInt().getZExtValue();
    } else if (dtype == DType::I1) {
      bits &= 1;
    } else {
      bits = bits % 16 - (dtype == DType::U8 ? 0 : 8);
    }
    std::memcpy(at, &bits, width);
  }
  return value;
}

static llvm::Error outOfMemory(llvm::StringRef text) {
  return llvm::createStringError("'" + text + "': out of memory");
}

llvm::Expected<TensorValue> host::parseTensor(llvm::StringRef text, DType dtype,
                                              llvm::ArrayRef<int64_t> wanted) {
  text = text.trim();
  bool isKnown = !llvm::is_contained(wanted, runtime::dynamicExtent);
  llvm::StringRef seedText = text;
  if (seedText.consume_front("random")) {
    uint64_t seed = 0;
    if (!isKnown || (!seedText.empty() && (!seedText.consume_front(":") ||
                                           seedText.getAsInteger(10, seed))))
      return llvm::createStringError(
          "'" + text + "': needs static extents and an integer as the seed");
    TensorValue value = randomTensor(dtype, wanted.vec(), seed);
    if (!value.isSet())
      return outOfMemory(text);
    return value;
  }

  BracketParser parser(text, wanted.size());
  if (!parser.parse() && !parser.isTooDeep)
    return llvm::createStringError("'" + text + "' is no tensor");
  bool isSplat = !parser.isTooDeep && parser.extents.empty() && isKnown;
  if (!isSplat) {
    bool fits = !parser.isTooDeep && parser.extents.size() == wanted.size();
    for (size_t i = 0; fits && i < wanted.size(); ++i)
      fits =
          wanted[i] == runtime::dynamicExtent || wanted[i] == parser.extents[i];
    if (!fits)
      return llvm::createStringError("'" + text +
                                     "' does not have the wanted extents");
  }
  TensorValue value(dtype, isSplat ? wanted.vec() : parser.extents);
  if (!value.isSet())
    return outOfMemory(text);
  size_t width = byteWidth(dtype);
  int64_t count = value.count();
  for (int64_t i = 0; i < count; ++i) {
    llvm::StringRef word = parser.words[isSplat ? 0 : i];
    if (!parseElement(word, dtype, value.data() + i * width))
      return llvm::createStringError("'" + word + "' is no " +
                                     std::string(wok::toString(dtype)));
  }
  return value;
}

//===- Call.cpp - A call bound to its row of a table ------------*- C++ -*-===//

#include "Call.h"

#include "Operand.h"

#include <algorithm>
#include <cmath>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

template <class Each>
static void split(std::string_view text, char separator, Each each) {
  while (true) {
    size_t end = text.find(separator);
    each(trim(text.substr(0, end)));
    if (end == std::string_view::npos)
      return;
    text.remove_prefix(end + 1);
  }
}

static Overload parseOverload(std::string_view text) {
  Overload overload;
  bool keywordOnly = false;
  split(text, ',', [&](std::string_view part) {
    if (part.empty())
      return;
    if (part == "*") {
      keywordOnly = true;
      return;
    }
    Parameter parameter;
    parameter.type = part[0];
    parameter.keywordOnly = keywordOnly;
    part.remove_prefix(1);
    if (part.starts_with('?')) {
      parameter.acceptsNone = true;
      part.remove_prefix(1);
    }
    part = trim(part);
    if (part.ends_with('=')) {
      parameter.optional = true;
      part.remove_suffix(1);
    }
    parameter.name = part;
    overload.push_back(parameter);
  });
  return overload;
}

std::vector<Overload> capture::parseSignature(std::string_view signature) {
  std::vector<Overload> overloads;
  split(signature, '|', [&](std::string_view part) {
    overloads.push_back(parseOverload(part));
  });
  return overloads;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<NumberType> numberTypeOf(const Capture &capture,
                                              Value value) {
  if (value.kind == Kind::Scalar) {
    switch (capture.scalarRow(value).type) {
    case ScalarRow::Type::Int:
      return NumberType::Int;
    case ScalarRow::Type::Float:
      return NumberType::Float;
    case ScalarRow::Type::Bool:
      return NumberType::Bool;
    }
  }
  PyObject *object = capture.object(value);
  if (!object)
    return std::nullopt;
  if (PyBool_Check(object))
    return NumberType::Bool;
  if (PyLong_CheckExact(object))
    return NumberType::Int;
  if (PyFloat_CheckExact(object))
    return NumberType::Float;
  return std::nullopt;
}

bool capture::isNumber(const Capture &capture, Value value) {
  return numberTypeOf(capture, value).has_value();
}

std::optional<NumberType> capture::numberType(Capture &capture, Value value) {
  std::optional<NumberType> type = numberTypeOf(capture, value);
  if (type && value.kind != Kind::Scalar)
    capture.guardType(value);
  return type;
}

/// Whether an integer dtype holds `number`; eager raises if not.
static bool holds(DType dtype, long long number) {
  switch (dtype) {
  case DType::U8:
    return number >= 0 && number <= 255;
  case DType::I8:
    return number >= INT8_MIN && number <= INT8_MAX;
  case DType::I16:
    return number >= INT16_MIN && number <= INT16_MAX;
  case DType::I32:
    return number >= INT32_MIN && number <= INT32_MAX;
  default:
    return true;
  }
}

/// Whether a finite number becomes an infinity of the dtype: NumPy warns, and
/// PyTorch raises for some.
static bool overflows(DType dtype, double number) {
  double limit = dtype == DType::F16   ? 65520.0
                 : dtype == DType::F32 ? 0x1.ffffffp127
                                       : HUGE_VAL;
  return std::isfinite(number) && std::fabs(number) >= limit;
}

std::optional<Emitter::V> capture::numberValue(Emitter &emitter, Value value,
                                               DType dtype) {
  Capture &capture = emitter.capture;
  if (value.kind == Kind::Scalar) {
    const ScalarRow &row = capture.scalarRow(value);
    if (row.type == ScalarRow::Type::Int && isInteger(dtype) &&
        dtype != DType::I64 &&
        (!holds(dtype, row.lower) || !holds(dtype, row.upper))) {
      // Asks for the value: it may not fit.
      std::optional<long long> number = capture.asInt(value);
      if (!number || !holds(dtype, *number))
        return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                                 "an int beyond the dtype");
      return emitter.number(dtype, int64_t{*number});
    }
    if (row.extent) {
      Emitter::V number = emitter.extentNumber(DType::I64, *row.extent);
      return emitter.cast(number, dtype);
    }
    return emitter.cast(*row.value, dtype);
  }
  PyObject *object = capture.object(value);
  if (PyFloat_CheckExact(object)) {
    capture.guardValue(value);
    if (overflows(dtype, PyFloat_AS_DOUBLE(object)))
      return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                               "a float beyond the dtype");
    return emitter.number(dtype, PyFloat_AS_DOUBLE(object));
  }
  capture.guardValue(value);
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow || !holds(dtype, number) ||
      overflows(dtype, static_cast<double>(number)))
    return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                             "an int beyond the dtype");
  return emitter.number(dtype, int64_t{number});
}

std::optional<ExtentId> capture::asExtent(Capture &capture, Value value) {
  if (value.kind == Kind::Scalar) {
    const ScalarRow &row = capture.scalarRow(value);
    if (row.type == ScalarRow::Type::Int && row.extent)
      return *row.extent;
  } else {
    PyObject *object = capture.object(value);
    if (!object || !PyLong_CheckExact(object))
      return std::nullopt;
  }
  std::optional<long long> number = capture.asInt(value);
  if (!number)
    return std::nullopt;
  return capture.graph.constant(*number);
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

std::nullopt_t Call::unsupported(std::string_view why) {
  if (capture.pendingBreak())
    return std::nullopt;
  std::string detail = bound.name;
  if (!why.empty())
    detail.append(": ").append(why);
  return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                           std::move(detail));
}

static bool isExactInt(const Capture &capture, Value value) {
  if (value.kind == Kind::Scalar)
    return capture.scalarRow(value).type == ScalarRow::Type::Int;
  PyObject *object = capture.object(value);
  return object && PyLong_CheckExact(object);
}

Call::Fit Call::accept(const Parameter &parameter, unsigned i, Value value) {
  auto yesUnlessBroke = [&](bool good) {
    if (good)
      return Fit::Yes;
    return capture.pendingBreak() ? Fit::Broke : Fit::No;
  };
  PyObject *object = capture.object(value);
  if (parameter.acceptsNone && object == Py_None) {
    capture.guardValue(value);
    return Fit::Yes; // `values[i]` stays Null.
  }
  switch (parameter.type) {
  case 'O':
    values[i] = value;
    return Fit::Yes;
  case 'X':
    if (object != Py_None && object != Py_False)
      return Fit::No;
    capture.guardValue(value);
    return Fit::Yes;
  case 'N':
    if (!numberType(capture, value))
      return Fit::No;
    values[i] = value;
    return Fit::Yes;
  case 'S':
  case 'A':
    if (numberType(capture, value)) {
      values[i] = value;
      return Fit::Yes;
    }
    if (parameter.type == 'A' && !isTensorLike(capture, value)) {
      values[i] = value;
      return Fit::Yes;
    }
    [[fallthrough]];
  case 'T': {
    if (!isTensorLike(capture, value))
      return Fit::No;
    std::optional<Value> tensor = asTensorLike(capture, value);
    if (!tensor)
      return Fit::Broke;
    if (capture.tensorRow(*tensor).library != bound.library)
      return Fit::No;
    values[i] = *tensor;
    return Fit::Yes;
  }
  case 'I': {
    if (!isExactInt(capture, value))
      return Fit::No;
    std::optional<long long> number = capture.asInt(value);
    if (number) {
      values[i] = value;
      integers[i] = *number;
    }
    return yesUnlessBroke(number.has_value());
  }
  case 'F': {
    if (!isNumber(capture, value))
      return Fit::No;
    std::optional<double> number = capture.asFloat(value);
    if (number) {
      values[i] = value;
      reals[i] = *number;
    }
    return yesUnlessBroke(number.has_value());
  }
  case 'B': {
    if (!object || !PyBool_Check(object))
      return Fit::No;
    std::optional<bool> flag = capture.asBool(value);
    if (flag) {
      values[i] = value;
      integers[i] = *flag;
    }
    return yesUnlessBroke(flag.has_value());
  }
  case 'D': {
    if (!object)
      return Fit::No;
    std::optional<DType> dtype = dtypeOf(object, bound.library);
    if (!dtype)
      return Fit::No;
    capture.guardValue(value);
    values[i] = value;
    integers[i] = static_cast<int64_t>(*dtype);
    return Fit::Yes;
  }
  case 'Z': {
    std::optional<std::string_view> text = capture.asString(value);
    if (text) {
      values[i] = value;
      strings[i] = *text;
    }
    return yesUnlessBroke(text.has_value());
  }
  case 'L':
  case 'V': {
    if (isExactInt(capture, value)) {
      values[i] = value;
      lists[i] = {value};
      return Fit::Yes;
    }
    std::optional<std::vector<Value>> items = capture.asItems(value);
    if (!items)
      return yesUnlessBroke(false);
    for (Value item : *items)
      if (!isExactInt(capture, item))
        return Fit::No;
    values[i] = value;
    lists[i] = std::move(*items);
    return Fit::Yes;
  }
  case 'Q':
  case 'P': {
    std::optional<std::vector<Value>> items = capture.asItems(value);
    if (!items)
      return yesUnlessBroke(false);
    for (Value &item : *items) {
      if (!isTensorLike(capture, item))
        return Fit::No;
      std::optional<Value> tensor = asTensorLike(capture, item);
      if (!tensor)
        return Fit::Broke;
      item = *tensor;
    }
    values[i] = value;
    lists[i] = std::move(*items);
    return Fit::Yes;
  }
  default:
    return Fit::No;
  }
}

/// PyTorch takes NumPy's words for some of its own.
static bool isNamed(const Parameter &parameter, std::string_view keyword,
                    Library library) {
  if (parameter.name == keyword)
    return true;
  if (library != Library::Torch)
    return false;
  return (parameter.name == "dim" && keyword == "axis") ||
         (parameter.name == "keepdim" && keyword == "keepdims");
}

Call::Fit Call::bindOverload(const Overload &overload,
                             const CallArguments &arguments) {
  size_t count = overload.size();
  values.assign(count, Value());
  integers.assign(count, 0);
  reals.assign(count, 0);
  strings.assign(count, {});
  lists.assign(count, {});
  std::vector<bool> bound(count);

  size_t next = 0, position = 0;
  for (; position < arguments.positional.size(); ++position, ++next) {
    if (next >= count || overload[next].keywordOnly)
      return Fit::No;
    const Parameter &parameter = overload[next];
    Value value = arguments.positional[position];
    bool rest = parameter.type == 'V' || parameter.type == 'P';
    bool isItem = parameter.type == 'V' ? isExactInt(capture, value)
                                        : isTensorLike(capture, value);
    if (!rest || !isItem) {
      Fit fit = accept(parameter, static_cast<unsigned>(next), value);
      if (fit != Fit::Yes)
        return fit;
      bound[next] = true;
      continue;
    }
    // The rest of the positional arguments, as items.
    for (; position < arguments.positional.size(); ++position) {
      Value item = arguments.positional[position];
      if (parameter.type == 'V' ? !isExactInt(capture, item)
                                : !isTensorLike(capture, item))
        return Fit::No;
      if (parameter.type == 'P') {
        std::optional<Value> tensor = asTensorLike(capture, item);
        if (!tensor)
          return Fit::Broke;
        item = *tensor;
      }
      lists[next].push_back(item);
    }
    values[next] = lists[next].front();
    bound[next] = true;
    break;
  }
  for (auto [keyword, value] : arguments.keywords) {
    auto found = std::ranges::find_if(overload, [&](const Parameter &p) {
      return isNamed(p, keyword, this->bound.library);
    });
    if (found == overload.end())
      return Fit::No;
    size_t i = found - overload.begin();
    if (bound[i])
      return Fit::No;
    Fit fit = accept(*found, static_cast<unsigned>(i), value);
    if (fit != Fit::Yes)
      return fit;
    bound[i] = true;
  }
  for (size_t i = 0; i < count; ++i)
    if (!bound[i] && !overload[i].optional)
      return Fit::No;
  return Fit::Yes;
}

bool Call::bind(const CallArguments &arguments) {
  this->arguments = &arguments;
  if (bound.row->signature == "...")
    return true;
  for (unsigned i = 0; i < bound.overloads.size(); ++i) {
    chosen = i;
    switch (bindOverload(bound.overloads[i], arguments)) {
    case Fit::Yes:
      return true;
    case Fit::Broke:
      return false;
    case Fit::No:
      break;
    }
  }
  unsupported("these arguments");
  return false;
}

bool Call::integerItems(unsigned i, std::vector<int64_t> &result) {
  for (Value item : lists[i]) {
    std::optional<long long> number = capture.asInt(item);
    if (!number) {
      unsupported("an int");
      return false;
    }
    result.push_back(*number);
  }
  return true;
}

bool Call::extentItems(unsigned i, std::vector<ExtentId> &result,
                       int64_t *inferred) {
  if (inferred)
    *inferred = -1;
  for (Value item : lists[i]) {
    std::optional<ExtentId> extent = asExtent(capture, item);
    if (!extent) {
      unsupported("an extent");
      return false;
    }
    const ExtentExpr &expr = capture.graph.extent(*extent);
    if (expr.kind == ExtentExpr::Kind::Constant && expr.constant < 0) {
      if (!inferred || expr.constant != -1 || *inferred >= 0) {
        unsupported("a negative extent");
        return false;
      }
      *inferred = static_cast<int64_t>(result.size());
    }
    result.push_back(*extent);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The entry of every row
//===----------------------------------------------------------------------===//

std::optional<Value> capture::importRow(Capture &capture,
                                        const CallArguments &arguments,
                                        const void *bound) {
  Call call(capture, *static_cast<const BoundRow *>(bound));
  if (call.bound.row->isOperation && call.bound.library == Library::Torch &&
      !torchIsPlain(capture))
    return std::nullopt;
  // What breaks whatever its arguments are has no signature.
  if (call.bound.row->signature.empty())
    return call.bound.row->build(call);
  if (!call.bind(arguments))
    return std::nullopt;
  std::optional<Value> result = call.bound.row->build(call);
  if (!result && !capture.pendingBreak())
    return call.giveUp();
  return result;
}

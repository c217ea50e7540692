//===- Harness.cpp - Graphs compiled, run and compared ----------*- C++ -*-===//

#include "Harness.h"

#include "wok/Support/ArenaPacker.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

using namespace wok;
using namespace wok::importer;
using namespace wok::test;
using runtime::CompiledSubgraph;
using runtime::Status;
using Extents = std::vector<int64_t>;

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

std::vector<Element> test::edgeValues(DType dtype) {
  std::vector<Element> result;
  if (!isFloat(dtype)) {
    if (dtype == DType::I1)
      return {{.i = 0}, {.i = 1}};
    int bits = static_cast<int>(byteWidth(dtype)) * 8;
    bool isSigned = dtype != DType::U8;
    int64_t greatest =
        static_cast<int64_t>(UINT64_MAX >> (64 - bits + isSigned));
    std::vector<int64_t> values = {0,  1,   2,        3,           7,
                                   63, 100, greatest, greatest - 1};
    if (isSigned)
      for (int64_t value : {-1ll, -2ll, -3ll, -7ll, -100ll})
        values.push_back(value);
    if (isSigned) {
      values.push_back(-greatest - 1);
      values.push_back(-greatest);
    }
    for (int64_t value : values)
      result.push_back({.i = value});
    return result;
  }
  double infinity = std::numeric_limits<double>::infinity();
  double least, normal, greatest;
  switch (dtype) {
  case DType::F64:
    least = 0x1p-1074, normal = 0x1p-1022, greatest = 0x1.fffffffffffffp1023;
    break;
  case DType::F32:
    least = 0x1p-149, normal = 0x1p-126, greatest = 0x1.fffffep127;
    break;
  case DType::F16:
    least = 0x1p-24, normal = 0x1p-14, greatest = 65504;
    break;
  default:
    least = 0x1p-133, normal = 0x1p-126, greatest = 0x1.fep127;
    break;
  }
  for (double value :
       {0.0,       1.0,       0.5,    1.5,      2.0,          2.5,
        3.0,       0.1,       0.75,   1e-3,     3.140625,     7.0,
        10.0,      88.0,      89.0,   104.0,    710.0,        1000.0,
        8388607.5, 131073.0,  1e10,   1e-10,    2147483648.0, 1e20,
        least,     3 * least, normal, greatest, infinity}) {
    double rounded = roundTo(dtype, value);
    result.push_back({.f = rounded});
    result.push_back({.f = -rounded});
  }
  result.push_back({.f = std::numeric_limits<double>::quiet_NaN()});
  return result;
}

static Element randomElement(DType dtype, Fill::Kind kind,
                             std::mt19937_64 &random) {
  Element element;
  double uniform = std::uniform_real_distribution<double>(-1, 1)(random);
  if (kind == Fill::Small)
    element.i = static_cast<int64_t>(random() % 4);
  else if (!isFloat(dtype))
    // All magnitudes.
    element.i = static_cast<int64_t>(random()) >> (random() % 64);
  else
    element.f =
        kind == Fill::Tame
            ? uniform * 2
            : uniform * std::exp2(static_cast<double>(random() % 40) - 20.0);
  if (!isFloat(dtype))
    element.i = wrapTo(dtype, element.i);
  else
    element.f =
        roundTo(dtype, kind == Fill::Small ? static_cast<double>(element.i)
                                           : element.f);
  return element;
}

Tensor test::makeTensor(DType dtype, Extents extents, Fill::Kind kind,
                        unsigned seed) {
  std::mt19937_64 random(seed);
  Tensor tensor(dtype, std::move(extents));
  size_t next = 0;
  std::vector<Element> edges;
  if (kind == Fill::Edges || kind == Fill::Nonzero)
    edges = edgeValues(dtype);
  for (Element &element : tensor.elements) {
    do {
      element = next < edges.size() ? edges[next++]
                                    : randomElement(dtype, kind, random);
    } while (kind == Fill::Nonzero && !isFloat(dtype) && element.i == 0);
  }
  return tensor;
}

void test::allPairs(const std::vector<Element> &values, DType dtype,
                    Tensor &lhs, Tensor &rhs) {
  size_t count = values.size();
  lhs = Tensor(dtype, {static_cast<int64_t>(count * count)});
  rhs = lhs;
  for (size_t i = 0; i < count * count; ++i) {
    lhs.elements[i] = values[i / count];
    rhs.elements[i] = values[i % count];
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

namespace {

void storeElement(std::byte *place, DType dtype, Element element) {
  auto put = [&](auto value) { std::memcpy(place, &value, sizeof(value)); };
  switch (dtype) {
  case DType::I1:
  case DType::I8:
  case DType::U8:
    return put(static_cast<uint8_t>(element.i));
  case DType::I16:
    return put(static_cast<int16_t>(element.i));
  case DType::I32:
    return put(static_cast<int32_t>(element.i));
  case DType::I64:
    return put(element.i);
  case DType::F16:
    return put(static_cast<_Float16>(static_cast<float>(element.f)));
  case DType::BF16: {
    float single = static_cast<float>(element.f);
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof(bits));
    return put(static_cast<uint16_t>(bits >> 16));
  }
  case DType::F32:
    return put(static_cast<float>(element.f));
  case DType::F64:
    return put(element.f);
  }
}

Element loadElement(const std::byte *place, DType dtype) {
  auto get = [&]<class T>(T value) {
    std::memcpy(&value, place, sizeof(value));
    return value;
  };
  switch (dtype) {
  case DType::I1:
  case DType::U8:
    return {.i = get(uint8_t())};
  case DType::I8:
    return {.i = get(int8_t())};
  case DType::I16:
    return {.i = get(int16_t())};
  case DType::I32:
    return {.i = get(int32_t())};
  case DType::I64:
    return {.i = get(int64_t())};
  case DType::F16:
    return {.f = static_cast<double>(get(_Float16()))};
  case DType::BF16: {
    uint32_t bits = static_cast<uint32_t>(get(uint16_t())) << 16;
    float single;
    std::memcpy(&single, &bits, sizeof(single));
    return {.f = single};
  }
  case DType::F32:
    return {.f = get(float())};
  case DType::F64:
    return {.f = get(double())};
  }
  return {};
}

/// Memory between two pages that nobody may touch, filled with a pattern.
class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes) {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    usable = std::max<size_t>((bytes + page - 1) / page, 1) * page;
    total = usable + 2 * page;
    void *mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      throw std::bad_alloc();
    whole = static_cast<std::byte *>(mapped);
    mprotect(whole, page, PROT_NONE);
    mprotect(whole + page + usable, page, PROT_NONE);
    begin = whole + page;
    std::memset(begin, 0xa5, usable);
  }
  ~GuardedMemory() { munmap(whole, total); }
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  std::byte *begin;
  size_t usable;

private:
  std::byte *whole;
  size_t total;
};

/// Memory of a tensor that ends where its page ends, or begins where its page
/// begins: what is read or written beyond is a fault of the process. The rest
/// of the page holds a pattern that nobody may change. The first element is
/// aligned to its own size and, at an end, no more.
class Buffer {
public:
  Buffer(DType dtype, const Extents &extents, Layout layout, bool atEnd)
      : Buffer(dtype, extents, Places(extents, layout), atEnd) {}

  void write(const Tensor &tensor) {
    forAll([&](std::byte *place, size_t i) {
      storeElement(place, dtype, tensor.elements[i]);
    });
    snapshot.assign(memory.begin, memory.begin + memory.usable);
  }
  Tensor read() {
    Tensor tensor(dtype, extents);
    forAll([&](std::byte *place, size_t i) {
      tensor.elements[i] = loadElement(place, dtype);
    });
    return tensor;
  }
  bool isUntouched() const {
    return std::memcmp(memory.begin, snapshot.data(), memory.usable) == 0;
  }
  bool areMarginsUntouched() const {
    for (const std::byte *at = memory.begin; at < memory.begin + memory.usable;
         ++at)
      if ((at < first || at >= first + payload) && *at != std::byte(0xa5))
        return false;
    return true;
  }
  bool holdsTruthValues() const {
    for (size_t i = 0; i < payload; ++i)
      if (first[i] != std::byte(0) && first[i] != std::byte(1))
        return false;
    return true;
  }

  const DType dtype;
  const Extents extents;
  const Extents strides;

private:
  /// Where elements are, in elements.
  struct Places {
    Places(const Extents &extents, Layout layout) : strides(extents.size()) {
      int64_t step = layout == Layout::Gaps ? 3 : 1;
      for (size_t i = 0; i < extents.size(); ++i) {
        size_t dim = layout == Layout::Transposed ? i : extents.size() - 1 - i;
        strides[dim] = step;
        step *= std::max<int64_t>(extents[dim], 1);
        int64_t span = strides[dim] * std::max<int64_t>(extents[dim] - 1, 0);
        count += span;
        if (layout == Layout::Reversed) {
          origin += span;
          strides[dim] = -strides[dim];
        }
      }
      if (countOf(extents) == 0)
        count = 0;
    }
    Extents strides;
    int64_t origin = 0; ///< The place of element 0.
    int64_t count = 1;  ///< Places from the lowest to the highest.
  };

  Buffer(DType dtype, const Extents &extents, const Places &places, bool atEnd)
      : dtype(dtype), extents(extents), strides(places.strides),
        payload(places.count * byteWidth(dtype)), memory(payload),
        first(memory.begin + (atEnd ? memory.usable - payload : 0)),
        data(first + places.origin * byteWidth(dtype)) {}

  template <class Body>
  void forAll(Body body) {
    Extents index(extents.size(), 0);
    int64_t count = countOf(extents);
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = 0;
      for (size_t dim = 0; dim < index.size(); ++dim)
        offset += index[dim] * strides[dim];
      body(data + offset * static_cast<int64_t>(byteWidth(dtype)), i);
      for (size_t dim = index.size(); dim-- > 0;) {
        if (++index[dim] < extents[dim])
          break;
        index[dim] = 0;
      }
    }
  }

  const size_t payload;
  GuardedMemory memory;
  std::byte *const first;
  std::vector<std::byte> snapshot;

public:
  /// Element 0.
  std::byte *const data;
};

std::string show(DType dtype, Element element) {
  if (!isFloat(dtype))
    return std::to_string(element.i);
  char text[64];
  std::snprintf(text, sizeof(text), "%.9g (%a)", element.f, element.f);
  return text;
}

bool agrees(DType dtype, Element got, Element want, double slack,
            const Tolerance &tolerance) {
  if (!isFloat(dtype))
    return got.i == want.i ||
           std::fabs(double(got.i) - double(want.i)) <= tolerance.absolute;
  if (std::isnan(want.f) || std::isnan(got.f))
    return std::isnan(want.f) && std::isnan(got.f);
  if (got.f == want.f)
    return got.f != 0 || !tolerance.signOfZero || slack > 0 ||
           std::signbit(got.f) == std::signbit(want.f);
  double allowed = slack + tolerance.absolute +
                   tolerance.ulps * ulpOf(dtype, want.f) +
                   tolerance.relative * std::fabs(want.f);
  // What rounds to infinity may stop at the greatest number, and back.
  if (std::isinf(got.f) || std::isinf(want.f))
    return allowed > 0 &&
           std::fabs(std::isinf(got.f) ? want.f : got.f) >=
               (dtype == DType::F16   ? 65472.0
                : dtype == DType::F64 ? 0x1.ffffffffffff0p1023
                                      : 0x1.fcp127) &&
           std::signbit(got.f) == std::signbit(want.f);
  return std::fabs(got.f - want.f) <= allowed;
}

} // namespace

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

ValueId CompilerTest::input(DType dtype, Extents extents, bool strided) {
  return graph.addInput({dtype, b.extents(extents)}, strided);
}

ValueId CompilerTest::symbolicInput(DType dtype, Extents extents,
                                    bool strided) {
  auto id = static_cast<ValueId>(graph.allNodes().size());
  std::vector<ExtentId> ids;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    ids.push_back(extents[dim] < 0
                      ? graph.symbol(id, static_cast<uint32_t>(dim))
                      : graph.constant(extents[dim]));
  return graph.addInput({dtype, std::move(ids)}, strided);
}

Compiler &CompilerTest::compiler() {
  // One for each target, for all tests: making one takes longer than a compile.
  static std::map<std::string, std::unique_ptr<Compiler>> compilers;
  std::unique_ptr<Compiler> &compiler = compilers[target];
  if (!compiler) {
    CompilerOptions options = CompilerOptions::fromEnvironment();
    size_t colon = target.find(':');
    options.cpu = target.substr(0, colon);
    if (colon != std::string::npos)
      options.vectorBytes = std::stoul(target.substr(colon + 1));
    compiler = std::make_unique<Compiler>(options);
  }
  return *compiler;
}

std::shared_ptr<const CompiledSubgraph> CompilerTest::compile() {
  std::string name =
      testing::UnitTest::GetInstance()->current_test_info()->name();
  auto code = compiler().compile(graph, name);
  if (code)
    return *code;
  std::string error = llvm::toString(code.takeError());
  if (error.find("cannot run here") == std::string::npos)
    ADD_FAILURE() << error;
  return nullptr;
}

std::vector<Tensor> CompilerTest::run(const CompiledSubgraph &code,
                                      const std::vector<Tensor> &inputs,
                                      Status &status, Layout layout) {
  std::vector<int64_t> values = evaluateExtents(graph, inputs);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<void *> data;
  std::vector<int64_t> dims;
  // Each buffer of the next run is at the other end of its page.
  static unsigned place = 0;
  ++place;
  EXPECT_EQ(code.inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(code.inputs[i].dtype, inputs[i].dtype);
    Layout own = code.inputs[i].strided ? layout : Layout::Dense;
    buffers.push_back(std::make_unique<Buffer>(
        inputs[i].dtype, inputs[i].extents, own, (place + i) % 2));
    buffers.back()->write(inputs[i]);
    data.push_back(buffers.back()->data);
    dims.insert(dims.end(), inputs[i].extents.begin(), inputs[i].extents.end());
    dims.insert(dims.end(), buffers.back()->strides.begin(),
                buffers.back()->strides.end());
  }

  // Extents of outputs and sizes of transients, if they depend on the inputs.
  std::vector<int64_t> computed, bytes;
  if (code.shape) {
    size_t total = 0;
    for (const runtime::TensorSpec &spec : code.outputs)
      total += spec.extents.size();
    computed.resize(total + 1, -77);
    bytes.resize(code.transients.size() + 1, -77);
    code.shape(dims.data(), computed.data(), bytes.data());
    EXPECT_EQ(computed.back(), -77) << "the shape function writes too much";
    EXPECT_EQ(bytes.back(), -77) << "the shape function writes too much";
  }
  size_t next = 0;
  EXPECT_EQ(code.outputs.size(), graph.outputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const TensorType &type = graph.type(graph.outputs[i]);
    Extents extents;
    for (size_t dim = 0; dim < type.extents.size(); ++dim) {
      extents.push_back(values[type.extents[dim]]);
      if (code.shape) {
        EXPECT_EQ(computed[next++], extents.back()) << "output " << i;
      } else {
        EXPECT_EQ(code.outputs[i].extents[dim], extents.back())
            << "output " << i;
      }
    }
    buffers.push_back(std::make_unique<Buffer>(type.dtype, extents,
                                               Layout::Dense, (place + i) % 2));
    data.push_back(buffers.back()->data);
    dims.insert(dims.end(), extents.begin(), extents.end());
  }

  int64_t arenaBytes = code.arenaBytes;
  std::vector<int64_t> offsets;
  if (code.shape && !code.transients.empty()) {
    std::vector<ArenaRequest> requests = code.transients;
    for (size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].bytes == runtime::dynamicExtent)
        requests[i].bytes = bytes[i];
      EXPECT_EQ(requests[i].bytes, bytes[i]);
    }
    ArenaLayout layout = packArena(requests, runtime::arenaAlignment);
    offsets = layout.offsets;
    arenaBytes = layout.bytes;
  }
  size_t room = (arenaBytes + 63) / 64 * 64;
  GuardedMemory pages(room);
  std::byte *arena = pages.begin + pages.usable - room;
  // NaN in every float type, to find what is read before it is written.
  std::memset(pages.begin, 0xff, pages.usable);

  status = static_cast<Status>(
      code.entry(data.data(), dims.data(), arenaBytes ? arena : nullptr,
                 offsets.empty() ? nullptr : offsets.data()));

  for (size_t i = 0; i < pages.usable; ++i)
    if ((pages.begin + i < arena || pages.begin + i >= arena + arenaBytes) &&
        pages.begin[i] != std::byte(0xff)) {
      ADD_FAILURE() << "written outside the arena";
      break;
    }
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(buffers[i]->isUntouched()) << "input " << i << " was written";
  std::vector<Tensor> outputs;
  for (size_t i = inputs.size(); i < buffers.size(); ++i) {
    EXPECT_TRUE(buffers[i]->areMarginsUntouched())
        << "written outside output " << i - inputs.size();
    if (buffers[i]->dtype == DType::I1 && status == Status::Ok)
      EXPECT_TRUE(buffers[i]->holdsTruthValues());
    outputs.push_back(buffers[i]->read());
  }
  return outputs;
}

void CompilerTest::checkWith(const CompiledSubgraph *code,
                             const std::vector<Tensor> &inputs,
                             const std::vector<Tolerance> &tolerances,
                             const std::vector<std::string> &names,
                             Layout layout) {
  if (!code)
    return;
  Status wanted, status;
  std::vector<Tensor> want = interpret(graph, inputs, wanted);
  std::vector<Tensor> got = run(*code, inputs, status, layout);
  ASSERT_EQ(static_cast<int>(status), static_cast<int>(wanted));
  if (wanted != Status::Ok)
    return;
  for (size_t output = 0; output < want.size(); ++output) {
    const Tolerance &tolerance =
        tolerances.empty()
            ? Tolerance()
            : tolerances[std::min(output, tolerances.size() - 1)];
    DType dtype = want[output].dtype;
    int shown = 0;
    for (size_t i = 0; i < want[output].elements.size() && shown < 5; ++i) {
      double slack = want[output].slack.empty() ? 0 : want[output].slack[i];
      Element x = got[output].elements[i], y = want[output].elements[i];
      if (agrees(dtype, x, y, slack, tolerance))
        continue;
      std::string from;
      for (const Tensor &input : inputs)
        if (input.elements.size() == want[output].elements.size())
          from += " " + show(input.dtype, input.elements[i]);
      ADD_FAILURE() << (output < names.size()
                            ? names[output]
                            : "output " + std::to_string(output))
                    << " " << toString(dtype) << " [" << i << " of "
                    << want[output].elements.size() << "] of" << from
                    << ": got " << show(dtype, x) << ", want "
                    << show(dtype, y);
      ++shown;
    }
  }
}

void CompilerTest::check(const std::vector<Tensor> &inputs,
                         const Tolerance &tolerance, Layout layout) {
  auto code = compile();
  checkWith(code.get(), inputs, {tolerance}, {}, layout);
}

//===- ElementwiseTest.cpp - Every elementwise operation --------*- C++ -*-===//

#include "Harness.h"

using namespace wok;
using namespace wok::importer;
using namespace wok::test;

namespace {

struct ElementwiseTest : TargetTest {
  /// Runs the graph on `inputs` and on their first 0, 1, 7 and 33 elements, the
  /// latter through code with a symbolic extent. `build` appends operations
  /// to the inputs and sets the outputs.
  template <class Build>
  void checkAllSizes(const std::vector<Tensor> &inputs,
                     const std::vector<Tolerance> &tolerances,
                     const std::vector<std::string> &names, Build build) {
    reset();
    std::vector<ValueId> values;
    for (const Tensor &tensor : inputs)
      values.push_back(input(tensor.dtype, tensor.extents));
    build(values);
    checkWith(compile().get(), inputs, tolerances, names);

    reset();
    ExtentId n = graph.symbol(0, 0);
    values.clear();
    for (const Tensor &tensor : inputs)
      values.push_back(graph.addInput({tensor.dtype, {n}}, false));
    build(values);
    auto code = compile();
    for (int64_t size : {0, 1, 7, 33}) {
      std::vector<Tensor> some;
      for (const Tensor &tensor : inputs) {
        some.emplace_back(tensor.dtype, std::vector{size});
        std::copy_n(tensor.elements.begin() + 3, size,
                    some.back().elements.begin());
      }
      SCOPED_TRACE("size " + std::to_string(size));
      checkWith(code.get(), some, tolerances, names);
    }
  }
};

/// An operation, and by how many units it may differ from the right result.
struct Row {
  const char *name;
  double ulps = 0;
};

TEST_P(ElementwiseTest, FloatUnary) {
  const Row rows[] = {{"neg"},    {"abs"},       {"sign"},     {"floor"},
                      {"ceil"},   {"round"},     {"trunc"},    {"sqrt"},
                      {"rsqrt"},  {"exp", 1},    {"exp2", 1},  {"expm1", 1},
                      {"log", 1}, {"log2", 1},   {"log10", 1}, {"log1p", 1},
                      {"sin", 1}, {"cos", 1},    {"tan", 1},   {"tanh", 1},
                      {"erf", 1}, {"sigmoid", 3}};
  for (DType dtype : floatDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    Tensor x = makeTensor(dtype, {1003}, Fill::Edges, 1);
    // A few operations a kernel: what one gets wrong does not hide the rest.
    for (size_t begin = 0; begin < std::size(rows); begin += 6) {
      std::span some(rows + begin, std::min(rows + begin + 6, std::end(rows)));
      std::vector<Tolerance> tolerances;
      std::vector<std::string> names;
      for (const Row &row : some) {
        names.push_back(row.name);
        tolerances.push_back({.ulps = row.ulps});
      }
      checkAllSizes({x}, tolerances, names, [&](std::vector<ValueId> v) {
        for (const Row &row : some)
          graph.outputs.push_back(b.unary(row.name, v[0]).value());
      });
    }
    checkAllSizes({x}, {}, {"is_nan"}, [&](std::vector<ValueId> v) {
      graph.outputs = {b.unary("is_nan", v[0]).value()};
    });
  }
}

TEST_P(ElementwiseTest, IntegerUnary) {
  for (DType dtype :
       {DType::I1, DType::I8, DType::U8, DType::I16, DType::I32, DType::I64}) {
    SCOPED_TRACE(std::string(toString(dtype)));
    std::vector<std::string> names = {"not"};
    if (dtype != DType::I1)
      names.insert(names.end(), {"neg", "abs", "sign"});
    checkAllSizes({makeTensor(dtype, {1003}, Fill::Edges, 2)}, {}, names,
                  [&](std::vector<ValueId> v) {
                    for (const std::string &name : names)
                      graph.outputs.push_back(b.unary(name, v[0]).value());
                  });
  }
}

TEST_P(ElementwiseTest, FloatBinary) {
  const Row rows[] = {{"add"},    {"sub"},      {"mul"},  {"div"},
                      {"min"},    {"max"},      {"fmod"}, {"remainder"},
                      {"pow", 1}, {"floor_div"}};
  for (DType dtype : floatDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    Tensor lhs(dtype, {}), rhs(dtype, {});
    allPairs(edgeValues(dtype), dtype, lhs, rhs);
    for (const Row &row : rows)
      checkAllSizes({lhs, rhs}, {{.ulps = row.ulps}}, {row.name},
                    [&](std::vector<ValueId> v) {
                      graph.outputs = {b.binary(row.name, v[0], v[1]).value()};
                    });
    // Where exponents differ little, and results are no corners.
    lhs = makeTensor(dtype, {1000}, Fill::Tame, 3);
    rhs = makeTensor(dtype, {1000}, Fill::Tame, 4);
    std::vector<Tolerance> tolerances;
    std::vector<std::string> names;
    for (const Row &row : rows) {
      tolerances.push_back({.ulps = row.ulps});
      names.push_back(row.name);
    }
    checkAllSizes({lhs, rhs}, tolerances, names, [&](std::vector<ValueId> v) {
      for (const Row &row : rows)
        graph.outputs.push_back(b.binary(row.name, v[0], v[1]).value());
    });
  }
}

TEST_P(ElementwiseTest, IntegerBinary) {
  for (DType dtype : integerDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    Tensor lhs(dtype, {}), rhs(dtype, {});
    auto checkThese = [&](std::vector<std::string> names) {
      checkAllSizes({lhs, rhs}, {}, names, [&](std::vector<ValueId> v) {
        for (const std::string &name : names)
          graph.outputs.push_back(b.binary(name, v[0], v[1]).value());
      });
    };
    allPairs(edgeValues(dtype), dtype, lhs, rhs);
    checkThese({"add", "sub", "mul", "min", "max"});
    checkThese({"and", "or", "xor", "shl", "shr"});
    checkThese({"pow"});
    // Divisors that are not 0.
    std::vector<Element> some = edgeValues(dtype);
    std::erase_if(some, [](Element element) { return element.i == 0; });
    allPairs(some, dtype, lhs, rhs);
    checkThese({"div", "floor_div", "remainder", "fmod"});
  }
  Tensor lhs(DType::I1, {}), rhs(DType::I1, {});
  std::vector<Element> bits;
  for (int i = 0; i < 40; ++i)
    bits.push_back({.i = (i * 5 / 3) & 1});
  allPairs(bits, DType::I1, lhs, rhs);
  checkAllSizes({lhs, rhs}, {}, {"and", "or", "xor"},
                [&](std::vector<ValueId> v) {
                  for (const char *name : {"and", "or", "xor"})
                    graph.outputs.push_back(b.binary(name, v[0], v[1]).value());
                });
}

TEST_P(ElementwiseTest, DivisionByZeroIsAStatus) {
  for (DType dtype : integerDTypes)
    for (const char *op : {"div", "floor_div", "remainder", "fmod"}) {
      SCOPED_TRACE(std::string(op) + " " + std::string(toString(dtype)));
      Tensor x = makeTensor(dtype, {100}, Fill::Edges, 5);
      Tensor y = makeTensor(dtype, {100}, Fill::Nonzero, 6);
      checkAllSizes({x, y}, {}, {op}, [&](std::vector<ValueId> v) {
        graph.outputs = {b.binary(op, v[0], v[1]).value()};
      });
      // In a vector and in the tail.
      for (size_t place : {5, 99}) {
        Tensor zero = y;
        zero.elements[place].i = 0;
        reset();
        ValueId a = input(dtype, {100}), d = input(dtype, {100});
        graph.outputs = {b.binary(op, a, d).value()};
        check({x, zero});
      }
    }
}

TEST_P(ElementwiseTest, Compare) {
  for (DType dtype : allDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    Tensor lhs(dtype, {}), rhs(dtype, {});
    allPairs(edgeValues(dtype), dtype, lhs, rhs);
    if (dtype == DType::I1) {
      lhs = makeTensor(dtype, {100}, Fill::Small, 7);
      rhs = makeTensor(dtype, {100}, Fill::Small, 8);
    }
    const char *predicates[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    checkAllSizes(
        {lhs, rhs}, {}, {std::begin(predicates), std::end(predicates)},
        [&](std::vector<ValueId> v) {
          for (const char *predicate : predicates)
            graph.outputs.push_back(b.compare(predicate, v[0], v[1]).value());
        });
  }
}

TEST_P(ElementwiseTest, Select) {
  for (DType dtype : allDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    checkAllSizes({makeTensor(DType::I1, {1003}, Fill::Small, 9),
                   makeTensor(dtype, {1003}, Fill::Edges, 10),
                   makeTensor(dtype, {1003}, Fill::Tame, 11)},
                  {}, {"select"}, [&](std::vector<ValueId> v) {
                    graph.outputs = {b.select(v[0], v[1], v[2]).value()};
                  });
  }
}

TEST_P(ElementwiseTest, FmaRoundsOnce) {
  for (DType dtype : floatDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    Tensor x(dtype, {}), y(dtype, {});
    allPairs(edgeValues(dtype), dtype, x, y);
    Tensor z = makeTensor(dtype, x.extents, Fill::Edges, 12);
    checkAllSizes({x, y, z}, {}, {"fma"}, [&](std::vector<ValueId> v) {
      graph.outputs = {b.fma(v[0], v[1], v[2]).value()};
    });
    // A product that nearly cancels the sum.
    x = makeTensor(dtype, {1000}, Fill::Tame, 13);
    y = makeTensor(dtype, {1000}, Fill::Tame, 14);
    z = Tensor(dtype, {1000});
    for (size_t i = 0; i < 1000; ++i)
      z.elements[i].f = roundTo(dtype, -x.elements[i].f * y.elements[i].f);
    checkAllSizes({x, y, z}, {}, {"fma", "mul and add"},
                  [&](std::vector<ValueId> v) {
                    ValueId product = b.binary("mul", v[0], v[1]).value();
                    graph.outputs = {b.fma(v[0], v[1], v[2]).value(),
                                     b.binary("add", product, v[2]).value()};
                  });
  }
}

TEST_P(ElementwiseTest, Cast) {
  for (DType from : allDTypes) {
    SCOPED_TRACE("from " + std::string(toString(from)));
    std::vector<std::string> names;
    for (DType to : allDTypes)
      names.push_back("to " + std::string(toString(to)));
    checkAllSizes(
        {makeTensor(from, {1003}, Fill::Edges, 15)}, {}, names,
        [&](std::vector<ValueId> v) {
          for (DType to : allDTypes)
            if (to != from)
              graph.outputs.push_back(b.cast(v[0], to).value());
            else
              // An output is no input: it takes an operation.
              graph.outputs.push_back(
                  b.select(b.compare("eq", v[0], v[0]).value(), v[0], v[0])
                      .value());
        });
  }
}

// Each operation of a chain rounds: nothing is kept in a wider type.
TEST_P(ElementwiseTest, ChainsRoundEveryStep) {
  for (DType dtype : floatDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    checkAllSizes({makeTensor(dtype, {1003}, Fill::Tame, 16),
                   makeTensor(dtype, {1003}, Fill::Tame, 17)},
                  {}, {"chain"}, [&](std::vector<ValueId> v) {
                    ValueId t = v[0];
                    for (int i = 0; i < 5; ++i) {
                      t = b.binary("mul", t, v[1]).value();
                      t = b.binary("add", t, v[0]).value();
                      t = b.binary("sub", t, v[1]).value();
                    }
                    graph.outputs = {t};
                  });
  }
}

TEST_P(ElementwiseTest, ConstantsAndScalars) {
  for (DType dtype :
       {DType::F32, DType::F64, DType::BF16, DType::I32, DType::U8}) {
    SCOPED_TRACE(std::string(toString(dtype)));
    reset();
    ValueId x = input(dtype, {5, 9}), s = input(dtype, {});
    std::vector<ExtentId> extents = b.type(x).extents;
    ValueId scaled =
        b.binary("mul", x, b.broadcastTo(s, extents).value()).value();
    ValueId three =
        isFloat(dtype) ? b.constant(dtype, 3.1) : b.constant(dtype, 3);
    graph.outputs = {
        b.binary("add", scaled, b.broadcastTo(three, extents).value()).value(),
        b.binary("add", s, three).value()};
    check({makeTensor(dtype, {5, 9}, Fill::Tame, 18),
           makeTensor(dtype, {}, Fill::Tame, 19)});
  }
}

TEST_P(ElementwiseTest, StridedInputs) {
  for (DType dtype : {DType::F32, DType::I64, DType::U8, DType::BF16}) {
    for (Layout layout :
         {Layout::Dense, Layout::Transposed, Layout::Gaps, Layout::Reversed}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " layout " +
                   std::to_string(static_cast<int>(layout)));
      reset();
      ValueId x = input(dtype, {6, 5, 19}, /*strided=*/true);
      ValueId y = input(dtype, {6, 5, 19});
      graph.outputs = {b.binary("add", x, y).value()};
      check({makeTensor(dtype, {6, 5, 19}, Fill::Tame, 20),
             makeTensor(dtype, {6, 5, 19}, Fill::Tame, 21)},
            {}, layout);

      reset();
      x = symbolicInput(dtype, {-1, -1}, /*strided=*/true);
      graph.outputs = {b.binary("mul", x, x).value()};
      auto code = compile();
      for (std::vector<int64_t> extents :
           {std::vector<int64_t>{3, 40}, {1, 1}, {0, 4}, {40, 3}})
        checkWith(code.get(), {makeTensor(dtype, extents, Fill::Tame, 22)}, {},
                  {}, layout);
    }
  }
}

// Large enough that several threads share it.
TEST_P(ElementwiseTest, ManyElements) {
  int64_t count = 1 << 17 | 13;
  ValueId x = symbolicInput(DType::F32, {-1});
  graph.outputs = {b.binary("mul", b.unary("sqrt", x).value(), x).value()};
  check({makeTensor(DType::F32, {count}, Fill::Tame, 23)});
}

WOK_FOR_ALL_TARGETS(ElementwiseTest);

} // namespace

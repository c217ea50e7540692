//===- DimGroups.cpp ------------------------------------------------------===//

#include "DimGroups.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace wok;

static unsigned rankOf(Value tensor) {
  return cast<ShapedType>(tensor.getType()).getRank();
}

DimGroups::DimGroups(FusionOp fusion,
                     function_ref<bool(Value, unsigned)> mergesInMemory) {
  unsigned next = 0;
  auto add = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    firstId[value] = next;
    for (unsigned dim = 0; dim + 1 < rankOf(value); ++dim)
      classes.insert(next++);
  };
  Block &body = fusion.getBody().front();
  for (Value argument : body.getArguments())
    add(argument);
  for (Operation &op : body.without_terminator())
    for (Value result : op.getResults())
      add(result);

  for (Value argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      for (unsigned dim = 0; dim + 1 < rankOf(argument); ++dim)
        if (!mergesInMemory(argument, dim))
          forbid(argument, dim);
  for (Operation &op : body.without_terminator())
    visit(&op);
  for (unsigned pair : forbidden)
    forbiddenLeaders.insert(classes.getLeaderValue(pair));
}

unsigned DimGroups::id(Value tensor, unsigned dim) const {
  return firstId.lookup(tensor) + dim;
}

void DimGroups::equate(Value a, unsigned dimA, Value b, unsigned dimB) {
  classes.unionSets(id(a, dimA), id(b, dimB));
}

void DimGroups::forbid(Value tensor, unsigned dim) {
  forbidden.push_back(id(tensor, dim));
}

bool DimGroups::merges(Value tensor, unsigned dim) const {
  return !forbiddenLeaders.contains(classes.getLeaderValue(id(tensor, dim)));
}

SmallVector<SmallVector<unsigned>>
DimGroups::groups(ArrayRef<Value> tensors, ArrayRef<unsigned> dims) const {
  SmallVector<SmallVector<unsigned>> result;
  for (unsigned dim : dims) {
    bool joins = !result.empty() && result.back().back() + 1 == dim &&
                 llvm::all_of(tensors, [&](Value tensor) {
                   return merges(tensor, dim - 1);
                 });
    if (joins)
      result.back().push_back(dim);
    else
      result.push_back({dim});
  }
  // The index of a group stands at its last dimension, which therefore must not
  // be a unit one: those are read at 0 whatever their index is.
  if (!tensors.empty()) {
    auto type = cast<ShapedType>(tensors.front().getType());
    auto isLonger = [&](unsigned dim) { return type.getDimSize(dim) != 1; };
    for (SmallVector<unsigned> &group : result) {
      auto last = std::find_if(group.rbegin(), group.rend(), isLonger);
      if (last != group.rend())
        std::rotate(group.begin(), last.base(), group.end());
    }
  }
  return result;
}

void DimGroups::relate(Value operand, Value result, ArrayRef<int64_t> source) {
  SmallVector<bool> used(rankOf(operand), false);
  for (unsigned dim = 0; dim + 1 < source.size(); ++dim) {
    int64_t a = source[dim], b = source[dim + 1];
    if (a < 0 && b < 0)
      continue;
    if (a >= 0 && b == a + 1) {
      equate(operand, a, result, dim);
      used[a] = true;
    } else {
      forbid(result, dim);
    }
  }
  for (unsigned dim = 0; dim + 1 < rankOf(operand); ++dim)
    if (!used[dim])
      forbid(operand, dim);
}

void DimGroups::visit(Operation *op) {
  auto reduced = [&](Value operand, Value result, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> source;
    for (unsigned dim = 0; dim < rankOf(operand); ++dim)
      if (!llvm::is_contained(dims, dim))
        source.push_back(dim);
    for (unsigned dim = 0; dim + 1 < source.size(); ++dim) {
      if (source[dim + 1] == source[dim] + 1)
        equate(operand, source[dim], result, dim);
      else
        forbid(result, dim);
    }
    for (unsigned dim = 0; dim + 1 < rankOf(operand); ++dim)
      if (llvm::is_contained(dims, dim) != llvm::is_contained(dims, dim + 1))
        forbid(operand, dim);
  };
  auto identity = [](unsigned rank) {
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  };
  auto sizeOf = [](Value tensor, unsigned dim) {
    return cast<ShapedType>(tensor.getType()).getDimSize(dim);
  };

  llvm::TypeSwitch<Operation *>(op)
      .Case([&](TransposeOp op) {
        relate(op.getOperand(), op.getResult(), op.getPermutation());
      })
      .Case([&](BroadcastOp op) {
        SmallVector<int64_t> source(rankOf(op.getResult()), -1);
        for (auto [from, to] : llvm::enumerate(op.getDims())) {
          bool repeats = sizeOf(op.getOperand(), from) == 1 &&
                         sizeOf(op.getResult(), to) != 1;
          if (!repeats)
            source[to] = from;
        }
        relate(op.getOperand(), op.getResult(), source);
      })
      .Case([&](SliceOp op) {
        // Only dimensions that are taken whole.
        auto isWhole = [&](unsigned dim) {
          int64_t size = op.getSizes()[dim];
          return op.getOffsets()[dim] == 0 && op.getStrides()[dim] == 1 &&
                 ShapedType::isStatic(size) &&
                 size == sizeOf(op.getOperand(), dim);
        };
        for (unsigned dim = 0; dim + 1 < rankOf(op.getResult()); ++dim) {
          if (isWhole(dim) && isWhole(dim + 1)) {
            equate(op.getOperand(), dim, op.getResult(), dim);
          } else {
            forbid(op.getOperand(), dim);
            forbid(op.getResult(), dim);
          }
        }
      })
      .Case([&](ReshapeOp op) {
        // Dropped or added unit dimensions keep the others.
        auto nonUnit = [&](Value tensor) {
          SmallVector<unsigned> dims;
          for (unsigned dim = 0; dim < rankOf(tensor); ++dim)
            if (sizeOf(tensor, dim) != 1)
              dims.push_back(dim);
          return dims;
        };
        SmallVector<unsigned> from = nonUnit(op.getOperand());
        SmallVector<unsigned> to = nonUnit(op.getResult());
        bool same = from.size() == to.size();
        for (unsigned i = 0; same && i < from.size(); ++i) {
          int64_t size = sizeOf(op.getOperand(), from[i]);
          same = size == sizeOf(op.getResult(), to[i]) &&
                 (ShapedType::isStatic(size) || from.size() == 1);
        }
        // What a unit dimension holds does not matter: it is never joined.
        SmallVector<int64_t> source(rankOf(op.getResult()), -2);
        if (same)
          for (auto [a, b] : llvm::zip(from, to))
            source[b] = a;
        for (unsigned dim = 0; dim + 1 < source.size(); ++dim) {
          if (source[dim] >= 0 && source[dim + 1] == source[dim] + 1)
            equate(op.getOperand(), source[dim], op.getResult(), dim);
          else
            forbid(op.getResult(), dim);
        }
        for (unsigned dim = 0; dim + 1 < rankOf(op.getOperand()); ++dim) {
          auto at = llvm::find(source, dim), next = llvm::find(source, dim + 1);
          if (at == source.end() || next != at + 1)
            forbid(op.getOperand(), dim);
        }
      })
      .Case([&](PadOp op) {
        auto isWhole = [&](unsigned dim) {
          return op.getLow()[dim] == 0 && op.getHigh()[dim] == 0;
        };
        for (unsigned dim = 0; dim + 1 < rankOf(op.getResult()); ++dim) {
          if (isWhole(dim) && isWhole(dim + 1)) {
            equate(op.getOperand(), dim, op.getResult(), dim);
          } else {
            forbid(op.getOperand(), dim);
            forbid(op.getResult(), dim);
          }
        }
      })
      .Case([&](ConcatOp op) {
        for (Value operand : op.getOperands())
          for (unsigned dim = 0; dim + 1 < rankOf(op.getResult()); ++dim) {
            if (dim == op.getDim() || dim + 1 == op.getDim()) {
              forbid(operand, dim);
              forbid(op.getResult(), dim);
            } else {
              equate(operand, dim, op.getResult(), dim);
            }
          }
      })
      .Case([&](GatherOp op) {
        unsigned at = op.getDim(), rank = rankOf(op.getIndices());
        unsigned resultRank = rankOf(op.getResult());
        SmallVector<int64_t> data, indices(resultRank, -1);
        for (unsigned dim = 0; dim < resultRank; ++dim) {
          bool isIndex = dim >= at && dim < at + rank;
          // Far apart, so that nothing is adjacent across the indices.
          data.push_back(isIndex    ? -1
                         : dim < at ? int64_t(dim)
                                    : int64_t(dim) - rank + 1);
          if (isIndex)
            indices[dim] = dim - at;
        }
        relate(op.getOperand(), op.getResult(), data);
        for (unsigned dim = 0; dim + 1 < rank; ++dim)
          equate(op.getIndices(), dim, op.getResult(), at + dim);
      })
      .Case([&](IotaOp op) {
        for (unsigned dim = 0; dim + 1 < rankOf(op.getResult()); ++dim)
          if (dim == op.getDim() || dim + 1 == op.getDim())
            forbid(op.getResult(), dim);
      })
      .Case([&](ReduceOp op) {
        reduced(op.getOperand(), op.getResult(), op.getDims());
      })
      .Case([&](ArgReduceOp op) {
        int64_t dim = op.getDim();
        reduced(op.getOperand(), op.getResult(), dim);
      })
      .Default([&](Operation *op) {
        if (!isa<ElementwiseOpInterface>(op))
          return;
        SmallVector<int64_t> same = identity(rankOf(op->getResult(0)));
        for (Value operand : op->getOperands())
          relate(operand, op->getResult(0), same);
      });
}

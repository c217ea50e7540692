//===- EvaluatorExit.cpp - From the end of a capture to its exit ----------===//
//
// A break goes back to the last state of the outer frame that an exit can make,
// and says for each slot which object it gets, and from where.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Liveness.h"

#include "wok/Import/GraphBuilder.h"

#include <algorithm>
#include <map>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::CallableRow;
using capture::Effect;
using capture::EffectKind;
using capture::Exit;
using capture::IteratorRow;
using capture::noRecipe;
using capture::Recipe;
using capture::RecipeId;
using capture::RecipeKind;
using capture::ScalarRow;
using capture::SequenceRow;
using capture::TableRow;
using capture::TensorRow;

//===----------------------------------------------------------------------===//
// What an exit can make
//===----------------------------------------------------------------------===//

bool Evaluator::canReify(Value value, int depth) const {
  if (depth > 16)
    return false;
  auto all = [&](const std::vector<Value> &values) {
    return std::ranges::all_of(
        values, [&](Value each) { return canReify(each, depth + 1); });
  };
  switch (value.kind) {
  case Kind::Sequence:
    return all(capture.sequenceRow(value).items);
  case Kind::Table:
    return std::ranges::all_of(capture.tableRow(value).entries,
                               [&](const auto &entry) {
                                 return canReify(entry.first, depth + 1) &&
                                        canReify(entry.second, depth + 1);
                               });
  case Kind::Iterator: {
    const IteratorRow &row = state.iterators[value.index];
    return !row.iterable.isNull() && canReify(row.iterable, depth + 1);
  }
  case Kind::Callable: {
    const CallableRow &row = state.callables[value.index];
    if (row.type == CallableRow::Type::Super)
      return false;
    return all({row.function, row.self, row.defaults, row.kwdefaults,
                row.closure, row.annotations});
  }
  case Kind::Cell:
    return canReify(state.cells[value.index].contents, depth + 1);
  case Kind::Instance:
    return false;
  default:
    return true;
  }
}

bool Evaluator::canExit(const Frame &outer) const {
  // Other kinds can always be made.
  if (state.iterators.size() == 0 && state.instances.size() == 0 &&
      state.callables.size() == 0)
    return true;
  auto all = [&](const std::vector<Value> &values) {
    return std::ranges::all_of(values,
                               [&](Value each) { return canReify(each); });
  };
  return all(outer.locals) && all(outer.stack);
}

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

class Evaluator::ExitBuilder {
public:
  explicit ExitBuilder(Evaluator &evaluator)
      : capture(evaluator.capture), state(evaluator.state) {}

  Exit exit;
  /// A container holds itself: no order of recipes makes that.
  bool isCyclic = false;

  RecipeId recipe(Value value);
  bool hasMade(Value value) const {
    return made.contains({value.kind, value.index});
  }
  /// What a storage holds now, as a new tensor.
  RecipeId contents(Value tensor);

private:
  RecipeId add(Recipe recipe) {
    exit.recipes.push_back(std::move(recipe));
    return static_cast<RecipeId>(exit.recipes.size() - 1);
  }
  uint32_t output(importer::ValueId value) {
    capture.graph.outputs.push_back(value);
    return static_cast<uint32_t>(capture.graph.outputs.size() - 1);
  }
  Recipe make(Value value);
  Recipe tensor(const TensorRow &row);
  Recipe scalar(const ScalarRow &row);

  Capture &capture;
  Capture::State &state;
  std::map<std::pair<Kind, uint32_t>, RecipeId> made;
};

static Recipe ofKind(RecipeKind kind) {
  Recipe recipe{};
  recipe.kind = kind;
  return recipe;
}

RecipeId Evaluator::ExitBuilder::recipe(Value value) {
  auto [entry, isNew] = made.try_emplace({value.kind, value.index}, noRecipe);
  if (isNew) {
    Recipe result = make(value);
    RecipeId id = add(std::move(result));
    made[{value.kind, value.index}] = id;
    return id;
  }
  isCyclic |= entry->second == noRecipe;
  return entry->second;
}

Recipe Evaluator::ExitBuilder::tensor(const TensorRow &row) {
  Recipe recipe =
      ofKind(row.numpyScalar ? RecipeKind::NumpyScalar : RecipeKind::Tensor);
  recipe.library = row.library;
  importer::ValueId value = row.value;
  if (!row.strideOrder.empty()) {
    // The output is row-major: its dimensions in the order of memory.
    importer::GraphBuilder builder(capture.graph);
    std::vector<int64_t> permutation(row.strideOrder.begin(),
                                     row.strideOrder.end());
    if (auto inOrder = builder.transpose(value, permutation)) {
      value = *inOrder;
      recipe.strideOrder = row.strideOrder;
    }
  }
  recipe.number = output(value);
  return recipe;
}

RecipeId Evaluator::ExitBuilder::contents(Value value) {
  return add(tensor(capture.tensorRow(value)));
}

Recipe Evaluator::ExitBuilder::scalar(const ScalarRow &row) {
  Recipe recipe = ofKind(RecipeKind::PythonScalar);
  if (row.source != capture::noSource) {
    recipe.kind = RecipeKind::Source;
    recipe.source = row.source;
  } else if (row.extent) {
    recipe.kind = RecipeKind::ExtentInt;
    recipe.number = *row.extent;
  } else {
    recipe.number = output(*row.value);
  }
  return recipe;
}

Recipe Evaluator::ExitBuilder::make(Value value) {
  Recipe result = ofKind(RecipeKind::Null);
  auto operands = [&](std::initializer_list<Value> values) {
    for (Value each : values)
      result.operands.push_back(recipe(each));
  };
  switch (value.kind) {
  case Kind::Null:
    return result;
  case Kind::Known: {
    const capture::KnownRow &row = capture.knownRow(value);
    if (row.source == capture::noSource ||
        capture.sources[row.source].step == Step::Constant) {
      result.kind = RecipeKind::Constant;
      result.object = capture.sources.hold(row.object);
    } else {
      result.kind = RecipeKind::Source;
      result.source = row.source;
    }
    return result;
  }
  case Kind::Tensor: {
    const TensorRow row = capture.tensorRow(value);
    if (row.object) {
      result.kind = RecipeKind::Source;
      result.source = row.source;
      return result;
    }
    if (row.base) {
      result.kind = RecipeKind::View;
      result.library = row.library;
      result.geometry = row.geometry;
      operands({Value{Kind::Tensor, *row.base}});
      return result;
    }
    return tensor(row);
  }
  case Kind::Scalar:
    return scalar(capture.scalarRow(value));
  case Kind::Sequence: {
    const SequenceRow row = capture.sequenceRow(value);
    result.kind = row.type == SequenceRow::Type::Tuple   ? RecipeKind::Tuple
                  : row.type == SequenceRow::Type::List  ? RecipeKind::List
                  : row.type == SequenceRow::Type::Slice ? RecipeKind::Slice
                                                         : RecipeKind::Range;
    result.object = row.structure;
    for (Value item : row.items)
      result.operands.push_back(recipe(item));
    return result;
  }
  case Kind::Table: {
    const TableRow row = capture.tableRow(value);
    bool isSet = row.type == TableRow::Type::Set;
    result.kind = isSet ? RecipeKind::Set : RecipeKind::Dict;
    for (auto [key, item] : row.entries) {
      result.operands.push_back(recipe(key));
      if (!isSet)
        result.operands.push_back(recipe(item));
    }
    return result;
  }
  case Kind::Iterator: {
    const IteratorRow row = state.iterators[value.index];
    result.kind = RecipeKind::Iterator;
    result.number = row.position;
    operands({row.iterable});
    return result;
  }
  case Kind::Callable: {
    const CallableRow row = state.callables[value.index];
    if (row.type == CallableRow::Type::BoundMethod) {
      result.kind = RecipeKind::BoundMethod;
      operands({row.function, row.self});
      return result;
    }
    result.kind = RecipeKind::Function;
    operands({row.code, row.globals, row.defaults, row.kwdefaults, row.closure,
              row.annotations, row.qualname});
    return result;
  }
  case Kind::Cell:
    result.kind = RecipeKind::Cell;
    operands({state.cells[value.index].contents});
    return result;
  case Kind::Instance:
    break; // `canReify` says no.
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Where capture may go on
//===----------------------------------------------------------------------===//

std::vector<int32_t> Evaluator::sitesAfter(int32_t offset) const {
  const Bytecode &bytecode = *frames.front().bytecode;
  std::vector<int32_t> sites;
  auto add = [&](int32_t at) {
    // Not on RESUME or inside of a call group: behind.
    while (const Instruction *next = bytecode.at(at)) {
      if (bytecode.trapLegal(at)) {
        if (std::ranges::find(sites, at) == sites.end())
          sites.push_back(at);
        return;
      }
      if (hasTrait(next->op, Ends))
        return;
      at = next->next;
    }
  };
  const Instruction *instruction = bytecode.at(offset);
  if (!instruction)
    return sites;
  if (hasTrait(instruction->op, CallGroup))
    while (instruction && instruction->op != Op::Call)
      instruction = bytecode.at(instruction->next);
  if (!instruction)
    return sites;
  if (instruction->target >= 0)
    add(instruction->target);
  if (!hasTrait(instruction->op, Ends))
    add(instruction->next);
  return sites;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// Whether a later store to the same cell hides this one: nobody looks in
/// between.
bool Evaluator::isOverwritten(size_t index) const {
  for (size_t i = index + 1; i < state.journal.size(); ++i)
    if (state.journal[i].kind == EffectKind::SetCell &&
        state.journal[i].target == state.journal[index].target)
      return true;
  return false;
}

/// Whether the cell is one that the outer frame has just made, so that only
/// functions of this capture could hold it too.
bool Evaluator::diesWithFrame(Value cell) const {
  if (startOffset != frames.front().bytecode->entry() ||
      cell.kind != Kind::Known)
    return false;
  const capture::KnownRow &row = capture.knownRow(cell);
  if (row.source == capture::noSource)
    return false;
  const capture::Source &source = capture.sources[row.source];
  if (source.step != Step::Local)
    return false;
  char kind = PyBytes_AS_STRING(view.code->co_localspluskinds)[source.arg];
  return (kind & 0x40) != 0; // CO_FAST_CELL
}

CaptureOutcome Evaluator::finish() {
  CaptureOutcome outcome;
  outcome.why = capture.pendingBreak().value_or(BreakInfo{});
  if (const char *file = PyUnicode_AsUTF8(frames.back().code->co_filename))
    outcome.why.file = file;
  PyErr_Clear();
  if (!lastExit)
    return outcome;

  restore(*lastExit);
  Frame &outer = frames.front();
  int32_t offset = outer.offset;
  bool loopsBack = offset == startOffset && instructions > 1 && !ended &&
                   outcome.why.reason == Reason::LoopBudget;
  outcome.sites = loopsBack ? std::vector<int32_t>{offset} : sitesAfter(offset);
  if (state.operations.empty()) {
    // Nothing to compile; a loop without operations is left alone.
    if (loopsBack)
      outcome.sites.clear();
    return outcome;
  }

  ExitBuilder builder(*this);
  Exit &exit = builder.exit;
  exit.resumeOffset = offset;
  exit.returns = outer.bytecode->at(offset)->op == Op::ReturnValue;
  bool keepAll = keepsAllLocals(outer.code);
  std::vector<bool> live = liveLocals(*outer.bytecode, outer.code, offset);
  std::vector<uint32_t> dead;
  for (uint32_t slot = 0; slot < outer.locals.size(); ++slot) {
    if (!touched[slot])
      continue;
    Value now = outer.locals[slot];
    PyObject *before = view.localsplus[slot];
    SourceId source = capture.sources.get(Step::Local, capture::noSource, slot);
    auto initial = state.bySource.find(source);
    bool unchanged =
        before ? initial != state.bySource.end() && initial->second == now
               : now.isNull();
    if (unchanged)
      continue;
    if (keepAll || live[slot])
      exit.locals.push_back({slot, builder.recipe(now)});
    else
      dead.push_back(slot);
  }
  for (Value value : outer.stack)
    exit.stack.push_back(builder.recipe(value));
  for (size_t i = 0; i < state.journal.size(); ++i) {
    const capture::JournalEntry &entry = state.journal[i];
    if (entry.kind == EffectKind::SetCell &&
        (isOverwritten(i) || (exit.returns && diesWithFrame(entry.target) &&
                              !builder.hasMade(entry.target))))
      continue;
    Effect effect{};
    effect.kind = entry.kind;
    effect.target = builder.recipe(entry.target);
    if (!entry.key.isNull())
      effect.key = builder.recipe(entry.key);
    effect.value = entry.kind == EffectKind::TensorWrite
                       ? builder.contents(entry.value)
                       : builder.recipe(entry.value);
    exit.effects.push_back(effect);
  }
  // A local that nobody reads still holds its object: of live ones the program
  // may notice when they go, and those that are made anyway cost nothing more.
  // Other results are not computed.
  for (uint32_t slot : dead) {
    Value now = outer.locals[slot];
    if (!now.isNull() && (isMissed(now, exit.returns) ||
                          (!exit.returns && builder.hasMade(now))))
      exit.locals.push_back({slot, builder.recipe(now)});
    else if (view.localsplus[slot])
      exit.locals.push_back({slot, builder.recipe(Value())});
  }
  std::ranges::sort(exit.locals, {}, &capture::SlotWrite::slot);
  if (builder.isCyclic)
    return outcome;
  exit.sites = outcome.sites;
  exit.why = outcome.why;

  CapturedSubgraph subgraph;
  capture.guards.finish(capture.sources);
  subgraph.exit = std::move(builder.exit);
  subgraph.guards = std::move(capture.guards);
  subgraph.inputs = std::move(state.inputs);
  subgraph.operations = std::move(state.operations);
  subgraph.line = static_cast<uint32_t>(
      std::max(0, PyCode_Addr2Line(view.code, startOffset * 2)));
  subgraph.graph = std::move(capture.graph);
  subgraph.sources = std::move(capture.sources);
  outcome.subgraph = std::move(subgraph);
  return outcome;
}

} // namespace wok::python

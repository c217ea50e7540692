//===- ExitPlan.cpp - An exit, ready to be run ----------------------------===//

#include "ExitPlan.h"

namespace wok::python {

using namespace capture;

ExitPlan makeExitPlan(CapturedSubgraph &subgraph, PyCodeObject *code) {
  ExitPlan plan;
  std::vector<SourceId> needed;
  for (const SubgraphInput &input : subgraph.inputs)
    needed.push_back(input.source);
  for (const Recipe &recipe : subgraph.exit.recipes)
    if (recipe.kind == RecipeKind::Source)
      needed.push_back(recipe.source);

  std::unique_ptr<GuardTable> table = lowerGuards(subgraph, needed, code);
  if (!table)
    return plan;

  for (const SubgraphInput &input : subgraph.inputs) {
    InputPlan row{input.kind, table->registerOf(input.source), 0};
    if (input.kind == SubgraphInput::Kind::Tensor) {
      row.described = table->describedAt(input.source);
      if (row.described == UINT32_MAX)
        return plan; // A tensor without its guard.
      plan.hasArrays |=
          subgraph.guards.tensors[row.described].library == Library::NumPy;
    }
    plan.inputs.push_back(row);
  }

  plan.exit = std::move(subgraph.exit);
  plan.outputs.resize(subgraph.graph.outputs.size());
  for (RecipeId id = 0; id < plan.exit.recipes.size(); ++id) {
    const Recipe &recipe = plan.exit.recipes[id];
    plan.registers.push_back(recipe.kind == RecipeKind::Source
                                 ? table->registerOf(recipe.source)
                                 : 0);
    if (recipe.object)
      table->held.push_back(Ref<>::share(recipe.object));
    bool scalar = recipe.kind == RecipeKind::NumpyScalar ||
                  recipe.kind == RecipeKind::PythonScalar;
    if (recipe.kind != RecipeKind::Tensor && !scalar)
      continue;
    if (recipe.number >= plan.outputs.size())
      return plan;
    OutputPlan &output = plan.outputs[recipe.number];
    if (recipe.kind == RecipeKind::Tensor && output.recipe != noRecipe)
      return plan; // Two tensors in one memory.
    if (recipe.kind == RecipeKind::Tensor)
      output.recipe = id;
    output.scalar |= scalar;
  }
  for (const Effect &effect : plan.exit.effects) {
    if (effect.kind != EffectKind::TensorWrite)
      continue;
    // A view is made after the kernels; whether it may be written its base says
    // before.
    RecipeId target = effect.target;
    while (plan.exit.recipes[target].kind == RecipeKind::View)
      target = plan.exit.recipes[target].operands[0];
    plan.written.push_back(target);
  }

  plan.operationNames = std::move(subgraph.operations);
  plan.operations = static_cast<uint32_t>(subgraph.graph.allNodes().size());
  const char *file = PyUnicode_AsUTF8(code->co_filename);
  PyErr_Clear();
  plan.file = file ? file : "?";
  plan.line = subgraph.line;
  plan.guards = std::move(table);
  return plan;
}

} // namespace wok::python

//===- Recording.cpp - What wok.explain shows -----------------------------===//

#include "Recording.h"

#include <memory>

namespace wok::python {

using namespace capture;

namespace {

// A pointer, and not an object with a destructor: threads may end after the
// interpreter.
thread_local Recording *recordingOfThread = nullptr;

PyObject *toList(const std::vector<std::string> &texts) {
  Ref<> list = Ref<>::steal(PyList_New(0));
  for (const std::string &text : texts) {
    Ref<> string = Ref<>::steal(PyUnicode_DecodeUTF8(
        text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    if (!list || !string || PyList_Append(list, string) < 0)
      return nullptr;
  }
  return list.release();
}

} // namespace

const BreakText &breakText(BreakInfo::Reason reason) {
  static constexpr BreakText texts[] = {
#define WOK_BREAK(name, code, text, hint) {#name, code, text, hint},
#include "wok/Capture/BreakReasons.def"
#undef WOK_BREAK
  };
  return texts[static_cast<size_t>(reason)];
}

Recording *Recording::current() { return recordingOfThread; }

void beginRecording() {
  delete recordingOfThread;
  recordingOfThread = new Recording;
}

PyObject *endRecording() {
  std::unique_ptr<Recording> recording(recordingOfThread);
  recordingOfThread = nullptr;
  return recording ? recording->toDict() : Recording().toDict();
}

void Recording::ran(const Specialization &entry) {
  for (Subgraph &subgraph : subgraphs)
    if (subgraph.number == entry.number) {
      ++subgraph.hits;
      return;
    }
  const ExitPlan &plan = entry.exit;
  subgraphs.push_back(
      {entry.number, plan.operationNames, plan.guards->texts,
       entry.code ? entry.code->phases : std::vector<runtime::PhaseTime>(),
       entry.code ? entry.code->kernels : 0, plan.line, plan.file, 1});
}

void Recording::broke(const BreakInfo &why, const std::string &file,
                      int64_t nanoseconds) {
  if (why.reason == BreakInfo::Reason::Return)
    return;
  const std::string &place = why.file.empty() ? file : why.file;
  for (Break &other : breaks)
    if (other.why.reason == why.reason && other.why.line == why.line &&
        other.file == place && other.why.detail == why.detail) {
      other.nanoseconds += nanoseconds;
      return;
    }
  breaks.push_back({why, place, nanoseconds});
}

PyObject *Recording::toDict() const {
  Ref<> subgraphList = Ref<>::steal(PyList_New(0)),
        breakList = Ref<>::steal(PyList_New(0));
  if (!subgraphList || !breakList)
    return nullptr;
  for (const Subgraph &subgraph : subgraphs) {
    Ref<> phases = Ref<>::steal(PyDict_New());
    for (const runtime::PhaseTime &phase : subgraph.phases) {
      Ref<> time = Ref<>::steal(PyLong_FromLongLong(phase.nanoseconds));
      if (!phases || !time ||
          PyDict_SetItemString(phases, phase.phase.c_str(), time) < 0)
        return nullptr;
    }
    Ref<> operations = Ref<>::steal(toList(subgraph.operations));
    Ref<> guards = Ref<>::steal(toList(subgraph.guards));
    if (!phases || !operations || !guards)
      return nullptr;
    Ref<> row = Ref<>::steal(Py_BuildValue(
        "{s:O,s:O,s:I,s:O,s:s,s:I,s:K}", "ops", operations.get(), "guards",
        guards.get(), "kernels", subgraph.kernels, "phases", phases.get(),
        "filename", subgraph.file.c_str(), "lineno", subgraph.line, "hits",
        static_cast<unsigned long long>(subgraph.hits)));
    if (!row || PyList_Append(subgraphList, row) < 0)
      return nullptr;
  }
  for (const Break &each : breaks) {
    const BreakText &text = breakText(each.why.reason);
    Ref<> row = Ref<>::steal(Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:s,s:I,s:L}", "reason", text.explanation, "code",
        text.code, "detail", each.why.detail.c_str(), "hint", text.hint,
        "filename", each.file.c_str(), "lineno", each.why.line, "cost_ns",
        static_cast<long long>(each.nanoseconds)));
    if (!row || PyList_Append(breakList, row) < 0)
      return nullptr;
  }
  return Py_BuildValue("{s:O,s:O}", "subgraphs", subgraphList.get(), "breaks",
                       breakList.get());
}

} // namespace wok::python

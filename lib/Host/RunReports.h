//===- RunReports.h - What wok-run tells ------------------------*- C++ -*-===//

#ifndef WOK_LIB_HOST_RUNREPORTS_H
#define WOK_LIB_HOST_RUNREPORTS_H

#include "wok/Runtime/Counters.h"
#include "wok/Runtime/Events.h"
#include "llvm/Support/raw_ostream.h"

namespace wok::host {

/// Prints each event as a line.
class EventPrinter : public runtime::EventListener {
public:
  explicit EventPrinter(llvm::raw_ostream &output) : output(output) {}
  ~EventPrinter() override { stop(); }
  void heard(const runtime::Event &event) noexcept override;

private:
  llvm::raw_ostream &output;
};

/// Prints the counters that are not zero, times aside.
void printStatistics(llvm::raw_ostream &output);

} // namespace wok::host

#endif // WOK_LIB_HOST_RUNREPORTS_H

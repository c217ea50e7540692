//===- Dump.cpp - What a compile leaves for people --------------*- C++ -*-===//

#include "Dump.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>

using namespace wok;

static bool writeFile(llvm::StringRef path, llvm::StringRef contents) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return false;
  file << contents;
  file.close();
  bool failed = file.has_error();
  file.clear_error();
  return !failed;
}

Dump::Dump(llvm::StringRef directory, llvm::StringRef name) {
  static std::atomic<unsigned> number = 0;
  if (directory.empty() || llvm::sys::fs::create_directories(directory))
    return;
  std::string safe;
  for (char c : name.take_front(64))
    safe += llvm::isAlnum(c) || c == '_' || c == '-' ? c : '_';
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(
      path, llvm::formatv("{0,0+4}-{1}", number.fetch_add(1), safe).str());
  prefix = path.str();
}

void Dump::write(llvm::StringRef stage, llvm::StringRef contents) const {
  if (!prefix.empty())
    writeFile(prefix + "." + stage.str(), contents);
}

std::string Dump::writeReproducer(llvm::StringRef subgraph,
                                  llvm::StringRef error) const {
  std::string text = "// RUN: wok-opt --wok-pipeline=to=llvm %s\n";
  llvm::SmallVector<llvm::StringRef> lines;
  error.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    text += "// " + line.str() + "\n";
  text += "\n" + subgraph.str();

  if (!prefix.empty()) {
    std::string path = prefix + ".reproducer.mlir";
    return writeFile(path, text) ? path : std::string();
  }
  // A program that fails to compile everywhere must not fill the disk.
  static std::atomic<unsigned> written = 0;
  if (written.fetch_add(1) >= 4)
    return {};
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("wok-reproducer", "mlir", path) ||
      !writeFile(path, text))
    return {};
  return std::string(path);
}

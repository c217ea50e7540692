//===- Dump.h - What a compile leaves for people ----------------*- C++ -*-===//

#ifndef WOK_LIB_COMPILER_DUMP_H
#define WOK_LIB_COMPILER_DUMP_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace wok {

/// Writes the stages of one compile to files NUMBER-NAME.STAGE in a directory.
/// Does nothing if there is no directory; a file that cannot be written is
/// left out, for a dump must not break a compile.
class Dump {
public:
  Dump(llvm::StringRef directory, llvm::StringRef name);

  explicit operator bool() const { return !prefix.empty(); }
  /// `stage` with its suffix: "2-fuse.mlir".
  void write(llvm::StringRef stage, llvm::StringRef contents) const;

  /// Writes the text of a subgraph that does not compile, to the directory or
  /// else to a new file for temporary data, and returns its path; empty if
  /// there is no place to write to, or enough was written.
  std::string writeReproducer(llvm::StringRef subgraph,
                              llvm::StringRef error) const;

private:
  std::string prefix;
};

} // namespace wok

#endif // WOK_LIB_COMPILER_DUMP_H

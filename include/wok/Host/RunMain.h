//===- RunMain.h - The tool wok-run -----------------------------*- C++ -*-===//

#ifndef WOK_HOST_RUNMAIN_H
#define WOK_HOST_RUNMAIN_H

namespace wok::host {

/// Parses the command line, and runs the program in a file or prints it after a
/// phase of its compilation. Returns the exit code.
int runMain(int argc, char **argv);

} // namespace wok::host

#endif // WOK_HOST_RUNMAIN_H

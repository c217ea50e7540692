//===- wok-run.cpp - Runs wok programs ------------------------------------===//

#include "wok/Host/RunMain.h"

int main(int argc, char **argv) { return wok::host::runMain(argc, argv); }

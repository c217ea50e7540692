//===- Module.cpp - Entry of the extension module wok._wok ----------------===//

#include "../lib/Python/3.11/Module.h"

PyMODINIT_FUNC PyInit__wok() { return wok::python::createModule(); }

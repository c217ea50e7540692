"""``python -m wok [--watch=all|jit] script.py args...`` or ``... -m module args...``

Runs a program as ``python`` does. With ``--watch=all`` every function is watched; with
``--watch=jit`` (the default) only what the program itself puts under ``wok.jit``.
"""

from __future__ import annotations

import io
import os
import runpy
import sys
import types
from typing import NoReturn

from ._native import available, native


def _usage(message: str = "") -> NoReturn:
    if message:
        print(f"python -m wok: {message}", file=sys.stderr)
        print("usage:", __doc__.split("\n")[0].replace("``", ""), file=sys.stderr)
        sys.exit(2)
    print(__doc__.replace("``", ""))
    sys.exit(0)


def _run_script(path: str) -> None:
    """As ``python path``: in a fresh ``__main__``, the script's folder first in ``sys.path``."""
    path = os.path.abspath(path)
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.path.insert(0, path)
        runpy.run_module("__main__", run_name="__main__", alter_sys=True)
        return
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    sys.path.insert(0, os.path.dirname(path))
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = __builtins__
    main.__loader__ = None
    sys.modules["__main__"] = main
    exec(code, main.__dict__)  # noqa: S102


def main() -> None:
    arguments = sys.argv[1:]
    watch = "jit"
    while arguments and arguments[0].startswith("-") and arguments[0] != "-m":
        option = arguments.pop(0)
        if option in ("-h", "--help"):
            _usage()
        elif option.startswith("--watch="):
            watch = option.partition("=")[2]
            if watch not in ("all", "jit"):
                _usage(f"--watch must be all or jit, not {watch!r}")
        else:
            _usage(f"unknown option {option}")
    if not arguments or arguments == ["-m"]:
        _usage("no script and no module given")

    # `python -m wok` put the current folder in front; a script's own folder takes that place.
    module = None
    if arguments[0] == "-m":
        module = arguments[1]
        sys.argv = arguments[1:]
    else:
        sys.argv = arguments
        if not os.path.exists(arguments[0]):
            _usage(f"can't open {arguments[0]!r}")
        if sys.path and not sys.flags.safe_path:
            del sys.path[0]

    if available() and watch == "all":
        native.watch_everything(True)
    try:
        if module is not None:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            _run_script(sys.argv[0])
    finally:
        if native is not None:
            native.watch_everything(False)


if __name__ == "__main__":
    main()

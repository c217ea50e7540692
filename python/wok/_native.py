"""The extension module, or why there is none."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from typing import Any

native: Any = None
"""The module ``wok._wok``; None where Wok cannot work and ``wok.jit`` changes nothing."""

_reason = ""
_warned = False


def _load() -> None:
    global native, _reason
    if sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11):
        _reason = (
            f"Wok needs CPython 3.11; this is {sys.implementation.name} "
            f"{sys.version_info[0]}.{sys.version_info[1]}"
        )
        return
    try:
        from . import _wok
    except ImportError as error:
        _reason = f"Wok's extension module is not usable: {error}"
        return
    native = _wok
    arm = os.environ.get("WOK_ARM")
    if arm:
        native.set_arm(arm)
        atexit.register(_print_traps, arm)


def _print_traps(arm: str) -> None:
    """The counters of a run under ``WOK_ARM``, on stderr."""
    counters = native.stats()
    names = ("traps", "arrivals", "resumed", "emulated", "passed", "frames", "copies", "retired")
    text = ", ".join(f"{counters[name]:,} {name}" for name in names)
    print(f"wok: WOK_ARM={arm}: {text}", file=sys.__stderr__, flush=True)


def available() -> bool:
    """Whether Wok can work here. Warns once, at the first question, if it cannot."""
    global _warned
    if native is None and not _warned:
        _warned = True
        warnings.warn(f"{_reason}: wok.jit does nothing", RuntimeWarning, stacklevel=3)
    return native is not None


_load()

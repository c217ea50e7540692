"""Wok: a just-in-time compiler for the tensor parts of running programs.

``wok.jit`` watches a function. While it runs, Wok captures the straight pieces of tensor
computation in it (PyTorch and NumPy), compiles each to native code, and runs that code instead the
next time, under guards. Everything else stays with CPython, exactly as the program says.

    >>> import torch, wok
    >>> @wok.jit
    ... def gelu(x):
    ...     return 0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x**3)))

``wok.explain(f)(*args)`` says what was captured and where it broke off and why; ``python -m wok``
runs a whole program.
"""

from ._jit import BreakError, disable, jit, reset, stats
from ._report import Break, Report, Subgraph, explain

__version__ = "0.1.0"
__all__ = [
    "Break",
    "BreakError",
    "Report",
    "Subgraph",
    "disable",
    "explain",
    "jit",
    "reset",
    "stats",
]

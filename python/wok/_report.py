"""``wok.explain``: what was captured, where it broke off, and what that cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ._jit import jit
from ._native import native


@dataclass
class Subgraph:
    """A piece of tensor computation that runs as native code."""

    ops: list[str]
    """Tensor operations in program order."""
    guards: list[str]
    """What must hold for it to run, in the order of testing."""
    kernels: int
    """Loop nests; calls of a library (matrix products) are not counted."""
    phases: dict[str, int]
    """Compile time by phase, in nanoseconds; empty if the code was there already."""
    filename: str
    lineno: int
    hits: int = 0
    """How often it ran during the call."""

    @property
    def compile_ns(self) -> int:
        return sum(self.phases.values())

    def __str__(self) -> str:
        counts = (
            f"{_count(len(self.ops), 'operation')}, {_count(self.kernels, 'kernel')}, "
            f"{_count(len(self.guards), 'guard')}, ran {_count(self.hits, 'time')}"
        )
        lines = [f"{self.filename}:{self.lineno}: {counts}", f"    {', '.join(self.ops)}"]
        if self.phases:
            phases = ", ".join(f"{name} {_time(ns)}" for name, ns in self.phases.items())
            lines.append(f"    compiled in {_time(self.compile_ns)}: {phases}")
        lines += [f"    guard: {guard}" for guard in self.guards]
        return "\n".join(lines)


@dataclass
class Break:
    """What stood between two subgraphs and was left to CPython."""

    reason: str
    filename: str
    lineno: int
    cost_ns: int = 0
    """Time spent outside of compiled code from here on, to the next subgraph or the return."""
    detail: str = ""
    """What was met: the name of a function, of an operation."""
    code: str = ""
    """Short stable name of the reason."""
    hint: str = ""
    """What to do about it; may be empty."""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        text = f"{self.filename}:{self.lineno}: {self.reason}{detail}, cost {_time(self.cost_ns)}"
        return f"{text}\n    hint: {self.hint}" if self.hint else text


@dataclass
class Report:
    """What one call of a watched function did."""

    result: Any = field(repr=False)
    """What the function returned."""
    subgraphs: list[Subgraph]
    """In the order in which they ran first."""
    breaks: list[Break]
    """In program order; ``str()`` ranks them by cost."""

    def __str__(self) -> str:
        operations = sum(len(subgraph.ops) for subgraph in self.subgraphs)
        lines = [
            f"{_count(len(self.subgraphs), 'subgraph')} with {_count(operations, 'operation')}, "
            f"{_count(len(self.breaks), 'break')}"
        ]
        for number, subgraph in enumerate(self.subgraphs, 1):
            lines.append(f"subgraph {number}: {subgraph}")
        for entry in sorted(self.breaks, key=lambda entry: -entry.cost_ns):
            lines.append(f"break: {entry}")
        return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _time(ns: int) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns} ns"


def explain(function: Callable[..., Any]) -> Callable[..., Report]:
    """``explain(f)(*args)`` calls ``f`` under ``wok.jit`` and returns a :class:`Report`.

    ``f`` may be under ``wok.jit`` already. An exception that ``f`` raises passes through.
    """
    watched = function if _is_watched(function) else jit(function)

    def explained(*args: Any, **kwargs: Any) -> Report:
        if native is None:
            return Report(watched(*args, **kwargs), [], [])
        native.begin_recording()
        try:
            result = watched(*args, **kwargs)
        finally:
            recorded = native.end_recording()
        return Report(
            result,
            [Subgraph(**row) for row in recorded["subgraphs"]],
            [Break(**row) for row in recorded["breaks"]],
        )

    return explained


def _is_watched(function: Any) -> bool:
    if native is None:
        return True
    if isinstance(function, (native.JitFunction, native.JitCallable)):
        return True
    # A bound method of a watched function, or a watched module.
    return isinstance(getattr(function, "__func__", None), native.JitFunction) or hasattr(
        type(function), "_wok_original_type"
    )

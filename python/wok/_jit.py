"""``wok.jit`` and what belongs to it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar, overload

from ._native import available, native

F = TypeVar("F", bound=Callable[..., Any])

if native is not None:
    BreakError = native.BreakError
else:

    class BreakError(RuntimeError):  # type: ignore[no-redef]
        """A function under ``wok.jit(fullgraph=True)`` met something that cannot be captured."""


@overload
def jit(
    function: F, *, fullgraph: bool = ..., dynamic: bool | None = ..., numerics: str = ...
) -> F: ...
@overload
def jit(
    function: None = ..., *, fullgraph: bool = ..., dynamic: bool | None = ..., numerics: str = ...
) -> Callable[[F], F]: ...


def jit(function=None, *, fullgraph=False, dynamic=None, numerics="strict"):
    """Watches ``function``: its tensor computation is compiled while it runs.

    Works as a decorator with and without arguments, on functions, methods (static and class methods
    in either order of decorators), generators, coroutines, callable objects and ``torch.nn.Module``
    instances. Functions that it calls are watched too, while it runs.

    Args:
        function: What to watch. A module gives a module that shares all state with it: an instance
            of a subclass of its class with the same ``__dict__``, so parameters, buffers, hooks,
            ``train()`` and ``state_dict()`` are those of the original. The original itself stays
            unwatched.
        fullgraph: Raise :class:`wok.BreakError` where capture breaks off before the return, instead
            of leaving the rest to CPython. The message names file, line and reason.
        dynamic: None: an extent or Python number that changes becomes dynamic at its second value.
            True: at once. False: never, each value gets its own code.
        numerics: ``"strict"``: every operation rounds as eager does.

    Returns:
        A callable with the signature, name, documentation and attributes of ``function``.

    Raises:
        TypeError: ``function`` is a class or is not callable.
        ValueError: ``numerics`` is not ``"strict"``.
    """
    if numerics != "strict":
        raise ValueError(f"numerics={numerics!r} is not supported; it must be 'strict'")
    options = {
        "fullgraph": bool(fullgraph),
        "dynamic": -1 if dynamic is None else int(bool(dynamic)),
    }
    if function is None:
        return functools.partial(_jit, options=options)
    return _jit(function, options=options)


def _jit(function: Any, *, options: dict[str, Any]) -> Any:
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_jit(function.__func__, options=options))
    if inspect.isclass(function):
        raise TypeError(
            "wok.jit works on functions and instances; "
            f"decorate the methods of {function.__qualname__} instead"
        )
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    if not available():
        return function
    torch_nn = sys.modules.get("torch.nn")
    if torch_nn is not None and isinstance(function, torch_nn.Module):
        from ._module import watched_module

        return watched_module(function, options)
    if isinstance(function, (native.JitFunction, native.JitCallable)):
        function = function.__wrapped__
    return _dressed(native.jit(function, **options), function)


def _dressed(wrapper: Any, function: Any) -> Any:
    """``wrapper`` with the name, documentation and attributes of ``function``."""
    for name in functools.WRAPPER_ASSIGNMENTS:
        if name != "__annotations__" and hasattr(function, name):
            setattr(wrapper, name, getattr(function, name))
    # A callable object's own attributes are reached through it; a copy would go stale.
    if isinstance(wrapper, native.JitFunction):
        wrapper.__dict__.update(function.__dict__)
    return wrapper


def _rebuild(callable_: Any, kind: str, fullgraph: bool, dynamic: int) -> Any:
    """Unpickles what ``jit`` or ``disable`` made."""
    if not available():
        return callable_
    if kind == "DisabledCallable":
        return _dressed(native.disable(callable_), callable_)
    return _dressed(native.jit(callable_, fullgraph=fullgraph, dynamic=dynamic), callable_)


def disable(function: F) -> F:
    """Marks ``function``: it is never captured, and where a watched function calls it, nothing is
    watched until it returns.

    A call of it is a break. A Python function (or a method's function) is marked itself and
    returned; any other callable is wrapped.
    """
    if isinstance(function, (staticmethod, classmethod)):
        disable(function.__func__)
        return function
    if inspect.isclass(function):
        raise TypeError(
            "wok.disable works on functions and instances; "
            f"disable the methods of {function.__qualname__} instead"
        )
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    if native is None:
        return function
    result = native.disable(function)
    return result if result is function else _dressed(result, function)


def reset() -> None:
    """Forgets all captures, compiled code and counters. What is disabled stays disabled."""
    if native is not None:
        native.reset()


def stats() -> dict[str, int]:
    """Counters since the start of the process or the last :func:`reset`.

    Among them: ``subgraphs`` and ``kernels`` compiled, guard ``hits`` and ``misses``, ``breaks``,
    ``ops_compiled`` and ``ops_eager`` (tensor operations run in compiled code and outside of it),
    and what the frame evaluator did (``frames``, ``traps``, ``arrivals``, ...).
    """
    return native.stats() if native is not None else {}

"""``wok.jit`` of a ``torch.nn.Module``."""

from __future__ import annotations

import types
from typing import Any

from ._native import available, native

_ORIGINAL_TYPE = "_wok_original_type"
_OPTIONS = "_wok_options"


def _own_function(function: types.FunctionType) -> types.FunctionType:
    """A copy of ``function`` with code of its own: what is captured at its entry is its own."""
    copy = types.FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


def _view(module: Any, type_: type) -> Any:
    """An object of type ``type_`` with the state of ``module``: the very same ``__dict__``."""
    view = object.__new__(type_)
    object.__setattr__(view, "__dict__", module.__dict__)
    for base in type(module).__mro__:
        for name in getattr(base, "__slots__", ()):
            if name not in ("__dict__", "__weakref__") and hasattr(module, name):
                object.__setattr__(view, name, getattr(module, name))
    return view


def _reduce(self: Any, protocol: Any = None) -> Any:
    type_ = type(self)
    return _rebuild, (_view(self, getattr(type_, _ORIGINAL_TYPE)), getattr(type_, _OPTIONS))


def _rebuild(module: Any, options: dict[str, Any]) -> Any:
    return watched_module(module, options) if available() else module


def watched_module(module: Any, options: dict[str, Any]) -> Any:
    """A module that shares all state with ``module`` and is watched when it is called."""
    type_ = getattr(type(module), _ORIGINAL_TYPE, type(module))
    call = type_.__call__
    if not isinstance(call, types.FunctionType):
        # Compiled elsewhere (TorchScript): there is no Python to watch.
        return module
    watched = type(type_)(
        type_.__name__,
        (type_,),
        {
            "__module__": type_.__module__,
            "__qualname__": type_.__qualname__,
            "__doc__": type_.__doc__,
            "__call__": native.jit(_own_function(call), **options),
            "__reduce_ex__": _reduce,
            "__reduce__": _reduce,
            _ORIGINAL_TYPE: type_,
            _OPTIONS: options,
        },
    )
    return _view(module, watched)

"""Compares what Wok computes with eager: values, dtypes, shapes, strides, types, writes."""

import copy
import math
import warnings

import numpy as np
import torch
import wok
from graph_interpreter import Broke, interpret

# Units in the last place that results may be off eager's, by dtype: (relative, absolute).
TOLERANCE = {
    torch.float64: (1e-13, 1e-14),
    torch.float32: (2e-6, 2e-6),
    torch.float16: (2e-3, 2e-3),
    torch.bfloat16: (1.6e-2, 1.6e-2),
}


def compiled(function, *arguments):
    """By `wok.jit`: captured whole, compiled and run."""
    before = wok.stats()["fallbacks"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = wok.jit(function, fullgraph=True)(*arguments)
        except wok.BreakError as broke:
            raise Broke(str(broke)) from None
    if wok.stats()["fallbacks"] != before:
        raise Broke("the run was given up")
    return result


ENGINES = {"interpreted": interpret, "compiled": compiled}


def same_tensor(got, want, exact, path):
    assert got.dtype == want.dtype, f"{path}: dtype {got.dtype}, eager has {want.dtype}"
    assert got.shape == want.shape, f"{path}: shape {got.shape}, eager has {want.shape}"
    if got.numel() > 0:
        sized = [i for i, n in enumerate(want.shape) if n != 1]
        strides = [[t.stride(i) for i in sized] for t in (got, want)]
        assert strides[0] == strides[1], f"{path}: strides {got.stride()}, eager {want.stride()}"
    a, b = got.detach(), want.detach()
    if exact or not a.is_floating_point():
        equal = (a == b) | ((a != a) & (b != b))
        assert equal.all(), f"{path}: {a} differs from eager's {b}"
        if a.is_floating_point():
            signs = torch.signbit(a) == torch.signbit(b)
            assert (signs | (a != a)).all(), f"{path}: a sign of zero differs"
        return
    relative, absolute = TOLERANCE[a.dtype]
    torch.testing.assert_close(a, b, rtol=relative, atol=absolute, equal_nan=True, msg=path)


def same(got, want, exact=False, path="result"):
    assert type(got) is type(want), f"{path}: {type(got)}, eager has {type(want)}"
    if isinstance(want, torch.Tensor):
        same_tensor(got, want, exact, path)
    elif isinstance(want, np.ndarray):
        assert got.dtype == want.dtype, f"{path}: dtype {got.dtype}, eager has {want.dtype}"
        same_tensor(as_torch(got), as_torch(want), exact, path)
    elif isinstance(want, np.generic):
        same_tensor(
            torch.from_numpy(np.asarray(got)), torch.from_numpy(np.asarray(want)), exact, path
        )
    elif isinstance(want, (tuple, list)):
        assert len(got) == len(want), f"{path}: {len(got)} items, eager has {len(want)}"
        for i, (g, w) in enumerate(zip(got, want)):
            same(g, w, exact, f"{path}[{i}]")
    elif isinstance(want, float):
        assert got == want or (math.isnan(got) and math.isnan(want))
    else:
        assert got == want, f"{path}: {got!r}, eager has {want!r}"


def as_torch(array):
    """With strides kept; torch has no negative ones."""
    if any(s < 0 for s in array.strides):
        array = array.copy()
    return torch.from_numpy(array)


def agree(function, make, exact=False, engine="interpreted", may_break=False):
    """`make()` gives fresh arguments. Both results and what became of the arguments agree.

    Nothing is left to eager, unless eager raises or warns, or `may_break`.
    """
    theirs, ours = make(), make()
    with torch.no_grad(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            want = function(*theirs)
        except Exception as error:  # noqa: BLE001 - whatever eager raises
            want = error
    may_break = may_break or isinstance(want, Exception) or bool(warned)
    with torch.no_grad():
        try:
            got = ENGINES[engine](function, *ours)
        except Broke as broke:
            nothing = str(broke).startswith("nothing: return")
            assert nothing or may_break, f"left to eager:\n{broke}"
            return
        except Exception as error:  # noqa: BLE001
            if isinstance(want, Exception) and type(error) is type(want):
                return
            raise
    assert not isinstance(want, Exception), f"eager raises {want!r}, here {got!r}"
    same(got, want, exact)
    same(ours, theirs, exact, "arguments")


def layouts(tensor):
    """The tensor laid out in several ways."""
    yield "dense", tensor
    if tensor.dim() >= 2:
        yield "transposed", copy.deepcopy(tensor).mT.contiguous().mT
        wide = torch.cat([tensor, tensor], -1)
        yield "gapped", wide[..., : tensor.shape[-1]]

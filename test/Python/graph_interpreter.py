"""Runs what a capture means, operation by operation, without compiling it.

`_wok._capture` prints a subgraph as text. This interpreter computes each operation with PyTorch on
plain tensors and makes the results that the exit describes, so that an importer can be compared
with eager apart from the compiler.
"""

import re

import numpy as np
import torch
from wok import _wok

DTYPES = {
    "i1": torch.bool,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}


class Broke(Exception):
    """The capture ended before the function returned."""


def _attributes(text):
    found = {}
    for name, value in re.findall(r"(\w+) = (\[[^\]]*\]|[^,}]+)", text or ""):
        if value.startswith("["):
            found[name] = [int(v) for v in value[1:-1].split(",") if v.strip()]
        else:
            found[name] = value.strip()
    return found


def _number(text, dtype):
    if dtype == torch.bool:
        return text not in ("0", "false")
    return float(text) if dtype.is_floating_point else int(float(text) if "." in text else text)


def _wide(function):
    """f16 and bf16 compute in f32 and round once."""

    def apply(*operands):
        dtype = operands[0].dtype
        if dtype in (torch.float16, torch.bfloat16):
            result = function(*(v.float() for v in operands))
            return result.to(dtype) if result.dtype == torch.float32 else result
        return function(*operands)

    return apply


def _compute(op, operands, attributes, dtype, extents):
    unary = {
        "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "exp2": torch.exp2,
        "log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p,
        "expm1": torch.expm1, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "sin": torch.sin,
        "cos": torch.cos, "tan": torch.tan, "tanh": torch.tanh, "erf": torch.erf,
        "sigmoid": torch.sigmoid, "floor": torch.floor, "ceil": torch.ceil,
        "round": torch.round, "trunc": torch.trunc, "sign": torch.sign,
        "not": torch.bitwise_not, "is_nan": torch.isnan,
    }  # fmt: skip
    binary = {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "fmod": torch.fmod,
        "floor_div": torch.floor_divide, "remainder": torch.remainder, "pow": torch.pow,
        "min": torch.minimum, "max": torch.maximum, "and": torch.bitwise_and,
        "or": torch.bitwise_or, "xor": torch.bitwise_xor, "shl": torch.bitwise_left_shift,
        "shr": torch.bitwise_right_shift,
    }  # fmt: skip
    if op in unary:
        return _wide(unary[op])(*operands)
    if op in binary:
        return _wide(binary[op])(*operands)
    x = operands[0] if operands else None
    if op == "div":
        mode = None if x.is_floating_point() else "trunc"
        return _wide(lambda a, b: torch.div(a, b, rounding_mode=mode))(*operands)
    if op == "fma":
        return _wide(lambda a, b, c: torch.add(c.clone(), 0).addcmul(a, b))(*operands)
    if op == "compare":
        return getattr(torch, attributes["predicate"])(*operands)
    if op == "select":
        return torch.where(*operands)
    if op == "cast":
        return x.to(dtype)
    if op == "constant":
        value = attributes["value"]
        if isinstance(value, list):
            return torch.tensor(value, dtype=dtype)
        return torch.tensor(_number(value, dtype), dtype=dtype)
    if op == "reduce":
        dims, kind = attributes["dims"], attributes["kind"]
        if kind in ("sum", "any", "all"):
            out = getattr(torch, kind)(x, dims)
            return out.to(dtype)
        if kind == "prod":
            for dim in sorted(dims, reverse=True):
                x = x.prod(dim, dtype=dtype)
            return x
        return (torch.amax if kind == "max" else torch.amin)(x, dims)
    if op == "arg_reduce":
        choose = torch.argmax if attributes["kind"] == "max" else torch.argmin
        return choose(x, int(attributes["dim"]))
    if op == "contract":
        a, b = operands
        a = a.mT if attributes.get("transpose_lhs") == "true" else a
        b = b.mT if attributes.get("transpose_rhs") == "true" else b
        return a @ b
    if op == "reshape":
        return x.reshape(extents)
    if op == "transpose":
        return x.permute(attributes["permutation"])
    if op == "broadcast":
        shape = [1] * len(extents)
        for i, dim in enumerate(attributes["dims"]):
            shape[dim] = x.shape[i]
        return x.reshape(shape).expand(extents)
    if op == "slice":
        for dim, (start, size, step) in enumerate(
            zip(attributes["offsets"], attributes["sizes"], attributes["strides"], strict=True)
        ):
            picked = start + step * torch.arange(size)
            x = x.index_select(dim, picked)
        return x
    if op == "pad":
        widths = []
        for low, high in zip(
            reversed(attributes["low"]), reversed(attributes["high"]), strict=True
        ):
            widths += [low, high]
        return torch.nn.functional.pad(x, widths, value=operands[1].item())
    if op == "concat":
        return torch.cat(operands, int(attributes["dim"]))
    if op == "gather":
        dim, indices = int(attributes["dim"]), operands[1]
        picked = x.index_select(dim, indices.reshape(-1).to(torch.int64))
        return picked.reshape(x.shape[:dim] + indices.shape + x.shape[dim + 1 :])
    if op == "iota":
        dim = int(attributes["dim"])
        shape = [1] * len(extents)
        shape[dim] = extents[dim]
        return torch.arange(extents[dim]).to(dtype).reshape(shape).expand(extents)
    raise NotImplementedError(op)


NODE = re.compile(r"%(\d+) = wok\.(\w+) ?([^{:]*)(?:\{(.*)\} )?: (\w+)\[(.*)\]$")


class _Exit:
    """Makes the objects of an exit from its text."""

    def __init__(self, text, outputs, arguments, library):
        self.text, self.at = text, 0
        self.outputs, self.arguments, self.library = outputs, arguments, library

    def eat(self, pattern):
        match = re.compile(pattern).match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def make(self):
        if m := self.eat(r"tensor (\d+)(?: order \[([\d, ]*)\])?"):
            value = self.outputs[int(m[1])]
            if m[2]:
                order = [int(d) for d in m[2].split(",")]
                value = value.permute([order.index(i) for i in range(len(order))])
            return value if self.library == "torch" else value.numpy()
        if m := self.eat(r"numpy scalar (\d+)"):
            return self.outputs[int(m[1])].numpy()[()]
        if self.eat(r"View\("):
            base = self.make()
            m = self.eat(r", extents \[([^\]]*)\], strides \[([^\]]*)\], offset (-?\d+)\)")
            extents, strides = ([int(v) for v in m[i].split(",") if v.strip()] for i in (1, 2))
            return self.view(base, extents, strides, int(m[3]))
        if m := self.eat(r"(Tuple|List)(?:<([\w.]+)>)?\("):
            items = []
            while not self.eat(r"\)"):
                items.append(self.make())
                self.eat(r", ")
            if m[2]:
                return eval(m[2])(items)
            return tuple(items) if m[1] == "Tuple" else items
        if m := self.eat(r"local (\w+)"):
            return self.arguments[m[1]]
        if m := self.eat(r"<[^>]*>"):
            return m[0]
        m = self.eat(r"[^,)]+")
        return eval(m[0])

    @staticmethod
    def view(base, extents, strides, offset):
        if isinstance(base, torch.Tensor):
            return base.as_strided(extents, strides, base.storage_offset() + offset)

        class Memory:
            keep = base
            __array_interface__ = {
                "shape": tuple(extents),
                "typestr": base.dtype.str,
                "data": (base.ctypes.data + offset * base.itemsize, False),
                "strides": tuple(s * base.itemsize for s in strides),
                "version": 3,
            }

        return np.asarray(Memory())


def interpret(function, *arguments):
    """The result of `function(*arguments)` by its capture; what it writes is written.

    Raises `Broke` if the capture does not reach the return.
    """
    text = _wok._capture(function, [arguments], -1)[0]
    lines = text.splitlines()
    exits = [line for line in lines if line.startswith("exit: ")]
    if not exits or not exits[0].endswith(", returns"):
        raise Broke(text)
    names = function.__code__.co_varnames
    byname = dict(zip(names, arguments, strict=False))
    library = "torch"
    values, outputs, stack, effects = {}, [], [], []
    for line in lines:
        if m := re.match(r"input %(\d+) = (?:int |float )?local (\w+) :", line):
            value = byname[m[2]]
            if isinstance(value, np.ndarray):
                library = "numpy"
                value = torch.from_numpy(np.ascontiguousarray(value)).reshape(value.shape)
            values[int(m[1])] = torch.as_tensor(value).detach().clone()
        elif m := NODE.match(line):
            number, op, operands, attributes, dtype, extents = m.groups()
            operands = [values[int(v)] for v in re.findall(r"%(\d+)", operands)]
            extents = [int(v) for v in extents.split(",") if v.strip()]
            value = _compute(op, operands, _attributes(attributes), DTYPES[dtype], extents)
            assert value.dtype == DTYPES[dtype], f"{line}: computed {value.dtype}"
            assert list(value.shape) == extents, f"{line}: computed {list(value.shape)}"
            values[int(number)] = value
        elif line.startswith("outputs ["):
            outputs = [values[int(v)].contiguous().clone() for v in re.findall(r"%(\d+)", line)]
        elif line.startswith("effect TensorWrite "):
            effects.append(line.removeprefix("effect TensorWrite "))
        elif line.startswith("stack "):
            stack.append(line.removeprefix("stack "))
    if any("numpy scalar" in line for line in stack) or any(
        isinstance(a, (np.ndarray, np.generic)) for a in arguments
    ):
        library = "numpy"
    result = _Exit(stack[-1], outputs, byname, library).make()
    for effect in effects:
        target, source = (
            _Exit(part, outputs, byname, library).make() for part in effect.split(" = ")
        )
        if isinstance(target, np.ndarray):
            np.copyto(target, source)
        else:
            target.copy_(source)
    return result

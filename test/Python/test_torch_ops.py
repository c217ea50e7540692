"""PyTorch functions, methods and operators against eager."""

# ruff: noqa: B023 - each lambda is called before the loop goes on

import warnings

import differential
import pytest
import torch
import wok
from differential import agree
from torch.nn import functional as F

ENGINES = list(differential.ENGINES)
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.int8, torch.uint8]
ALL = FLOATS + INTEGERS + [torch.bool]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.7, 100.0, float("inf"), -float("inf")]
SPECIAL += [float("nan"), 1e-40, 1e-8, 65504.0]


def values(dtype, shape, seed=0, low=-3.0, high=3.0):
    """Random values of a dtype; bools and integers are spread too."""
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(shape, generator=g, dtype=torch.float64) * (high - low) + low
    if dtype == torch.bool:
        return x > 0
    if dtype == torch.uint8:
        x = x.abs()
    return x.to(dtype)


def special(dtype):
    if dtype.is_floating_point:
        return torch.tensor(SPECIAL, dtype=torch.float64).to(dtype)
    if dtype == torch.bool:
        return torch.tensor([True, False])
    return torch.tensor([0, 1, 2, 3, 7, 100, 127], dtype=dtype)


def name(item):
    return getattr(item, "__name__", None) or str(item).replace("torch.", "")


# ---------------------------------------------------------------- one operand

EXACT_UNARY = {
    "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "floor": torch.floor,
    "ceil": torch.ceil, "trunc": torch.trunc, "round": torch.round, "square": torch.square,
    "reciprocal": torch.reciprocal, "frac": torch.frac, "relu": torch.relu, "isnan": torch.isnan,
    "isinf": torch.isinf, "isfinite": torch.isfinite, "logical_not": torch.logical_not,
    "bitwise_not": torch.bitwise_not, "positive": torch.positive, "F.relu": F.relu,
    "relu6": F.relu6, "clone": torch.clone, "float": lambda x: x.float(),
    "half": lambda x: x.half(), "bool": lambda x: x.bool(), "int": lambda x: x.int(),
    "byte": lambda x: x.byte(), "long": lambda x: x.long(), "double": lambda x: x.double(),
    "minus": lambda x: -x, "invert": lambda x: ~x, "plus": lambda x: +x,
    "is_nan_ne": lambda x: x != x, "leaky": F.leaky_relu, "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish, "softsign": F.softsign,
}  # fmt: skip
CLOSE_UNARY = {
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": torch.log,
    "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan,
    "tanh": torch.tanh, "erf": torch.erf, "sigmoid": torch.sigmoid, "silu": F.silu,
    "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "softplus": F.softplus, "softplus_beta": lambda x: F.softplus(x, 2.0, 3.0),
    "logsigmoid": F.logsigmoid,
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ALL, ids=name)
@pytest.mark.parametrize("op", [*EXACT_UNARY, *CLOSE_UNARY])
def test_unary(op, dtype, engine):
    function = EXACT_UNARY.get(op) or CLOSE_UNARY[op]

    def f(x):
        return function(x)

    exact = op in EXACT_UNARY
    agree(f, lambda: (special(dtype),), exact, engine)
    agree(f, lambda: (values(dtype, (3, 5)),), exact, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1, 1), (2, 3, 4), (2, 3, 4, 5)], ids=str)
def test_unary_shapes(shape, engine):
    for function in (torch.exp, torch.neg, torch.relu, torch.isnan):
        agree(lambda x: function(x), lambda: (values(torch.float32, shape),), False, engine)


# ---------------------------------------------------------------- two operands

BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "fmod": lambda a, b: torch.fmod(a, b),
    "trunc_div": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "floor_div": lambda a, b: torch.div(a, b, rounding_mode="floor"),
}  # fmt: skip
TENSORS_ONLY = {
    "maximum": torch.maximum, "minimum": torch.minimum, "fmax": torch.fmax, "fmin": torch.fmin,
    "logical_and": torch.logical_and, "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}  # fmt: skip
PAIRS = [
    (a, b)
    for a in ALL
    for b in ALL
    if ALL.index(a) <= ALL.index(b) or a in (torch.float32, torch.int64)
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", [*BINARY, *TENSORS_ONLY])
def test_binary_dtypes(op, engine):
    f = BINARY.get(op) or TENSORS_ONLY[op]
    for a, b in PAIRS:
        agree(
            lambda x, y: f(x, y),
            lambda: (values(a, (3, 5)), values(b, (3, 5), 1) + (not b.is_floating_point) * 4),
            True,
            engine,
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", list(BINARY))
@pytest.mark.parametrize("dtype", ALL, ids=name)
def test_binary_numbers(op, dtype, engine):
    f = BINARY[op]
    for number in (2, 3, 0.1, 2.5, True, -3):
        for make in (
            lambda: (values(dtype, (7,)), number),
            lambda: (number, values(dtype, (7,), 2, 1, 5)),
        ):
            agree(lambda x, y: f(x, y), make, True, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", list(BINARY))
def test_binary_special(op, engine):
    f = BINARY[op]
    # Eager's vector fmod gives NaN where the quotient leaves 32 bits; ours is exact there.
    x = torch.tensor([v for v in SPECIAL if v != 1e-40 or op not in ("mod", "fmod")])
    for dtype in (torch.float32, torch.float64):
        agree(
            lambda x, y: f(x, y),
            lambda: (x[:, None].to(dtype), x[None].to(dtype)),
            True,
            engine,
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", ["add", "mul", "div", "lt"])
@pytest.mark.parametrize("a", [torch.float16, torch.float32, torch.int32, torch.bool], ids=name)
@pytest.mark.parametrize("b", [torch.float64, torch.float16, torch.int64], ids=name)
def test_binary_zero_dim(op, a, b, engine):
    f = BINARY[op]
    agree(lambda x, y: f(x, y), lambda: (values(a, (4,)), values(b, (), 3)), True, engine)
    agree(lambda x, y: f(x, y), lambda: (values(a, (), 3), values(b, (4,), 3)), True, engine)
    agree(lambda x, y: f(x, y), lambda: (values(a, (), 3), values(b, (), 3)), True, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", FLOATS + [torch.int64, torch.int32, torch.uint8], ids=name)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 0.5, -0.5, -1, -2, 1.5, 7, -3.0, 2.0])
def test_power(dtype, exponent, engine):
    exact = exponent in (0, 1, 2, 3, -1, -2, 2.0)
    agree(lambda x: x**exponent, lambda: (values(dtype, (9,)),), exact, engine)
    agree(lambda x: torch.pow(x, exponent), lambda: (special(dtype),), exact, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_power_of_tensors(engine):
    for a in (torch.float32, torch.float64, torch.bfloat16):
        agree(
            lambda x, y: x**y, lambda: (values(a, (5,), 0, 0.1), values(a, (5,), 1)), False, engine
        )
        agree(lambda x: 2**x, lambda: (values(a, (5,)),), False, engine)
        agree(lambda x: 1.0**x, lambda: (values(a, (5,)),), True, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "shapes",
    [((3, 5), (5,)), ((3, 1), (1, 5)), ((2, 1, 4), (3, 1)), ((0, 3), (3,)), ((1,), (0,))],
    ids=str,
)  # fmt: skip
def test_broadcast(shapes, engine):
    agree(
        lambda x, y: (x + y, y * x, x < y),
        lambda: tuple(values(torch.float32, s, i) for i, s in enumerate(shapes)),
        True,
        engine,
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_alpha(engine):
    x, y = (lambda: values(torch.float32, (4, 3))), (lambda: values(torch.float32, (3,), 1))
    agree(lambda a, b: torch.add(a, b, alpha=0.3), lambda: (x(), y()), True, engine)
    agree(lambda a, b: a.sub(b, alpha=2), lambda: (x(), y()), True, engine)
    agree(lambda a, b: torch.rsub(a, b), lambda: (x(), y()), True, engine)
    agree(
        lambda a, b: torch.add(a, b, alpha=3),
        lambda: (values(torch.int32, (4,)), values(torch.int32, (4,), 1)),
        True,
        engine,
    )
    agree(lambda a: 1.5 - a, lambda: (x(),), True, engine)
    agree(lambda a: 1.5 / a, lambda: (x(),), True, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=name)
def test_three_operands(dtype, engine):
    def make():
        return tuple(values(dtype, (4, 5), i, 0.2, 3.0) for i in range(3))

    agree(lambda a, b, c: torch.addcmul(a, b, c), make, True, engine)
    agree(lambda a, b, c: torch.addcmul(a, b, c, value=0.5), make, False, engine)
    agree(lambda a, b, c: torch.addcdiv(a, b, c), make, True, engine)
    agree(lambda a, b, c: torch.addcdiv(a, b, c, value=0.3), make, False, engine)
    agree(lambda a, b, c: torch.lerp(a, b, 0.3), make, True, engine)
    agree(lambda a, b, c: torch.lerp(a, b, 0.7), make, True, engine)
    agree(lambda a, b, c: torch.lerp(a, b, c), make, True, engine)
    agree(lambda a, b, c: torch.where(a > b, b, c), make, True, engine)
    agree(lambda a, b, c: torch.where(a > b, 1.0, c), make, True, engine)
    agree(lambda a, b, c: a.where(a > b, 2), make, True, engine)
    agree(lambda a, b, c: a.masked_fill(b > c, 0.1), make, True, engine)
    agree(lambda a, b, c: torch.clamp(a, 0.5, 1.5), make, True, engine)
    agree(lambda a, b, c: torch.clamp(a, min=b), make, True, engine)
    agree(lambda a, b, c: torch.clamp(a, b, c), make, True, engine)
    agree(lambda a, b, c: a.clamp_max(1).clip(min=0.3), make, True, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_clamp_special(engine):
    agree(lambda x: torch.clamp(x, -0.5, 0.0), lambda: (torch.tensor(SPECIAL),), True, engine)
    agree(lambda x: x.clamp(min=0), lambda: (torch.tensor(SPECIAL),), True, engine)
    agree(lambda x: x.clamp(3, 1), lambda: (torch.tensor(SPECIAL),), True, engine)
    agree(lambda x: x.clamp(2), lambda: (values(torch.int64, (4,)),), True, engine)
    agree(lambda x: x.clamp(1.5), lambda: (values(torch.int64, (4,)),), True, engine)


# ---------------------------------------------------------------- reductions

REDUCTIONS = {
    "sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin,
    "any": torch.any, "all": torch.all, "var": torch.var, "std": torch.std,
    "logsumexp": torch.logsumexp, "prod": torch.prod, "max": torch.max, "min": torch.min,
    "argmax": torch.argmax, "argmin": torch.argmin,
}  # fmt: skip
ONE_DIM = {"prod", "max", "min", "argmax", "argmin"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ALL, ids=name)
@pytest.mark.parametrize("op", list(REDUCTIONS))
def test_reductions(op, dtype, engine):
    function = REDUCTIONS[op]
    make = lambda: (values(dtype, (3, 4, 5)),)  # noqa: E731
    bools = dtype == torch.bool and op in ("max", "min")
    if op != "logsumexp":
        agree(lambda x: function(x), make, False, engine)
    for dim in (0, 1, -1):
        for keep in (False, True):
            agree(lambda x: function(x, dim, keepdim=keep), make, False, engine, bools)
    if op not in ONE_DIM:
        agree(lambda x: function(x, (0, 2)), make, False, engine)
        agree(lambda x: function(x, dim=(-1, 1), keepdim=True), make, False, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_reductions_special(engine):
    x = torch.tensor([[1.0, float("nan"), 3.0], [float("inf"), 1.0, 1.0], [2.0, 5.0, 5.0]])
    for function in (torch.amax, torch.amin, torch.sum, torch.argmax, torch.argmin):
        agree(lambda x: function(x, 1), lambda: (x.clone(),), True, engine)
    agree(lambda x: x.max(1), lambda: (x.clone(),), True, engine)
    agree(lambda x: x.sum(dtype=torch.float64), lambda: (x.clone(),), True, engine)
    agree(lambda x: x.max(), lambda: (x.clone(),), True, engine)
    agree(lambda x: x.sum(0), lambda: (torch.ones(0, 3),), True, engine)
    agree(lambda x: x.sum(1), lambda: (torch.ones(0, 3),), True, engine)
    agree(lambda x: x.mean(0), lambda: (torch.ones(0, 3),), True, engine)
    agree(lambda x: x.amax(0), lambda: (torch.ones(0, 3),), True, engine)
    agree(lambda x: (x.sum(), x.mean(), x.max(0)), lambda: (torch.tensor(3.5),), True, engine, True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_softmax_and_norms(dtype, engine):
    make = lambda: (values(dtype, (3, 4, 5)),)  # noqa: E731
    agree(lambda x: torch.softmax(x, -1), make, False, engine)
    agree(lambda x: F.softmax(x, dim=1), make, False, engine)
    agree(lambda x: x.log_softmax(0), make, False, engine)
    agree(lambda x: F.softmax(x, -1, dtype=torch.float32), make, False, engine)
    agree(lambda x: F.layer_norm(x, (5,)), make, False, engine)
    agree(lambda x: F.layer_norm(x, (4, 5)), make, False, engine)
    agree(
        lambda x, w, b: F.layer_norm(x, (5,), w, b, 1e-3),
        lambda: (values(dtype, (3, 5)), values(dtype, (5,), 1), values(dtype, (5,), 2)),
        False,
        engine,
    )
    agree(lambda x: torch.linalg.vector_norm(x, dim=1), make, False, engine)
    agree(lambda x: x.norm(), make, False, engine, True)
    agree(lambda x: x / x.pow(2).mean(-1, keepdim=True).add(1e-6).sqrt(), make, False, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_batch_norm(engine):
    def make():
        shapes = ((2, 3, 4, 5), (3,), (3,), (3,), (3,))
        return tuple(values(torch.float32, s, i, 0.2, 2.0) for i, s in enumerate(shapes))

    def last():
        x, *rest = make()
        return x.to(memory_format=torch.channels_last), *rest

    for arguments in (make, last):
        agree(lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), arguments, False, engine)
        agree(lambda x, m, v, w, b: F.batch_norm(x, m, v, eps=0.1), arguments, False, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_softmax_special(engine):
    inf = float("inf")
    rows = torch.tensor([[-inf, -inf], [inf, 1.0], [1.0, float("nan")], [-inf, 0.0]])
    agree(lambda x: torch.softmax(x, -1), lambda: (rows.clone(),), False, engine)
    agree(lambda x: torch.logsumexp(x, -1), lambda: (rows.clone(),), False, engine)


# ---------------------------------------------------------------- matrix products


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)),
     ((2, 3, 4), (2, 4, 5)), ((6, 1, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (4,)),
     ((0, 4), (4, 5)), ((3, 0), (0, 5))],
    ids=str,
)  # fmt: skip
def test_matmul(shapes, engine):
    for dtype in (torch.float32, torch.float64, torch.int64):
        make = lambda: tuple(values(dtype, s, i) for i, s in enumerate(shapes))  # noqa: E731
        agree(lambda a, b: a @ b, make, False, engine)
    agree(lambda a, b: torch.matmul(a, b.to(a.dtype)), make, False, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_matrix_functions(engine):
    def make(*shapes):
        return lambda: tuple(values(torch.float32, s, i) for i, s in enumerate(shapes))

    agree(lambda a, b: torch.mm(a, b), make((3, 4), (4, 5)), False, engine)
    agree(lambda a, b: torch.mm(a.t(), b.t()), make((4, 3), (5, 4)), False, engine)
    agree(lambda a, b: torch.bmm(a, b), make((2, 3, 4), (2, 4, 5)), False, engine)
    agree(lambda a, b: torch.mv(a, b), make((3, 4), (4,)), False, engine)
    agree(lambda a, b: a.dot(b), make((4,), (4,)), False, engine)
    agree(lambda a, b: torch.outer(a, b), make((4,), (3,)), True, engine)
    agree(lambda c, a, b: torch.addmm(c, a, b), make((5,), (3, 4), (4, 5)), False, engine)
    agree(
        lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2),
        make((3, 5), (3, 4), (4, 5)),
        False,
        engine,
    )
    agree(
        lambda c, a, b: torch.baddbmm(c, a, b), make((2, 3, 5), (2, 3, 4), (2, 4, 5)), False, engine
    )
    agree(lambda x, w, b: F.linear(x, w, b), make((2, 3, 4), (5, 4), (5,)), False, engine)
    agree(lambda x, w: F.linear(x, w), make((4,), (5, 4)), False, engine)
    agree(lambda a, b: torch.mm(a, b), make((3, 4), (5, 5)), False, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_attention(engine):
    def make():
        return tuple(values(torch.float32, (2, 3, 5, 4), i) for i in range(3))

    agree(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), make, False, engine)
    agree(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        make,
        False,
        engine,
    )
    agree(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, (k[..., :1] < 1).mT, scale=0.3),
        make,
        False,
        engine,
    )


# ---------------------------------------------------------------- layouts


@pytest.mark.parametrize("engine", ENGINES)
def test_layouts(engine):
    def channels_last():
        return (values(torch.float32, (2, 3, 4, 5)).to(memory_format=torch.channels_last),)

    def permuted():
        return (values(torch.float32, (4, 3, 2)).permute(2, 0, 1),)

    def gapped():
        return (values(torch.float32, (4, 6))[:, ::2],)

    def expanded():
        return (values(torch.float32, (4, 1)).expand(4, 3),)

    functions = [
        lambda x: x + 1,
        lambda x: x * x,
        lambda x: torch.exp(x) < x,
        lambda x: -x,
        lambda x: x.double(),
        lambda x: x.clone(),
        lambda x: x.contiguous(),
        lambda x: torch.zeros_like(x),
        lambda x: torch.full_like(x, 2),
        lambda x: x.sum(1),
        lambda x: x.amax(0, keepdim=True),
        lambda x: x.softmax(1),
        lambda x: torch.where(x > 0, x, 0.5),
        lambda x: x.masked_fill(x > 0, 1.0),
        lambda x: x.clamp(0, 1),
        lambda x: torch.cat([x, x], 1),
        lambda x: F.gelu(x),
        lambda x: F.layer_norm(x, x.shape[-1:]),
        lambda x: x.flip(0),
        lambda x: torch.roll(x, 1, 0),
        lambda x: x.argmax(0),
        lambda x: x.lerp(x + 1, 0.25),
        lambda x: torch.tril(x),
        lambda x: x + x.contiguous(),
        lambda x: x.contiguous() + x,
        lambda x: x.relu().sigmoid().add(1),
        lambda x: x[:1],
        lambda x: x[0] + x,
    ]
    for f in functions:
        for make in (channels_last, permuted, gapped, expanded):
            agree(f, make, False, engine)


# ---------------------------------------------------------------- views and shapes

SHAPE_FUNCTIONS = [
    lambda x: x.view(6, 4),
    lambda x: x.view(-1),
    lambda x: x.reshape(4, -1),
    lambda x: x.reshape((2, 12)),
    lambda x: torch.reshape(x, (24,)),
    lambda x: x.flatten(),
    lambda x: x.flatten(1),
    lambda x: torch.flatten(x, 0, 1),
    lambda x: x.unflatten(-1, (2, 2)),
    lambda x: x.permute(2, 0, 1),
    lambda x: torch.permute(x, (0, 2, 1)),
    lambda x: x.transpose(0, -1),
    lambda x: x.mT,
    lambda x: x[0].T,
    lambda x: x[0].t(),
    lambda x: x.movedim(0, -1),
    lambda x: x.unsqueeze(0),
    lambda x: x.unsqueeze(-1).squeeze(-1),
    lambda x: x[:, :1].squeeze(1),
    lambda x: x[:1].squeeze(),
    lambda x: x[:, :1].expand(2, 3, 4),
    lambda x: x[0].expand(5, -1, -1),
    lambda x: torch.broadcast_to(x, (2, 2, 3, 4)),
    lambda x: x.narrow(1, 1, 2),
    lambda x: x.select(1, -1),
    lambda x: x.chunk(2, -1),
    lambda x: torch.chunk(x, 3, 2),
    lambda x: x.split(2, 1),
    lambda x: torch.split(x, [1, 2], 1),
    lambda x: x.unbind(1),
    lambda x: x.detach(),
    lambda x: x.transpose(0, 1).reshape(6, 4),
    lambda x: x.transpose(1, 2).flatten(),
    lambda x: x.transpose(1, 2).contiguous().view(-1),
    lambda x: torch.cat([x, x * 2], 0),
    lambda x: torch.cat((x, x.int()), -1),
    lambda x: torch.stack([x, x + 1]),
    lambda x: torch.stack([x, x + 1], -1),
    lambda x: torch.hstack([x, x]),
    lambda x: torch.vstack([x[0], x[1]]),
    lambda x: x.repeat(2, 1, 3),
    lambda x: x.repeat(2, 2, 1, 1),
    lambda x: torch.tile(x, (2,)),
    lambda x: x.repeat_interleave(3, 1),
    lambda x: x.flip(0, 2),
    lambda x: torch.roll(x, (1, -2), (0, 2)),
    lambda x: torch.roll(x, 5),
    lambda x: x.tril(-1),
    lambda x: x.triu(1),
    lambda x: F.pad(x, (1, 2)),
    lambda x: F.pad(x, (0, 0, 1, 1), value=3.0),
    lambda x: x.index_select(1, torch.tensor([2, 0])),
    lambda x: x[0],
    lambda x: x[1, 2],
    lambda x: x[-1, -1, -1],
    lambda x: x[..., 1],
    lambda x: x[:, 1:],
    lambda x: x[:, ::2, 1:3],
    lambda x: x[None, :, None],
    lambda x: x[1:, None, ..., -1],
    lambda x: x[5:],
    lambda x: x[:, torch.tensor([2, 0, -1])],
    lambda x: x[torch.tensor([[1, 0], [0, -2]])],
    lambda x: x[..., torch.tensor([1])],
    lambda x: x[1][:, 2],
    lambda x: (x.shape, x.size(1), x.dim(), x.numel(), x.stride(), x.dtype, len(x)),
    lambda x: x.is_contiguous(),
    lambda x: x.to(torch.float64),
    lambda x: x.to(torch.float32),
    lambda x: x.to("cpu", torch.int32),
    lambda x: x.type_as(x.double()),
    lambda x: x.new_zeros(2, 3) + x[0, 0, 0],
    lambda x: torch.zeros(2, 3) + torch.ones((2, 3)) + x[0, 0, 0],
    lambda x: torch.arange(4) + x,
    lambda x: torch.arange(1, 9, 2) * x,
    lambda x: torch.arange(4.0) + x,
    lambda x: torch.full((2, 1, 1), 7) * x,
    lambda x: torch.eye(3, 4) + x,
    lambda x: torch.tensor(2.5) * x,
    lambda x: torch.tensor([1, 2, 3, 4]) + x,
    lambda x: torch.ones_like(x, dtype=torch.int64) + 1,
    lambda x: F.embedding(torch.tensor([1, 0, 1]), x[0]),
    lambda x: F.mse_loss(x, x * 1.1),
    lambda x: F.dropout(x, 0.5, training=False) + 1,
    lambda x: x.count_nonzero(0),
    lambda x: torch.var_mean(x, 1),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", range(len(SHAPE_FUNCTIONS)))
def test_shapes(number, engine):
    agree(SHAPE_FUNCTIONS[number], lambda: (values(torch.float32, (2, 3, 4)),), False, engine)


# ---------------------------------------------------------------- writes


@pytest.mark.parametrize("engine", ENGINES)
def test_in_place(engine):
    def make():
        return (values(torch.float32, (3, 4)), values(torch.float32, (4,), 1))

    def add(x, y):
        x += y
        return x

    def several(x, y):
        z = x + 1
        z.mul_(2)
        z[0] = 5.0
        z[:, 1:3] = y[:2]
        z[z < 0] = 0
        z.clamp_(max=4).sub_(1)
        z.zero_()
        z.fill_(3)
        z += x
        return z

    def stores(x, y):
        z = torch.zeros(3, 4)
        z[1, 2] = 7
        z[2] = y
        z[..., 0] = x[:, 0]
        return z

    agree(add, make, True, engine)
    agree(several, make, True, engine)
    agree(stores, make, True, engine)
    agree(lambda x, y: x.mul_(y), make, True, engine)
    agree(lambda x, y: x.copy_(y), make, True, engine)
    agree(lambda x, y: torch.exp(x, out=x), make, False, engine)
    agree(lambda x, y: (x.add_(y), x * 2), make, True, engine)
    agree(lambda x, y: x.add_(1.5), lambda: (values(torch.int32, (3,)), None), True, engine)
    agree(lambda x, y: x.add_(2), lambda: (values(torch.int32, (3,)), None), True, engine)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.var(0),
        lambda x: x.std(),
        lambda x: torch.var_mean(x, (0, 1)),
        lambda x: x[:1].var(0),
        lambda x: x[1:].std(0),
        lambda x: torch.var(x, 1, correction=3),
        lambda x: x.T * 2,
        lambda x: x + x.stride(0) + x.stride(1),
    ],
    ids=str,
)
def test_warnings_and_strides_of_small_tensors(function):
    jitted = wok.jit(function)
    shapes = [(4, 5), (5, 5), (3, 3), (2, 3), (1, 4), (4, 1), (1, 1), (0, 4), (4, 0), (2, 2)]
    for dims in shapes:
        results = []
        for f in (function, jitted):
            with warnings.catch_warnings(record=True) as said, torch.no_grad():
                warnings.simplefilter("always")
                result = f(torch.arange(float(dims[0] * dims[1])).reshape(dims))
            results.append((repr(result), [str(w.message) for w in said]))
        assert results[1] == results[0], dims

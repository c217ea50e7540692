"""NumPy functions, methods and operators against eager."""

# ruff: noqa: B023 - each lambda is called before the loop goes on

import warnings

import differential
import numpy as np
import pytest
import wok
from differential import agree

ENGINES = list(differential.ENGINES)
FLOATS = [np.float64, np.float32, np.float16]
INTEGERS = [np.int64, np.int32, np.int16, np.int8, np.uint8]
ALL = FLOATS + INTEGERS + [np.bool_]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.7, 100.0, np.inf, -np.inf, np.nan, 1e-40]


def values(dtype, shape, seed=0, low=-3.0, high=3.0):
    x = np.random.default_rng(seed).uniform(low, high, shape)
    if dtype is np.bool_:
        return np.asarray(x > 0)
    return np.asarray(np.abs(x) if dtype is np.uint8 else x).astype(dtype)


def name(item):
    return getattr(item, "__name__", str(item))


EXACT_UNARY = {
    "neg": lambda x: -x, "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "rint": np.rint, "square": np.square, "isnan": np.isnan,
    "isinf": np.isinf, "isfinite": np.isfinite, "logical_not": np.logical_not,
    "invert": lambda x: ~x, "copy": lambda x: x.copy(), "builtin_abs": lambda x: abs(x),
    "astype_f4": lambda x: x.astype(np.float32), "astype_i4": lambda x: x.astype("int32"),
    "astype_bool": lambda x: x.astype(bool), "zeros_like": np.zeros_like,
}  # fmt: skip
CLOSE_UNARY = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "tanh": np.tanh, "sqrt": np.sqrt,
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ALL, ids=name)
@pytest.mark.parametrize("op", [*EXACT_UNARY, *CLOSE_UNARY])
def test_unary(op, dtype, engine):
    function = EXACT_UNARY.get(op) or CLOSE_UNARY[op]
    exact = op in EXACT_UNARY
    positive = op in ("log", "log2", "log10", "log1p", "sqrt")
    low = 1.5 if positive else -3.0
    agree(lambda x: function(x), lambda: (values(dtype, (3, 5), 0, low),), exact, engine)
    agree(lambda x: function(x), lambda: (values(dtype, (), 0, low),), exact, engine)
    agree(lambda x: function(x), lambda: (values(dtype, (0, 3)),), exact, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", [*EXACT_UNARY, *CLOSE_UNARY])
def test_unary_special(op, engine):
    function = EXACT_UNARY.get(op) or CLOSE_UNARY[op]
    if op.startswith("astype_i"):
        return
    with np.errstate(all="ignore"):
        for dtype in (np.float64, np.float32):
            agree(
                lambda x: function(x),
                lambda: (np.array(SPECIAL, dtype),),
                op in EXACT_UNARY,
                engine,
            )


BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "fmod": np.fmod,
}  # fmt: skip
# Which zero they give is not specified.
UNSIGNED = ("maximum", "minimum", "fmax", "fmin")
BITS = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", [*BINARY, *BITS])
def test_binary_dtypes(op, engine):
    f = BINARY.get(op) or BITS[op]
    for a in ALL:
        for b in ALL:
            # No zeros among divisors: NumPy warns.
            shift = 0 if issubclass(b, np.floating) else 4

            def make():
                return (
                    values(a, (3, 5)),
                    (values(b, (3, 5), 1) + shift).astype(b),
                )

            left = a is b is np.bool_ and op in ("floordiv", "mod", "fmod")
            agree(lambda x, y: f(x, y), make, op not in UNSIGNED, engine, left)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", list(BINARY))
@pytest.mark.parametrize("dtype", ALL, ids=name)
def test_binary_numbers(op, dtype, engine):
    f = BINARY[op]
    logical = op.startswith("logical") or op in ("maximum", "minimum", "fmax", "fmin", "fmod")
    for number in (2, 3, 0.1, 2.5, True, -3):
        # Left to eager: ints that the dtype does not hold, int8 from bools.
        left = (dtype is np.uint8 and number == -3) or (dtype is np.bool_ and number is True)
        agree(lambda x, y: f(x, y), lambda: (values(dtype, (7,)), number), True, engine, left)
        if not logical:
            agree(
                lambda x, y: f(x, y),
                lambda: (number, values(dtype, (7,), 2, 1, 5)),
                True,
                engine,
                left,
            )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op", list(BINARY))
def test_binary_special(op, engine):
    f = BINARY[op]
    with np.errstate(all="ignore"):
        for dtype in (np.float64, np.float32):
            x = np.array(SPECIAL, dtype)
            agree(
                lambda x, y: f(x, y),
                lambda: (x[:, None].copy(), x.copy()),
                op not in UNSIGNED,
                engine,
            )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ALL, ids=name)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, -1, 1.5, 2.0])
def test_power(dtype, exponent, engine):
    make = lambda: (values(dtype, (9,), 0, 0.2),)  # noqa: E731
    bools = dtype is np.bool_
    agree(lambda x: x**exponent, make, exponent in (0, 1, 2, -1, 2.0), engine, bools)
    agree(lambda x: np.power(x, exponent), make, False, engine, bools)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64], ids=name)
def test_three_operands(dtype, engine):
    def make():
        return tuple(values(dtype, (4, 5), i) for i in range(3))

    agree(lambda a, b, c: np.where(a > b, b, c), make, True, engine)
    agree(lambda a, b, c: np.where(a > b, 0, c), make, True, engine)
    agree(lambda a, b, c: np.where(a, b, 1.5), make, True, engine)
    agree(lambda a, b, c: np.clip(a, -1, 1), make, True, engine)
    agree(lambda a, b, c: a.clip(b, c), make, True, engine)
    agree(lambda a, b, c: np.clip(a, None, 0.5), make, True, engine)


# ---------------------------------------------------------------- reductions

REDUCTIONS = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
    "any": np.any, "all": np.all, "argmax": np.argmax, "argmin": np.argmin, "var": np.var,
    "std": np.std, "ptp": np.ptp,
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ALL, ids=name)
@pytest.mark.parametrize("op", list(REDUCTIONS))
def test_reductions(op, dtype, engine):
    function = REDUCTIONS[op]
    make = lambda: (values(dtype, (3, 4, 5)),)  # noqa: E731
    # Left to eager: uint64 results, float16 moments, positions of bools.
    left = (
        (dtype is np.uint8 and op in ("sum", "prod"))
        or (dtype is np.float16 and op in ("var", "std"))
        or (dtype is np.bool_ and op.startswith("arg"))
    )
    agree(lambda x: function(x), make, False, engine, left)
    for axis in (0, 1, -1):
        agree(lambda x: function(x, axis=axis), make, False, engine, left)
        agree(lambda x: function(x, axis, keepdims=True), make, False, engine, left)
    if not op.startswith("arg"):
        agree(lambda x: function(x, axis=(0, 2)), make, False, engine, left)
        if op != "ptp":
            agree(lambda x: getattr(x, op)(1), make, False, engine, left)


@pytest.mark.parametrize("engine", ENGINES)
def test_reductions_special(engine):
    with np.errstate(all="ignore"):
        x = np.array([[1.0, np.nan, 3.0], [np.inf, 1.0, 1.0], [2.0, 5.0, 5.0]])
        for function in (np.max, np.min, np.sum, np.argmax, np.argmin, np.any):
            agree(lambda x: function(x, 1), lambda: (x.copy(),), True, engine)
            agree(lambda x: function(x), lambda: (x.copy(),), True, engine)
        agree(lambda x: x.sum(0), lambda: (np.ones((0, 3)),), True, engine)
        agree(lambda x: x.sum(1), lambda: (np.ones((0, 3)),), True, engine)
        agree(lambda x: x.max(0), lambda: (np.ones((0, 3)),), True, engine)
        agree(lambda x: x.std(ddof=1), lambda: (values(np.float64, (9,)),), False, engine)
        agree(lambda x: x.sum(dtype=np.float64), lambda: (values(np.float32, (9,)),), False, engine)
        agree(lambda x: x.mean(), lambda: (np.ones((0,)),), False, engine, True)


# ---------------------------------------------------------------- matrix products


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)),
     ((2, 3, 4), (2, 4, 5)), ((3, 4), (5, 5))],
    ids=str,
)  # fmt: skip
def test_matmul(shapes, engine):
    for a in (np.float64, np.float32, np.int64):
        for b in (np.float64, np.float32):
            make = lambda: (values(a, shapes[0]), values(b, shapes[1], 1))  # noqa: E731
            agree(lambda x, y: x @ y, make, False, engine)
    left = len(shapes[1]) > 2
    agree(lambda x, y: np.dot(x, y), make, False, engine, left)
    agree(lambda x, y: x.dot(y), make, False, engine, left)
    agree(lambda x, y: np.matmul(x, y), make, False, engine)


# ---------------------------------------------------------------- views, shapes, layouts

FUNCTIONS = [
    lambda x: x.reshape(6, 4),
    lambda x: x.reshape((4, -1)),
    lambda x: np.reshape(x, 24),
    lambda x: x.ravel(),
    lambda x: x.flatten(),
    lambda x: x.T,
    lambda x: x.transpose(1, 0, 2),
    lambda x: np.transpose(x, (2, 0, 1)),
    lambda x: x.swapaxes(0, 2),
    lambda x: np.expand_dims(x, 1),
    lambda x: x[:, :1].squeeze(1),
    lambda x: np.squeeze(x[:1]),
    lambda x: np.concatenate([x, x]),
    lambda x: np.concatenate((x, x.astype(np.float32)), axis=-1),
    lambda x: np.stack([x, x]),
    lambda x: np.stack((x, x), axis=-1),
    lambda x: np.vstack([x[0], x[1]]),
    lambda x: np.hstack([x[0], x[1]]),
    lambda x: np.outer(x[0, 0], x[1, 1]),
    lambda x: np.diff(x),
    lambda x: np.diff(x, axis=0),
    lambda x: np.take(x, np.array([2, 0, -1]), axis=1),
    lambda x: x[0],
    lambda x: x[1, 2],
    lambda x: x[-1, -1, -1],
    lambda x: x[0, 0, 0] * 2,
    lambda x: x[..., 1],
    lambda x: x[0, 0, 0, ...],
    lambda x: x[:, ::-1],
    lambda x: x[::-1, 1:, ::2] + 1,
    lambda x: x[None, :, None],
    lambda x: x[1:, np.newaxis, ..., -1],
    lambda x: x[:, np.array([2, 0, -1])],
    lambda x: x[np.array([[1, 0], [0, -2]])],
    lambda x: x.T[np.array([1, 0])],
    lambda x: x.T[:, np.array([1, 0])],
    lambda x: (x.shape, x.ndim, x.size, x.dtype, len(x), x.itemsize, x.nbytes),
    lambda x: np.zeros((3, 4)) + x,
    lambda x: np.ones(4, dtype=np.float32) * x,
    lambda x: np.full((3, 1), 2) * x,
    lambda x: np.full_like(x, 7),
    lambda x: np.ones_like(x, dtype=int),
    lambda x: np.arange(4) + x,
    lambda x: np.arange(1, 9, 2) * x,
    lambda x: np.arange(0.0, 2.0, 0.5) * x,
    lambda x: x.sum() * 2 + 1,
    lambda x: x.mean() - x,
    lambda x: x.astype(np.int64).sum() / 3,
    lambda x: np.float32(2) * x.astype(np.float32),
    lambda x: np.float64(2) * x.astype(np.float32),
    lambda x: np.asarray(x) * np.array(x),
    lambda x: sum([x, x, 1]),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_shapes(number, engine):
    agree(FUNCTIONS[number], lambda: (values(np.float64, (2, 3, 4)),), False, engine)


LAYOUT_FUNCTIONS = [
    lambda x: x + 1,
    lambda x: x * x,
    lambda x: np.exp(x) < x,
    lambda x: x + x.copy(),
    lambda x: x.copy() + x,
    lambda x: x.astype(np.float32),
    lambda x: np.where(x > 0, x, 0.0),
    lambda x: np.clip(x, 0, 1),
    lambda x: np.zeros_like(x),
    lambda x: x.sum(0),
    lambda x: x.max(-1),
    lambda x: x.mean(1),
    lambda x: np.copy(x),
    lambda x: x.ravel(),
    lambda x: x.reshape(-1),
    lambda x: x[0] + x,
    lambda x: x[1:],
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", range(len(LAYOUT_FUNCTIONS)))
def test_layouts(number, engine):
    base = lambda: values(np.float64, (4, 3, 2))  # noqa: E731
    for make in (
        lambda: (base().T,),
        lambda: (base().transpose(2, 0, 1),),
        lambda: (base()[:, ::2],),
        lambda: (base()[::-1],),
        lambda: (np.asfortranarray(base()),),
        lambda: (base()[:, :, :1],),
    ):
        agree(LAYOUT_FUNCTIONS[number], make, False, engine)


# ---------------------------------------------------------------- writes


@pytest.mark.parametrize("engine", ENGINES)
def test_in_place(engine):
    def make():
        return values(np.float64, (3, 4)), values(np.float64, (4,), 1)

    def several(x, y):
        z = x + 1
        z *= 2
        z[0] = 5.0
        z[:, 1:3] = y[:2]
        z[z < 0] = 0
        z -= x
        np.add(z, y, out=z)
        return z

    def stores(x, y):
        z = np.zeros((3, 4))
        z[1, 2] = 7
        z[2] = y
        z[..., 0] = x[:, 0]
        return z

    def write(x, y):
        x += y
        return x

    agree(several, make, True, engine)
    agree(stores, make, True, engine)
    agree(write, make, True, engine)
    agree(lambda x, y: x.__iadd__(y), make, True, engine, True)


def normal_cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * -1.821255978)))
    upper = 0.3989422804014327 * np.exp(-0.5 * x * x) * poly
    return np.where(x >= 0, 1.0 - upper, upper)


def black_scholes(spot, strike, years, rate, volatility):
    scale = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / scale
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d1 - scale)
    return call, call - spot + discounted


@pytest.mark.parametrize("engine", ENGINES)
def test_black_scholes(engine):
    def make():
        arrays = (values(np.float64, (100,), i, 10, 50) for i in range(3))
        return (*arrays, 0.02, 0.3)

    agree(black_scholes, make, False, engine)


EXTREMES = [
    0.0, -0.0, 1.0, -1.0, -2.0, np.inf, -np.inf, np.nan, 800.0, -800.0, 2000.0, -2000.0, 1e-310,
    5e-324, 1e300, 1e10, -1 + 1e-16, 709.5, 0.5, -708.5, -745.0, -1074.5, -1023.5,
]  # fmt: skip


@pytest.mark.parametrize("category", ["divide", "over", "under", "invalid"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=name)
@pytest.mark.parametrize("op", list(CLOSE_UNARY))
def test_floating_point_errors(op, dtype, category):
    """What raises an error in NumPy raises it in a kernel, alone or in a vector."""

    def error(function, x):
        try:
            function(x)
        except FloatingPointError as raised:
            return str(raised)

    # Code of its own: one site would hold a limited number of functions.
    function = eval(f"lambda x: np.{op}(x)", {"np": np})
    jitted = wok.jit(function)
    with np.errstate(all="ignore"):
        cases = [np.full(width, 0.25, dtype) for width in (1, 9) for _ in EXTREMES]
        for x, value in zip(cases, EXTREMES * 2):
            x[-1] = value
    with np.errstate(all="ignore"), np.errstate(**{category: "raise"}):
        for x in cases:
            expected = error(function, x)
            assert error(jitted, x) == expected, x[-1]
            assert error(jitted, x) == expected, x[-1]


@pytest.mark.parametrize(
    "dtype, number", [("f2", 100000), ("f2", 1e6), ("f4", 1e300), ("f4", 10**60)]
)
def test_number_beyond_the_dtype_warns(dtype, number):
    def f(a):
        return a + number

    jitted = wok.jit(f)
    for _ in range(3):
        results = []
        for g in (f, jitted):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    result = repr(g(np.ones(3, dtype)))
                except OverflowError as error:
                    result = repr(error)
            results.append((result, [str(w.message) for w in said]))
        assert results[1] == results[0]

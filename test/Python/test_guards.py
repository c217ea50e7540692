"""A compiled subgraph runs only while everything that it assumed holds.

Each test calls a function until it is compiled, changes one property, and expects eager's result
and a lookup that missed (or, for what is answered another way, no compiled run).
"""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
import wok

SCALE = 2.0
TABLE = {"a": 2.0}


def counters():
    return wok.stats()


def same(a, b):
    if isinstance(a, torch.Tensor):
        alike = a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
        return alike and torch.equal(a, b)
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


def compiled(function, *args, calls=3):
    """Calls a jitted function until its calls hit; returns it."""
    for _ in range(calls):
        function(*args)
    before = counters()
    function(*args)
    after = counters()
    assert after["misses"] == before["misses"], "does not hit on equal arguments"
    assert after["ops_compiled"] > before["ops_compiled"], "was not compiled"
    return function


def check_miss(jitted, plain, *args):
    """The next call misses, and gives what plain Python gives."""
    expected = plain(*args)
    before = counters()["misses"]
    assert same(jitted(*args), expected)
    assert counters()["misses"] > before


@pytest.fixture(autouse=True)
def fresh():
    wok.reset()
    yield


def double(t):
    return t * 2 + 1


BASE = torch.arange(12.0).reshape(3, 4)

OTHERS = {
    "f64": BASE.double(),
    "bf16": BASE.bfloat16(),
    "i64": torch.arange(12).reshape(3, 4),
    "shape": torch.arange(12.0).reshape(4, 3),
    "rank": torch.arange(12.0).reshape(3, 2, 2),
    "transposed": torch.arange(12.0).reshape(4, 3).t(),
    "strided": torch.arange(24.0).reshape(3, 8)[:, ::2],
    "0-dim": torch.tensor(3.0),
    "empty": torch.empty(0, 4),
    "ndarray": np.arange(12.0, dtype=np.float32).reshape(3, 4),
    "negative": torch._neg_view(BASE),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_tensor_property(other):
    check_miss(compiled(wok.jit(double), BASE), double, other)


def test_tensor_subclass():
    class Sub(torch.Tensor):
        pass

    jitted = compiled(wok.jit(double), BASE)
    before = counters()["ops_compiled"]
    assert type(jitted(BASE.as_subclass(Sub))) is Sub
    assert counters()["ops_compiled"] == before


def test_requires_grad():
    jitted = compiled(wok.jit(double), BASE)
    leaf = BASE.clone().requires_grad_()
    result = jitted(leaf)
    assert result.requires_grad and result.grad_fn is not None
    result.sum().backward()
    assert torch.equal(leaf.grad, torch.full((3, 4), 2.0))
    with torch.no_grad():
        assert not jitted(leaf).requires_grad


ARRAY = np.arange(12.0).reshape(3, 4)
ARRAYS = {
    "f32": ARRAY.astype(np.float32),
    "transposed": ARRAY.reshape(4, 3).T,
    "strided": np.arange(24.0).reshape(3, 8)[:, ::2],
    "reversed": ARRAY[::-1],
    "swapped": ARRAY.astype(">f8"),
    "fortran": np.asfortranarray(ARRAY),
}


@pytest.mark.parametrize("other", ARRAYS.values(), ids=ARRAYS.keys())
def test_array_property(other):
    check_miss(compiled(wok.jit(double), ARRAY), double, other)


@pytest.mark.parametrize("first, second", [(2, True), (2, 2.0), (0.0, -0.0), (1, 2), (1.5, 2.5)])
def test_scalar_argument(first, second):
    def f(t, s):
        return t * s

    jitted = compiled(wok.jit(f), BASE, first)
    result, expected = jitted(BASE, second), f(BASE, second)
    assert same(result, expected)
    assert torch.equal(torch.signbit(result), torch.signbit(expected))


def test_nan_argument():
    def f(t, s):
        return t + 1 if s != s else t - 1  # noqa: PLR0124

    check_miss(compiled(wok.jit(f), BASE, float("nan")), f, BASE, 1.0)


def test_string_argument():
    def f(t, mode):
        return t + 1 if mode == "up" else t - 1

    jitted = compiled(wok.jit(f), BASE, "up")
    # Equal, though another object.
    before = counters()["misses"]
    assert same(jitted(BASE, "".join(["u", "p"])), f(BASE, "up"))  # noqa: FLY002
    assert counters()["misses"] == before
    check_miss(jitted, f, BASE, "down")


def test_none_argument():
    def f(t, bias=None):
        return t * 2 if bias is None else t * 2 + bias

    check_miss(compiled(wok.jit(f), BASE), f, BASE, torch.ones(4))
    check_miss(compiled(wok.jit(f), BASE, torch.ones(4)), f, BASE, 3)


def test_global(monkeypatch):
    def f(t):
        return t * SCALE

    jitted = compiled(wok.jit(f), BASE)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    check_miss(jitted, f, BASE)


def test_global_dict(monkeypatch):
    def f(t):
        return t * TABLE["a"]

    jitted = compiled(wok.jit(f), BASE)
    monkeypatch.setitem(TABLE, "a", 5.0)
    check_miss(jitted, f, BASE)


def test_builtin_shadowed(monkeypatch):
    def f(t):
        return t * len((1, 2))

    jitted = compiled(wok.jit(f), BASE)
    monkeypatch.setitem(globals(), "len", lambda _: 7)
    check_miss(jitted, f, BASE)


def test_closure_cell():
    def make():
        factor = 2.0

        def f(t):
            return t * factor

        def change(value):
            nonlocal factor
            factor = value

        return f, change

    f, change = make()
    jitted = compiled(wok.jit(f), BASE)
    change(4.0)
    check_miss(jitted, f, BASE)


def test_default():
    def f(t, s=2.0):
        return t * s

    jitted = compiled(wok.jit(f), BASE)
    f.__defaults__ = (3.0,)
    assert same(jitted(BASE), BASE * 3.0)


def test_keyword_default():
    def f(t, *, s=2.0):
        return t * s

    jitted = compiled(wok.jit(f), BASE)
    assert same(jitted(BASE, s=5.0), BASE * 5.0)
    f.__kwdefaults__["s"] = 3.0
    assert same(jitted(BASE), BASE * 3.0)


def test_inlined_function_code():
    def helper(t):
        return t * 2

    def other(t):
        return t * 3

    def f(t):
        return helper(t) + 1

    jitted = compiled(wok.jit(f), BASE)
    helper.__code__ = other.__code__
    check_miss(jitted, f, BASE)


class Model:
    scale = 2.0

    def __init__(self):
        self.bias = 1.0


def affine(model, t):
    return t * model.scale + model.bias


def test_instance_attribute():
    model = Model()
    jitted = compiled(wok.jit(affine), model, BASE)
    model.bias = 7.0
    check_miss(jitted, affine, model, BASE)


def test_instance_attribute_shadows_class():
    model = Model()
    jitted = compiled(wok.jit(affine), model, BASE)
    model.scale = 5.0
    check_miss(jitted, affine, model, BASE)


def test_class_attribute(monkeypatch):
    model = Model()
    jitted = compiled(wok.jit(affine), model, BASE)
    monkeypatch.setattr(Model, "scale", 9.0)
    check_miss(jitted, affine, model, BASE)


def scaled(model, t):
    return t * model.scale


def test_attribute_becomes_property():
    class Local:
        scale = 2.0

    model = Local()
    jitted = compiled(wok.jit(scaled), model, BASE)
    Local.scale = property(lambda self: 6.0)
    assert same(jitted(model, BASE), BASE * 6.0)


def test_attribute_deleted():
    class Local:
        scale = 2.0

    model = Local()
    model.scale = 3.0
    jitted = compiled(wok.jit(scaled), model, BASE)
    del model.scale
    check_miss(jitted, scaled, model, BASE)


def test_class_of_instance():
    class A:
        scale = 2.0

    class B:
        scale = 3.0

    model = A()
    jitted = compiled(wok.jit(scaled), model, BASE)
    model.__class__ = B
    check_miss(jitted, scaled, model, BASE)


def test_slots():
    class Slotted:
        __slots__ = ("scale",)

    model = Slotted()
    model.scale = 2.0
    jitted = compiled(wok.jit(scaled), model, BASE)
    model.scale = 3.0
    assert same(jitted(model, BASE), BASE * 3.0)
    del model.scale
    with pytest.raises(AttributeError):
        jitted(model, BASE)


@pytest.mark.parametrize(
    "first, second", [([1.0, 2.0], [1.0, 2.0, 3.0]), ([1.0], (1.0,)), ([1.0], [4.0])]
)
def test_sequence(first, second):
    def f(xs, t):
        for x in xs:
            t = t + x
        return t

    jitted = compiled(wok.jit(f), first, BASE)
    assert same(jitted(second, BASE), f(second, BASE))


def test_same_object():
    def f(a, b):
        return a + 1 if a is b else a - 1

    x, y = torch.ones(3), torch.ones(3)
    check_miss(compiled(wok.jit(f), x, x), f, x, y)
    wok.reset()
    check_miss(compiled(wok.jit(f), x, y), f, y, y)


def test_grad_mode_read():
    def f(t):
        return t + 1 if torch.is_grad_enabled() else t - 1

    jitted = compiled(wok.jit(f), BASE)
    with torch.no_grad():
        assert same(jitted(BASE), BASE - 1)
    assert same(jitted(BASE), BASE + 1)


def test_function_mode():
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    jitted = compiled(wok.jit(double), BASE)
    with Mode():
        jitted(BASE)
    assert len(seen) == 2


def test_dispatch_mode():
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    jitted = compiled(wok.jit(double), BASE)
    with Mode():
        jitted(BASE)
    assert len(seen) == 2


def test_vmap():
    jitted = compiled(wok.jit(double), BASE)
    assert same(torch.vmap(jitted)(BASE), double(BASE))


def test_autocast():
    def f(a, b):
        return a @ b + 1

    a = torch.ones(4, 4)
    jitted = compiled(wok.jit(f), a, a)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert jitted(a, a).dtype == f(a, a).dtype


def test_default_dtype():
    def f(i):
        return i / 2

    i = torch.arange(4)
    jitted = compiled(wok.jit(f), i)
    torch.set_default_dtype(torch.float64)
    try:
        assert jitted(i).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_errstate():
    def f(x):
        return 1.0 / x

    a = np.array([1.0, 0.0])
    jitted = wok.jit(f)
    with np.errstate(divide="ignore"):
        compiled(jitted, a)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        jitted(a)
    with np.errstate(divide="warn"), pytest.warns(RuntimeWarning, match="divide"):
        jitted(a)


def test_module_training_and_parameters():
    model = torch.nn.Linear(4, 4)

    def f(model, t):
        out = model(t)
        return out + 1 if model.training else out - 1

    def check():
        torch.testing.assert_close(jitted(model, BASE), f(model, BASE))

    with torch.no_grad():
        jitted = wok.jit(f)
        for _ in range(3):
            check()
        model.eval()
        check()
        model.weight.data = torch.ones(4, 4)
        check()
        model.weight = torch.nn.Parameter(torch.zeros(4, 4))
        check()
        model.bias.add_(3)
        check()
        model.double().float()
        check()


def test_dynamic_extents():
    jitted = wok.jit(double)
    for n in (3, 4, 5, 6, 7):
        t = torch.arange(float(n))
        assert same(jitted(t), double(t))
    before = counters()
    for n in (8, 19, 20):
        t = torch.arange(float(n))
        assert same(jitted(t), double(t))
    after = counters()
    assert after["misses"] == before["misses"]
    assert after["captures"] == before["captures"]


def test_extents_that_must_agree():
    def f(a, b):
        return a + b

    jitted = wok.jit(f)
    for n in (3, 4, 5):
        assert same(jitted(torch.ones(n), torch.ones(n)), torch.full((n,), 2.0))
    assert same(jitted(torch.ones(6), torch.ones(1)), torch.full((6,), 2.0))
    with pytest.raises(RuntimeError):
        jitted(torch.ones(6), torch.ones(5))


def test_identity_guards_hold_nothing():
    """A class that a guard names dies with its last user, and its entry with it."""

    class Local:
        scale = 2.0

    jitted = compiled(wok.jit(scaled), Local(), BASE)
    died = weakref.ref(Local)
    del Local
    gc.collect()
    assert died() is None

    class Again:
        scale = 4.0

    assert same(jitted(Again(), BASE), BASE * 4)


def test_many_values_keep_within_budget():
    def f(t, mode):
        return t + len(mode)

    jitted = wok.jit(f)
    for i in range(40):
        assert same(jitted(BASE, "x" * i), BASE + i)
    assert counters()["subgraphs"] <= 8


def test_own_attribute_hides_a_method():
    def f(t):
        return t.relu() + 1

    jitted = compiled(wok.jit(f), BASE)
    shadowed = BASE.clone()
    shadowed.relu = lambda: BASE * 7
    check_miss(jitted, f, shadowed)
    assert same(jitted(BASE), f(BASE))


def test_attributes_of_tensors():
    def f(t):
        return t * getattr(t, "scale", 3) + hasattr(t, "scale")

    jitted = wok.jit(f)
    for scale in (None, None, 2, 4, 2.5, None, BASE):
        t = BASE.clone()
        if scale is not None:
            t.scale = scale
        assert same(jitted(t), f(t))


def by_operator(t):
    return t * 2 + 1


def by_method(t):
    return t.relu() + t.sum()


def by_attribute(t):
    return t + t.ndim


def fresh_only(t):
    return torch.ones(3) * 2 + torch.arange(3)


@pytest.mark.parametrize("first", ["before", "after"])
@pytest.mark.parametrize(
    "function, name, value",
    [
        (by_operator, "__mul__", lambda a, b: torch.add(a, 100)),
        (by_operator, "__add__", lambda a, b: torch.sub(a, b)),
        (by_method, "relu", lambda a: torch.add(a, 100)),
        (by_method, "relu", torch.Tensor.abs),
        (by_attribute, "ndim", property(lambda t: 77)),
        (by_attribute, "ndim", 5),
        (fresh_only, "__mul__", lambda a, b: torch.add(a, 100)),
    ],
)
def test_changed_class_of_tensors(function, name, value, first):
    parameter = torch.nn.Parameter(BASE, requires_grad=False)
    jitted = wok.jit(function)
    if first == "before":
        for t in (BASE, parameter) * 3:
            assert same(jitted(t), function(t))
    inherited = name not in vars(torch.Tensor)
    assert inherited
    setattr(torch.Tensor, name, value)
    try:
        for t in (BASE, parameter) * 3:
            assert same(jitted(t), function(t))
    finally:
        delattr(torch.Tensor, name)
    for t in (BASE, parameter) * 3:
        assert same(jitted(t), function(t))
    # A method that hides nothing leaves tensors as they are.
    torch.Tensor.of_the_program = lambda self: self
    wok.reset()
    try:
        compiled(wok.jit(function), BASE)
    finally:
        del torch.Tensor.of_the_program


def test_code_of_a_library_function():
    softmax = torch.nn.functional.softmax

    def f(t):
        return softmax(t, -1) + 1

    def other(input, dim=None, _stacklevel=3, dtype=None):
        return input

    jitted = compiled(wok.jit(f), BASE)
    code = softmax.__code__
    softmax.__code__ = other.__code__
    try:
        check_miss(jitted, f, BASE)
    finally:
        softmax.__code__ = code
    assert same(jitted(BASE), f(BASE))


def test_function_of_the_program_under_a_librarys_name():
    program = """
import torch
torch.nn.functional.gelu = lambda x: x * 100
torch.relu = lambda x: x - 5
import wok
def f(t):
    return torch.nn.functional.gelu(t) + torch.relu(t)
g = wok.jit(f)
t = torch.arange(-2.0, 2)
print(all(torch.equal(f(t), g(t)) for _ in range(4)))
"""
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "True", out.stdout + out.stderr


def test_trace():
    def f(t):
        return (t * 2 + 1).relu()

    jitted = compiled(wok.jit(f), BASE)
    traced = torch.jit.trace(jitted, (BASE,))
    other = BASE - 3
    assert same(traced(other), f(other))
    assert same(jitted(BASE), f(BASE))


class Holder:
    there = 1


def key_of_a_dict(t, d, o):
    return t * 2 if "x" in d else t * 3


def unread_key(t, d, o):
    d["x"]  # noqa: B018
    return t * 2


def has_attribute(t, d, o):
    return t * 2 if hasattr(o, "x") else t * 3


def unread_attribute(t, d, o):
    o.x  # noqa: B018
    return t * 2


def class_attribute(t, d, o):
    return t * 2 if hasattr(o, "there") else t * 3


def unread_global(t, d, o):
    SOMETHING  # noqa: F821, B018
    return t * 2


@pytest.mark.parametrize(
    "function",
    [key_of_a_dict, unread_key, has_attribute, unread_attribute, class_attribute, unread_global],
)
def test_what_was_found_is_there(function):
    """A key, attribute or variable that decided nothing but by being there."""

    def arrange(present):
        holder = Holder()
        if present:
            globals()["SOMETHING"] = 1
            Holder.there = 1
            holder.x = 1
        else:
            globals().pop("SOMETHING", None)
            if "there" in vars(Holder):
                del Holder.there
        return BASE, {"x": 1} if present else {"y": 1}, holder

    for order in ([True, True, True, False, True, False], [False, False, True, False]):
        wok.reset()
        jitted = wok.jit(function)
        for present in order:
            results = []
            for f in (function, jitted):
                try:
                    results.append(f(*arrange(present)).tolist())
                except (KeyError, AttributeError, NameError) as error:
                    results.append(repr(error))
            assert results[1] == results[0]
    arrange(True)
    del globals()["SOMETHING"]

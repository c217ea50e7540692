"""`wok.jit` and `wok.disable`: what they return behaves as what they were given."""

import asyncio
import copy
import functools
import inspect
import os
import pickle
import subprocess
import sys
import types
import warnings
import weakref

import pytest
import wok
from wok import _wok


@wok.jit
def plain(a, b=2, *rest, key: int = 3, **more) -> tuple:
    """Says what it got."""
    return a, b, rest, key, more


@wok.jit(fullgraph=False, dynamic=True)
def with_arguments(x):
    return x + 1


def undecorated(x, *, scale=2):
    """Undecorated."""
    return x * scale


class Thing:
    def __init__(self, value):
        self.value = value

    @wok.jit
    def method(self, x):
        """A method."""
        return self.value + x

    @staticmethod
    @wok.jit
    def static_inner(x):
        return x + 10

    @wok.jit
    @staticmethod
    def static_outer(x):
        return x + 20

    @classmethod
    @wok.jit
    def class_inner(cls, x):
        return cls.__name__, x

    @wok.jit
    @classmethod
    def class_outer(cls, x):
        return cls.__name__, x

    @property
    @wok.jit
    def doubled(self):
        return 2 * self.value

    def __call__(self, x):
        return self.value * x


def test_calls_bind_arguments_as_python_does():
    assert plain(1) == (1, 2, (), 3, {})
    assert plain(1, 5, 6, key=7, other=8) == (1, 5, (6,), 7, {"other": 8})
    assert plain(*[1, 2], **{"key": 4}) == (1, 2, (), 4, {})
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        plain()


def test_decorator_with_arguments():
    assert with_arguments(1) == 2
    assert type(with_arguments) is _wok.JitFunction


def test_name_signature_documentation_attributes():
    assert plain.__name__ == "plain"
    assert plain.__qualname__ == "plain"
    assert plain.__module__ == __name__
    assert plain.__doc__ == "Says what it got."
    assert plain.__annotations__ == {"key": int, "return": tuple}
    assert inspect.signature(plain) == inspect.signature(plain.__wrapped__)
    assert inspect.unwrap(plain) is plain.__wrapped__
    assert plain.__code__ is plain.__wrapped__.__code__
    assert inspect.getsource(plain).startswith("@wok.jit")

    def f():
        pass

    f.tag = "x"
    g = wok.jit(f)
    assert g.tag == "x"
    g.more = 1
    assert g.more == 1 and g.__dict__ == {**g.__dict__, "more": 1}
    with pytest.raises(AttributeError, match="nothing"):
        g.nothing  # noqa: B018


def test_defaults_can_be_set():
    @wok.jit
    def f(x=1, *, y=2):
        return x, y

    f.__defaults__ = (5,)
    f.__kwdefaults__ = {"y": 6}
    assert f() == (5, 6)


def test_code_can_be_replaced():
    @wok.jit
    def f(x):
        return x + 1

    assert f(1) == 2
    f.__code__ = (lambda x: x - 1).__code__
    assert f(1) == 0


def test_methods_of_all_kinds():
    thing = Thing(5)
    assert thing.method(1) == 6
    assert Thing.method(thing, 1) == 6
    assert inspect.ismethod(thing.method) and thing.method.__self__ is thing
    assert thing.method.__doc__ == "A method."
    assert list(inspect.signature(thing.method).parameters) == ["x"]
    assert thing.static_inner(1) == Thing.static_inner(1) == 11
    assert thing.static_outer(1) == Thing.static_outer(1) == 21
    assert thing.class_inner(1) == Thing.class_inner(1) == ("Thing", 1)
    assert thing.class_outer(1) == Thing.class_outer(1) == ("Thing", 1)
    assert thing.doubled == 10
    assert wok.jit(thing.method)(2) == 7


def test_callables():
    thing = Thing(3)
    jitted = wok.jit(thing)
    assert jitted(4) == 12
    assert jitted.value == 3
    thing.value = 5
    assert jitted(4) == 20 and jitted.value == 5
    partial = wok.jit(functools.partial(undecorated, scale=3))
    assert partial(2) == 6
    assert wok.jit(len)([1, 2]) == 2

    # A callable that is no function does not bind, watched or not.
    class Holder:
        plain = functools.partial(undecorated, scale=5)
        watched = wok.jit(functools.partial(undecorated, scale=5))

    assert Holder().plain(2) == Holder().watched(2) == 10


def test_generators():
    @wok.jit
    def numbers(n):
        got = []
        try:
            for i in range(n):
                got.append((yield i))
        except KeyError as error:
            yield ("caught", error.args)
        finally:
            got.append("done")
        return got

    assert inspect.isgeneratorfunction(numbers)
    assert list(numbers(3)) == [0, 1, 2]
    it = numbers(3)
    assert inspect.isgenerator(it)
    assert next(it) == 0 and it.send("a") == 1
    assert it.throw(KeyError("k")) == ("caught", ("k",))
    with pytest.raises(StopIteration) as stop:
        next(it)
    assert stop.value.value == ["a", "done"]

    def delegating():
        return (yield from numbers(2))

    assert list(delegating()) == [0, 1]


def test_a_generators_body_is_watched_and_the_hook_goes_with_it():
    def helper(x):
        return x + 1

    @wok.jit
    def numbers():
        yield helper(1)
        yield helper(2)

    it = numbers()
    assert next(it) == 2
    assert _wok._armed(helper) is not None
    assert _wok._hook_installed()
    del it
    assert not _wok._hook_installed()


def test_coroutines():
    @wok.jit
    async def double(x):
        await asyncio.sleep(0)
        return 2 * x

    @wok.jit
    async def count(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    async def main():
        total = await double(4)
        async for i in count(3):
            total += i
        return total + sum([x async for x in count(3)])

    assert asyncio.iscoroutinefunction(double)
    assert inspect.iscoroutinefunction(double)
    assert inspect.isasyncgenfunction(count)
    assert asyncio.run(main()) == 8 + 3 + 3
    assert asyncio.run(asyncio.wait_for(double(1), 5)) == 2


def test_pickle():
    assert pickle.loads(pickle.dumps(plain)) is plain
    assert pickle.loads(pickle.dumps(Thing.method)) is Thing.method
    other = pickle.loads(pickle.dumps(wok.jit(undecorated)))
    assert type(other) is _wok.JitFunction and other(3) == 6 and other.__wrapped__ is undecorated
    thing = pickle.loads(pickle.dumps(wok.jit(Thing(4))))
    assert type(thing) is _wok.JitCallable and thing(3) == 12
    disabled = pickle.loads(pickle.dumps(wok.disable(Thing(4))))
    assert type(disabled) is _wok.DisabledCallable and disabled(3) == 12


def test_copy():
    assert copy.copy(plain) is plain
    assert copy.deepcopy(plain) is plain
    thing = wok.jit(Thing([1]))
    twin = copy.deepcopy(thing)
    assert twin.value == [1] and twin.value is not thing.value


def test_weak_references_and_cycles():
    def f():
        return g  # noqa: F821

    g = wok.jit(f)
    assert g() is g
    dead = weakref.ref(g)
    g.me = g
    del g, f
    import gc

    gc.collect()
    assert dead() is None


def test_jit_of_jit_is_one_layer():
    twice = wok.jit(plain)
    assert twice.__wrapped__ is plain.__wrapped__


def test_options_belong_to_the_wrapper():
    def f(x, y=1, *, z=2):
        return x + y + z + shift

    shift = 10
    plain, whole = wok.jit(f), wok.jit(f, fullgraph=True)
    _wok.set_arm("all")
    try:
        copies = wok.stats()["copies"]
        for _ in range(5):
            assert plain(1) == whole(1) == 14
        assert wok.stats()["copies"] == copies + 2
    finally:
        _wok.set_arm("auto")
    assert whole.__wrapped__ is f and plain.__wrapped__ is f
    assert inspect.signature(whole) == inspect.signature(f)
    whole.__defaults__ = (3,)
    assert whole(1) == f(1) == 16
    assert pickle.loads(pickle.dumps(wok.jit(undecorated, dynamic=True)))(2) == 4
    assert wok.jit(Thing(1).method.__func__, fullgraph=True)(Thing(5), 1) == 6
    thing = Thing(3)
    assert wok.jit(types.MethodType(undecorated, 4), dynamic=False)(scale=3) == 12
    assert wok.jit(thing.method, fullgraph=True)(2) == 5


def test_exceptions_and_tracebacks_are_the_functions_own():
    @wok.jit
    def f(x):
        if x:
            raise ValueError(x)
        return 1 // x

    with pytest.raises(ValueError) as error:
        f(1)
    assert [entry.name for entry in error.traceback][-1] == "f"
    innermost = error.traceback[-1]._rawentry
    assert innermost.tb_lineno == f.__code__.co_firstlineno + 3
    assert innermost.tb_frame.f_code is f.__code__
    with pytest.raises(ZeroDivisionError):
        f(0)
    assert not _wok._hook_installed()


def test_bad_arguments():
    with pytest.raises(TypeError, match="decorate the methods of Thing"):
        wok.jit(Thing)
    with pytest.raises(TypeError, match="not callable"):
        wok.jit(3)
    with pytest.raises(ValueError, match="numerics='fast' is not supported"):
        wok.jit(plain, numerics="fast")
    with pytest.raises(ValueError, match="must be 'strict'"):
        wok.jit(numerics="fast")
    with pytest.raises(TypeError, match="disable the methods of Thing"):
        wok.disable(Thing)
    with pytest.raises(TypeError, match="not callable"):
        wok.disable(3)


def test_disable():
    inner_seen = []

    def inner(x):
        inner_seen.append(_wok._armed(inner))
        return x + 1

    @wok.disable
    def disabled(x):
        """Disabled."""
        return inner(x) * 2

    @wok.jit
    def outer(x):
        return disabled(x)

    assert type(disabled) is type(inner) and disabled.__doc__ == "Disabled."
    assert outer(1) == 4
    assert inner_seen == [None]
    assert _wok._armed(inner) is None

    @wok.jit
    def watched(x):
        return inner(x)

    # Watched functions stay unwatched below a disabled one.
    @wok.disable
    def below(x):
        return watched(x)

    @wok.jit
    def above(x):
        return below(x)

    assert above(1) == 2 and _wok._armed(inner) is None
    assert watched(1) == 2 and _wok._armed(inner) is not None


def test_disable_on_methods_and_callables():
    class C:
        @wok.disable
        def method(self, x):
            return x

        @staticmethod
        @wok.disable
        def static(x):
            return x

        @wok.disable
        @classmethod
        def cls(cls, x):
            return x

        def __call__(self, x):
            return x

    assert C().method(1) == C.static(1) == C.cls(1) == 1
    disabled = wok.disable(C())
    assert type(disabled) is _wok.DisabledCallable
    assert disabled(3) == 3
    assert wok.disable(len)([1]) == 1


def test_stats_and_reset():
    wok.reset()
    assert plain(1)[0] == 1
    counters = wok.stats()
    assert all(type(value) is int for value in counters.values())
    assert counters.keys() >= {"frames", "traps", "arrivals"}
    wok.reset()
    assert wok.stats()["frames"] == 0
    assert plain(1)[0] == 1


def test_explain_returns_the_result():
    report = wok.explain(undecorated)(3, scale=4)
    assert report.result == 12
    assert isinstance(report.subgraphs, list) and isinstance(report.breaks, list)
    assert "subgraphs" in str(report)
    assert wok.explain(plain)(1).result == (1, 2, (), 3, {})
    with pytest.raises(ZeroDivisionError):
        wok.explain(lambda: 1 // 0)()


def test_break_error_is_a_runtime_error():
    assert issubclass(wok.BreakError, RuntimeError)
    assert wok.BreakError.__module__ == "wok"


def test_typed():
    folder = os.path.dirname(wok.__file__)
    assert os.path.exists(os.path.join(folder, "py.typed"))


def test_without_the_extension_module_jit_is_the_identity():
    program = """
import sys, warnings
sys.modules["wok._wok"] = None
import wok
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    f = lambda x: x + 1
    assert wok.jit(f) is f
    assert wok.jit(fullgraph=True)(f) is f
    assert wok.disable(f) is f
    assert wok.explain(f)(1).result == 2
    assert wok.stats() == {}
    wok.reset()
assert [str(w.message) for w in seen][0].startswith("Wok's extension module is not usable"), seen
assert len(seen) == 1
"""
    run(program)


def run(program, *arguments, **environment):
    result = subprocess.run(
        [sys.executable, *arguments, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return result


def test_another_version_of_python_gets_the_identity():
    program = """
import sys, warnings
sys.version_info = (3, 12, 0)
import wok
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    f = lambda x: x
    assert wok.jit(f) is f and wok.jit(f) is f
assert len(seen) == 1 and "needs CPython 3.11; this is cpython 3.12" in str(seen[0].message)
"""
    run(program)


def test_a_vetoed_audit_hook_keeps_wok_out():
    program = """
import sys
def veto(event, arguments):
    if event == "sys.addaudithook":
        raise RuntimeError("no")
sys.addaudithook(veto)
try:
    import wok._wok
except ImportError as error:
    assert "audit hook" in str(error)
else:
    raise AssertionError("imported")
"""
    # Not by way of the package, which falls back.
    run(program.replace("import wok._wok", IMPORT))


IMPORT = """import importlib.util, importlib.machinery, glob, os
    folder = [p for p in sys.path if os.path.isdir(os.path.join(p, "wok"))][0]
    path = glob.glob(os.path.join(folder, "wok", "_wok.*.so"))[0]
    loader = importlib.machinery.ExtensionFileLoader("wok._wok", path)
    importlib.util.module_from_spec(importlib.util.spec_from_loader("wok._wok", loader))"""


def test_importing_starts_no_thread():
    run("import os, wok; assert len(os.listdir('/proc/self/task')) == 1")


def test_warnings_are_not_raised_here():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wok.jit(undecorated)(1) == 2

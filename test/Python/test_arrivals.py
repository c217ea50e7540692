"""What an arrival at a site may do to its frame, with a test in the dispatcher's place."""

import contextlib
import dis
import gc
import inspect
import sys
import traceback

import pytest
import wok
from wok import _wok


@contextlib.contextmanager
def arrivals(callback, arm="all"):
    _wok.set_arm(arm)
    _wok._set_arrival(callback)
    try:
        yield
    finally:
        _wok._set_arrival(None)
        _wok.set_arm("auto")


def offsets(function, opname, argval=None):
    """Offsets in code units of instructions of `function` (of their opcodes)."""
    return [
        i.offset // 2
        for i in dis.get_instructions(function)
        if i.opname == opname and argval in (None, i.argval)
    ]


def slot(function, name):
    code = function.__code__
    names = code.co_varnames + tuple(n for n in code.co_cellvars if n not in code.co_varnames)
    return (names + code.co_freevars).index(name)


def test_every_legal_offset_is_met_with_the_true_stack_depth():
    def f(x):
        y = x + 1
        z = [y, (x, y)]
        return len(z)

    met = {}

    def callback(code, offset, depth):
        if code is f.__code__:
            met[offset] = depth

    with arrivals(callback):
        assert wok.jit(f)(1) == 2
    rows = _wok._decode(f.__code__.co_code, f.__code__.co_exceptiontable)
    assert set(met) == {row["offset"] for row in rows if row["trap_legal"]}
    depth = 0
    for row in rows:
        if row["offset"] in met:
            assert met[row["offset"]] == depth, row
        pops, pushes = _wok._stack_effect(dis.opmap[row["name"]], row["arg"], False)
        depth += pushes - pops


def test_resume_elsewhere_with_other_locals_and_stack():
    def f(x):
        y = x * 2
        z = y + 1
        return (y, z)

    store_z = offsets(f, "STORE_FAST", "z")[0]
    start = offsets(f, "LOAD_FAST", "x")[0]
    value = object()

    def callback(code, offset, depth):
        if code is f.__code__ and offset == start:
            return store_z, {slot(f, "y"): "new y"}, [value], [], []

    with arrivals(callback):
        jitted = wok.jit(f)
        before = sys.getrefcount(value)
        for _ in range(50):
            assert jitted(1) == ("new y", value)
        gc.collect()
        assert sys.getrefcount(value) == before


def test_resume_at_the_return():
    def f(x):
        while True:
            x = x + 1

    (start, *_) = offsets(f, "LOAD_FAST", "x")
    with pytest.raises(IndexError):
        offsets(f, "RETURN_VALUE")[0]

    def g(x):
        for i in range(x):
            x += i
        return x

    ret = offsets(g, "RETURN_VALUE")[-1]
    loop = offsets(g, "STORE_FAST", "i")[0]
    depths = []

    def callback(code, offset, depth):
        if code is g.__code__ and offset == loop:
            depths.append(depth)
            return ret, {}, ["result"], [], []

    with arrivals(callback):
        assert wok.jit(g)(3) == "result"
    assert depths == [2]


def test_raise_at_a_site_goes_to_the_programs_handler():
    def f(x):
        try:
            y = x + 1
        except ValueError as error:
            return "handled", str(error), error.__traceback__.tb_lineno
        return y

    add = offsets(f, "BINARY_OP")[0]

    def callback(code, offset, depth):
        if code is f.__code__ and offset == add:
            raise ValueError("from the site")

    line = f.__code__.co_firstlineno + 2
    with arrivals(callback):
        for _ in range(20):
            assert wok.jit(f)(1) == ("handled", "from the site", line)


def test_raise_at_a_site_leaves_the_function():
    def f(x):
        return (x, x + 1)

    def outer(x):
        return f(x)

    add = offsets(f, "BINARY_OP")[0]

    def callback(code, offset, depth):
        if code is f.__code__ and offset == add:
            raise KeyError(depth)

    with arrivals(callback):
        with pytest.raises(KeyError) as error:
            wok.jit(outer)("x")
    assert error.value.args == (3,)
    entries = traceback.extract_tb(error.value.__traceback__)
    names = [entry.name for entry in entries]
    assert names[-3:] == ["outer", "f", "callback"]
    assert entries[-2].lineno == f.__code__.co_firstlineno + 1
    frame = [f for f, _ in traceback.walk_tb(error.value.__traceback__)][-2]
    assert frame.f_code is f.__code__ and frame.f_locals == {"x": "x"}
    assert not _wok._hook_installed()


def test_the_frame_is_linked_while_python_runs_at_a_site():
    seen = []

    def f(x):
        y = [x]
        return y

    store = offsets(f, "STORE_FAST", "y")[0]

    def callback(code, offset, depth):
        if code is f.__code__ and offset == store:
            frame = sys._getframe(1)
            seen.append((frame.f_code is f.__code__, frame.f_lineno, frame.f_locals, depth))
            seen.append([s.function for s in inspect.stack(0)[:3]])

    with arrivals(callback):
        assert wok.jit(f)(5) == [5]
    line = f.__code__.co_firstlineno + 1
    assert seen[0] == (True, line, {"x": 5}, 1)
    assert seen[1][:2] == ["callback", "f"]


def test_what_runs_at_a_site_is_not_watched():
    inner = []

    def helper():
        return 1

    def f(x):
        return x

    def callback(code, offset, depth):
        inner.append(code)
        helper()

    with arrivals(callback):
        assert wok.jit(f)(5) == 5
    assert set(inner) == {f.__code__}


def test_arm_and_disarm():
    def f(n):
        total = 0
        for i in range(n):
            total += i
        return total

    entry = next(
        row["offset"]
        for row in _wok._decode(f.__code__.co_code, f.__code__.co_exceptiontable)
        if row["trap_legal"]
    )
    body = offsets(f, "STORE_FAST", "i")[0]
    met = []

    def callback(code, offset, depth):
        if code is not f.__code__:
            return None
        met.append(offset)
        if len(met) == 1:
            everything = [o for o in _wok._armed(f) if o != body]
            return None, {}, [], [], everything
        if len(met) == 4:
            return None, {}, [], [entry], [body]

    with arrivals(callback):
        jitted = wok.jit(f)
        assert jitted(10) == 45
        assert met == [entry, body, body, body]
        assert jitted(10) == 45
        assert met == [entry, body, body, body, entry]
        assert _wok._armed(f) == [entry]


def test_disarming_the_last_site_in_flight():
    def f(n):
        for i in range(n):
            n += i
        return n

    def callback(code, offset, depth):
        if code is f.__code__:
            return None, {}, [], [], _wok._armed(f)

    with arrivals(callback):
        jitted = wok.jit(f)
        for _ in range(3):
            assert jitted(4) == 10
        assert _wok._armed(f) == []


def test_tracing_that_begins_at_a_site():
    events = []

    def tracer(frame, event, argument):
        if frame.f_code is f.__code__:
            events.append((event, frame.f_lineno - f.__code__.co_firstlineno))
        return tracer

    def f(x):
        y = x
        z = y
        return z

    store = offsets(f, "STORE_FAST", "y")[0]

    def callback(code, offset, depth):
        if code is f.__code__ and offset == store:
            sys._getframe(1).f_trace = tracer
            sys.settrace(tracer)

    with arrivals(callback):
        assert wok.jit(f)(1) == 1
        sys.settrace(None)
    assert events == [("line", 2), ("line", 3), ("return", 3)]


def test_sites_of_generators():
    def numbers(n):
        for i in range(n):
            x = yield i
            if x:
                raise KeyError(x)

    store = offsets(numbers, "STORE_FAST", "x")[0]
    seen = []

    def callback(code, offset, depth):
        if code is numbers.__code__ and offset == store:
            seen.append(depth)
            if len(seen) == 3:
                return offset, {}, [_iterator[0], "boom"], [], []

    _iterator = [iter(range(100))]
    with arrivals(callback):
        it = wok.jit(numbers)(5)
        assert [next(it) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(KeyError, match="boom"):
            next(it)
    # The frame went on at the same site, so it arrived there once more.
    assert seen == [2, 2, 2, 2]


def test_recursion_limit_at_a_site():
    def f(n):
        return f(n + 1)

    def callback(code, offset, depth):
        return None

    with arrivals(callback):
        with pytest.raises(RecursionError):
            wok.jit(f)(0)
    assert not _wok._hook_installed()


def test_an_arrival_that_resumes_leaks_nothing():
    def f(x):
        y = [x]
        return y

    store = offsets(f, "STORE_FAST", "y")[0]
    marker = object()
    resumed = [False]

    def callback(code, offset, depth):
        if code is f.__code__ and offset == store:
            resumed[0] = not resumed[0]
            if resumed[0]:
                return offset, {slot(f, "x"): marker}, [marker], [], []

    with arrivals(callback):
        jitted = wok.jit(f)
        assert jitted(marker) is marker
        before = sys.getrefcount(marker)
        for _ in range(1000):
            assert jitted(marker) is marker
        assert sys.getrefcount(marker) == before

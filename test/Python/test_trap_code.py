"""Functions with a trap at every legal offset do what they do without."""

import contextlib
import dis
import gc
import inspect
import sys
import threading
import traceback

import pytest
import torch
import wok
from wok import _wok


@pytest.fixture(autouse=True, params=["all", "random:1", "random:2"])
def arm(request):
    _wok.set_arm(request.param)
    yield request.param
    _wok.set_arm("auto")


def both(function, *args):
    """What `function` does without Wok and with it: (result or exception, traceback's lines)."""

    def outcome(callable_):
        try:
            return "returned", callable_(*args)
        except BaseException as error:
            entries = traceback.extract_tb(error.__traceback__)[1:]
            return (
                type(error),
                str(error),
                [(e.name, e.lineno) for e in entries if e.name != "both"],
            )

    plain = outcome(function)
    before = wok.stats()["traps"]
    for _ in range(20):  # Past the point where CPython specialises the copy.
        assert outcome(wok.jit(function)) == plain
    assert wok.stats()["traps"] > before
    return plain


def arithmetic(n):
    total = 0
    for i in range(n):
        total += i * 3 - (i // 2) % 5 ** (i & 3)
        if total > 100 and not i % 7 or total is None:
            total -= 50.5
        elif -total == ~i:
            break
    else:
        total = str(total) + "!"
    return total


def containers(n):
    items = [(i, str(i), {i: -i}) for i in range(n)]
    a, (b, *c), d = items[0], items[1], {**items[2][2], "k": [*range(3)]}
    items[0] = items[1:3]
    del items[2]
    squares = {i * i for i in range(n) if i % 2}
    table = {key: value for key, value in zip("abc", items)}
    table["a"] += [1]
    return a, b, c, d, items, sorted(squares), table, f"{n!r:>5}{a}"


def calls(n):
    def inner(a, b=1, *args, c, d=4, **kwargs):
        return a, b, args, c, d, kwargs

    results = [inner(n, c=3), inner(n, 2, 3, c=4, x=5), inner(*[1, 2, 3], **{"c": 1})]
    results.append(max([3, 1, 2], key=lambda x: -x))
    results.append("a,b".split(",", maxsplit=1))
    results.append(list(map(str.upper, "ab")))
    return results


def wide(n):
    # More than 256 constants and names: EXTENDED_ARG everywhere.
    scope = {}
    lines = [f"    v{i} = {i + 1000} + n" for i in range(300)]
    exec("def f(n):\n" + "\n".join(lines) + "\n    return v0 + v299 - v257\n", scope)
    return scope["f"](n)


def exceptions(n):
    log = []
    for i in range(n):
        try:
            try:
                if i == 0:
                    raise ValueError(i)
                if i == 1:
                    {}["missing"]
                if i == 2:
                    continue
                log.append(i)
            except ValueError as error:
                log.append(repr(error))
            else:
                log.append("else")
            finally:
                log.append("finally")
        except KeyError as error:
            log.append((type(error).__name__, type(error.__context__).__name__))
    try:
        raise ExceptionGroup("g", [TypeError(1), OSError(2)])
    except* TypeError as group:
        log.append(len(group.exceptions))
    except* OSError as group:
        log.append(str(group.exceptions[0]))
    return log


def raising(n):
    def deeper(x):
        return [1][x]

    with contextlib.suppress(KeyError):
        deeper(n)


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, *exc):
        self.log.append(exc[0])
        return exc[0] is KeyError


def with_blocks(n):
    log = []
    with Manager(log) as a, Manager(log):
        log.append(a is not None)
        if n:
            raise KeyError(n)
    with Manager(log):
        return log


def closures(n):
    count = 0

    def up():
        nonlocal count
        count += 1
        return lambda: count * n

    functions = [up() for _ in range(3)]

    class Local:
        value = count

        def method(self):
            return __class__.value + super().__init__.__name__.__len__()

    del up
    return [f() for f in functions], Local().method(), count


def generators(n):
    def numbers(k):
        try:
            for i in range(k):
                got = yield i
                if got:
                    yield got * 2
        finally:
            log.append("closed")

    def outer():
        result = yield from numbers(3)
        return (yield result)

    log = []
    it = numbers(n)
    values = [next(it), it.send(5), next(it)]
    it.close()
    values += list(outer())
    values.append(sum(x * x for x in range(n)))
    return values, log


def patterns(n):
    def match(subject):
        match subject:
            case [1, *rest]:
                return "list", rest
            case {"k": value, **rest}:
                return "map", value, rest
            case complex(real=r) if r:
                return "class", r
            case str() | None:
                return "either"
        return "none"

    return [match(s) for s in ([1, 2], {"k": 1, "l": 2}, 3j + n + 1, "s", None, 5)]


def deletes(n):
    x = y = n
    del x
    try:
        return x  # noqa: F821
    except UnboundLocalError as error:
        return str(error), y


def imports(n):
    import os.path as path
    from collections import OrderedDict, deque

    global _made_global
    _made_global = n
    value = _made_global
    del _made_global
    return path.join("a", "b"), OrderedDict(a=deque([n])), value


FUNCTIONS = [
    arithmetic,
    containers,
    calls,
    wide,
    exceptions,
    raising,
    with_blocks,
    closures,
    generators,
    patterns,
    deletes,
    imports,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [3, 40])
def test_same_outcome(function, n):
    both(function, n)


def test_the_functions_above_cover_the_instructions():
    seen = set()

    def walk(code):
        seen.update(i.opname for i in dis.get_instructions(code))
        for constant in code.co_consts:
            if inspect.iscode(constant):
                walk(constant)

    for function in FUNCTIONS:
        walk(function.__code__)
    # Left: module and class bodies, interactive and async instructions (CPython's own tests).
    missing = set(_wok._opcode_table()) - seen
    assert len(missing) < 35, missing


def test_frames_show_the_original_code():
    @wok.jit
    def f():
        frame = sys._getframe()
        return frame.f_code, inspect.currentframe().f_code, frame.f_lineno

    for _ in range(3):
        code, current, line = f()
        assert code is current is f.__code__
        assert line == code.co_firstlineno + 3


def test_suspended_frames_are_on_the_original_code():
    @wok.jit
    def numbers():
        yield 1
        yield 2

    it = numbers()
    next(it)
    assert it.gi_code is numbers.__code__
    assert it.gi_frame.f_code is numbers.__code__
    original = numbers.__code__
    assert it.gi_frame.f_lasti in {i.offset for i in dis.get_instructions(original)}
    assert next(it) == 2


def events_of(function, *args):
    """Trace events of `function` and of what it calls here."""
    events = []

    def tracer(frame, event, argument):
        if frame.f_code.co_filename == __file__:
            events.append((event, frame.f_code.co_name, frame.f_lineno))
        return tracer

    sys.settrace(tracer)
    try:
        function(*args)
    finally:
        sys.settrace(None)
    return events


def test_tracing_sees_what_it_sees_without():
    for function in (exceptions, generators, with_blocks):
        plain = events_of(function, 3)
        jitted = wok.jit(function)
        jitted(3)
        assert events_of(jitted, 3) == plain


def test_tracing_that_begins_in_a_running_frame():
    def body(n):
        total = 0
        for i in range(n):
            if i == n // 2:
                sys._getframe().f_trace = tracer
                sys.settrace(tracer)
            total += i
        sys.settrace(None)
        return total

    events = []

    def tracer(frame, event, argument):
        events.append((event, frame.f_lineno - body.__code__.co_firstlineno))
        return tracer

    assert body(8) == 28
    plain = events[:]
    events.clear()
    jitted = wok.jit(body)
    for _ in range(12):
        assert jitted(8) == 28
    assert events == 12 * plain
    assert "return" not in {event for event, line in plain}


def test_profiling():
    import cProfile
    import pstats

    jitted = wok.jit(generators)
    profile = cProfile.Profile()
    assert profile.runcall(jitted, 3) == generators(3)
    calls = {name[2]: row[0] for name, row in pstats.Stats(profile).stats.items()}
    assert calls["numbers"] >= 7


def test_locals_of_a_running_frame():
    @wok.jit
    def f(a, b):
        c = a + b
        seen = dict(locals())
        caller = reader()
        return seen, caller

    def reader():
        return dict(sys._getframe(1).f_locals)

    seen, caller = f(1, 2)
    assert seen == {"a": 1, "b": 2, "c": 3, "reader": reader}
    assert caller == {**seen, "seen": seen}


def test_deep_recursion():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(70000)
    try:
        assert wok.jit(down)(60000) == 60000
    finally:
        sys.setrecursionlimit(limit)
    assert wok.stats()["capped"] > 0
    with pytest.raises(RecursionError):
        wok.jit(down)(5000)
    assert not _wok._hook_installed()


def test_deep_recursion_on_a_small_stack():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    results = []
    old = threading.stack_size(256 * 1024)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)
    try:
        thread = threading.Thread(target=lambda: results.append(wok.jit(down)(10000)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
        sys.setrecursionlimit(limit)
    assert results == [10000]


def test_threads():
    errors = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work(jitted, want):
        try:
            for _ in range(20):
                if jitted(40) != want:
                    errors.append("wrong")
        except BaseException as error:
            errors.append(error)

    try:
        threads = []
        for function in (arithmetic, containers, exceptions, generators):
            want = function(40)
            threads += [
                threading.Thread(target=work, args=(callable_, want))
                for callable_ in (wok.jit(function), wok.jit(function), function)
            ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    assert not _wok._hook_installed()


def test_reset_and_jit_in_a_running_frame():
    @wok.jit
    def f(n):
        total = 0
        for i in range(n):
            if i == 3:
                wok.reset()
            if i == 5:
                total += f(2)
            total += i
        return total

    for _ in range(10):
        assert f(8) == 29


def test_code_objects_die():
    def make():
        scope = {}
        exec("def f(x):\n    return x + 1\n", scope)
        return scope["f"]

    import weakref

    function = make()
    assert wok.jit(function)(1) == 2
    code = weakref.ref(function.__code__)
    del function
    gc.collect()
    assert code() is None


def test_signal_handlers_run():
    import signal

    seen = []
    old = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))

    @wok.jit
    def wait():
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while not seen:
            pass
        return len(seen)

    try:
        assert wait() == 1
    finally:
        signal.signal(signal.SIGALRM, old)


def test_another_evaluator_is_chained():
    captured = []

    def backend(graph, inputs):
        captured.append(graph)
        return graph.forward

    @torch.compile(backend=backend)
    def compiled(x):
        return x * 2 + 1

    @wok.jit
    def outer(x):
        return compiled(x) + helper(x)

    def helper(x):
        return x - 1

    x = torch.arange(4.0)
    for _ in range(3):
        assert torch.equal(outer(x), x * 2 + 1 + (x - 1))
    assert captured

    # And the other way round.
    @torch.compile(backend=backend)
    def around(x):
        y = x + 1
        torch._dynamo.graph_break()
        return wok_inside(y)

    @torch._dynamo.disable
    def wok_inside(y):
        return watched(y)

    @wok.jit
    def watched(y):
        return helper(y) * 3

    for _ in range(3):
        assert torch.equal(around(x), x * 3)
    assert not _wok._hook_installed() or torch.compiler.is_compiling() is False
    assert torch.equal(compiled(x), x * 2 + 1)

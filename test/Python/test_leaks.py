"""Memory stays flat over many calls."""

import gc
import sys

import pytest
import wok
from wok import _wok


def resident():
    """Resident memory of this process, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def grows(function, calls, warm=5000):
    """By how many bytes memory grows over `calls` calls, after a warm-up."""
    for _ in range(warm):
        function()
    gc.collect()
    before = resident()
    for _ in range(calls):
        function()
    gc.collect()
    return resident() - before


class Holder:
    def method(self, x):
        return [x, self]


def test_a_million_calls():
    holder = Holder()

    @wok.jit
    def f(x, y=None, *rest, **more):
        return holder.method((x, y)), rest, more

    assert grows(lambda: f(1, 2, 3, key=4), 1_000_000) < 2 << 20


@pytest.mark.parametrize("arm", ["all", "random:3"])
def test_trap_code(arm):
    def numbers(n):
        for i in range(n):
            yield {i: [i]}

    def body(x):
        total = [x]
        try:
            for item in numbers(3):
                total += item.values()
            raise ValueError(total)
        except ValueError as error:
            return sorted(error.args, key=lambda v: len(v))

    _wok.set_arm(arm)
    try:
        watched = wok.jit(body)
        references = sys.getrefcount(None), sys.getrefcount(body.__code__)
        assert grows(lambda: watched(object()), 50_000) < 2 << 20
        assert abs(sys.getrefcount(None) - references[0]) < 100
        assert abs(sys.getrefcount(body.__code__) - references[1]) < 5
    finally:
        _wok.set_arm("auto")


def test_watched_code_that_dies():
    source = "def f(x):\n    return [x] + [1]\n"

    def make():
        scope = {}
        exec(source, scope)
        assert wok.jit(scope["f"])(1) == [1, 1]

    _wok.set_arm("all")
    try:
        assert grows(make, 5000, warm=2000) < 2 << 20
    finally:
        _wok.set_arm("auto")


def test_generators_that_are_dropped():
    @wok.jit
    def numbers():
        yield 1
        yield 2

    assert grows(lambda: next(numbers()), 100_000) < 2 << 20
    assert not _wok._hook_installed()


def test_reset():
    @wok.jit
    def f(x):
        return x

    def once():
        f(1)
        wok.reset()

    assert grows(once, 20_000) < 2 << 20

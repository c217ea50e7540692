"""What the program can notice of an object's end comes when it comes in eager, and once."""

import contextlib
import weakref

import numpy as np
import pytest
import torch
import wok


@pytest.fixture(autouse=True)
def fresh():
    wok.reset()
    with torch.no_grad():
        yield


class Noisy:
    """Says on `log` that it goes, and what `buffer` holds then."""

    def __init__(self, log, buffer=None):
        self.log, self.buffer = log, buffer

    def __del__(self):
        self.log.append("gone" if self.buffer is None else ("gone", float(self.buffer[0])))


def agree(function, make, calls=4):
    """`make()` gives (log, arguments); the logs of all calls agree."""
    jitted = wok.jit(function)
    for _ in range(calls):
        logs = []
        for f in (function, jitted):
            log, arguments = make()
            result = f(*arguments)
            log.append("returned")
            del arguments
            log.append([r.tolist() if isinstance(r, torch.Tensor) else r for r in result])
            logs.append(log)
        assert logs[1] == logs[0]


def test_local_that_nobody_reads_lives_on():
    def f(t, log):
        keep = Noisy(log)  # noqa: F841
        t = t * 2 + 1
        log.append("a")
        keep = None  # noqa: F841
        log.append("b")
        return (t * 2,)

    def make():
        log = []
        return log, (torch.ones(3), log)

    agree(f, make)


@pytest.mark.parametrize("wrap", [lambda o: [o], lambda o: (1, o), lambda o: {"k": o}])
def test_container_that_nobody_reads_holds_what_is_in_it(wrap):
    def f(t, box, log):
        keep = [box.pop()]  # noqa: F841
        t = t * 2 + 1
        log.append("a")
        t.add_(1)
        log.append("b")
        return (t + 1,)

    def make():
        log = []
        return log, (torch.ones(3), [wrap(Noisy(log))], log)

    agree(f, make)


def test_target_of_a_with_block():
    class Closing(Noisy):
        def close(self):
            self.log.append("closed")

    def f(t, log):
        with contextlib.closing(Closing(log)) as o:  # noqa: F841
            t = t + 1
            log.append("in")
            t = t * 3
        log.append("out")
        return (t * 2,)

    def make():
        log = []
        return log, (torch.ones(3), log)

    agree(f, make)


def test_release_between_two_writes():
    def f(box, a, b):
        one = box.pop()
        a.add_(1)
        one = b  # noqa: F841
        b.mul_(2)
        a2 = a * 2
        return a2, b + 1

    def plain(log, a, b):
        return torch.zeros(2)

    def attribute(log, a, b):
        t = torch.zeros(2)
        t.owner = Noisy(log, b)
        return t

    def reference(log, a, b):
        t = torch.zeros(2)
        weakref.finalize(t, lambda: log.append(("gone", float(a[0]), float(b[0]))))
        return t

    def array(log, a, b):
        memory = np.zeros(2).view(Memory)
        memory.owner = Noisy(log, b)
        return np.asarray(memory)

    class Memory(np.ndarray):
        pass

    kinds = [plain, plain, attribute, reference, array, plain, reference, attribute]
    jitted = wok.jit(f)
    for kind in kinds:
        logs = []
        for g in (f, jitted):
            log, a, b = [], torch.ones(2), torch.ones(2)
            box = [kind(log, a, b)]
            log.append([x.tolist() for x in g(box, a, b)])
            logs.append(log)
        assert logs[1] == logs[0], kind.__name__


def test_two_names_of_one_object():
    def f(box, buffer):
        p = box.pop()
        q = p
        buffer.add_(1)
        p = None
        other = buffer + 1
        q = None  # noqa: F841
        buffer.mul_(3)
        return buffer * 3, other, p

    def make():
        log, buffer = [], torch.zeros(3)
        return log, ([Noisy(log, buffer)], buffer)

    agree(f, make)


def test_weak_reference_to_a_result():
    def f(t):
        u = t * 2
        r = weakref.ref(u)
        v = t + 1
        return v * 2, r() is None, r() is u

    def g(t):
        u = t * 2  # noqa: F841
        r = weakref.ref(u)
        v = t + 1
        return v * 2, r() is None

    for function in (f, g):
        agree(function, lambda: ([], (torch.ones(3),)))

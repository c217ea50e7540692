"""Small programs under wok.jit, three calls each: values and identities are eager's."""

import numpy as np
import pytest
import torch
import wok

t = torch.arange(6.0).reshape(2, 3)


def inner_variable(x):
    y = x + 1
    z = [y * i for i in range(3)]
    return z, (lambda: y)()


def nonlocal_store(x):
    def g():
        nonlocal x
        x = x * 2
        return x

    g(), g()
    print(end="")
    return g(), x


def break_in_a_loop(x):
    out = []
    for i, (a, b) in enumerate(zip(x, x * 2)):
        out.append(a + b * i)
        if i == 0:
            print(end="")
    return out


def raising_operation(x):
    y = x * 2
    try:
        z = y[5]
    except IndexError:
        z = y - 1
    finally:
        y = y + 1
    return y, z


def context_manager(x):
    with torch.no_grad():
        y = x * 3
        return y + 1


def dicts(x):
    d = {"a": x + 1, "b": [x, x * 2]}
    d["c"] = d["a"].sum()
    print(end="")
    return d, {k: v for k, v in d.items()}


def generators(x):
    return tuple(y * 2 for y in (x, x + 1)), any(k > 2 for k in (1, 2, 3))


def in_place(x):
    x = x.clone()
    x += 1
    x.mul_(2)
    y = x
    y -= 3
    return x, x is y


def outside_list(x, acc=[]):  # noqa: B006
    acc.append(1)
    return x * len(acc) / len(acc)


class Counter:
    def __init__(self):
        self.n = 0

    def __call__(self, x):
        self.n += 1
        return x * self.n


def stateful_object(x):
    p = Counter()
    return p(x), p(x), p.n


PROGRAMS = [
    inner_variable,
    nonlocal_store,
    break_in_a_loop,
    raising_operation,
    context_manager,
    dicts,
    generators,
    in_place,
    outside_list,
    stateful_object,
]


def same(function, *args):
    jitted = wok.jit(function)
    for _ in range(3):
        assert repr(jitted(*args)) == repr(function(*args))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_program(program):
    same(program, t)


def test_generator_function():
    def gen(x):
        for i in range(3):
            yield x * i + 1

    jitted = wok.jit(gen)
    for _ in range(3):
        assert repr(list(jitted(t))) == repr(list(gen(t)))


def test_numbers_that_vary():
    def f(x, k):
        return x * k + 1, k * 2, k

    for k in (1, 2, 3, 2.5, 3.5, 4.5, True, False):
        same(f, t, k)


def test_loops_over_known_numbers():
    def f(n, x):
        s = 0
        while n > 0:
            s = s + x * n
            n -= 1
        return s

    for n in (1, 2, 3, 4):
        same(f, n, t)


def test_extents_that_vary():
    def f(x):
        return x + x.shape[0], x.view(-1), x.reshape(x.shape[0], 1) * 2

    for n in (3, 4, 5, 6):
        same(f, torch.arange(float(n)))


def test_arrays():
    def f(a):
        return np.sqrt(a) * 2 + a.sum(), a[1:3], a.mean(axis=0) if a.ndim > 1 else a.max()

    same(f, np.arange(6.0))
    same(f, np.arange(6.0).reshape(2, 3))


def floor_divide_unread(x, d, i):
    q = x // d  # noqa: F841
    return x + 1


def remainder_read_in_part(x, d, i):
    return (x % d)[:2] * 2


def only_a_fault(x, d, i):
    x % d
    return 5


def gather_unread(x, d, i):
    x[i]
    return x + 1


def gather_read_in_part(x, d, i):
    return (torch.index_select(x, 0, i)[:0].sum() + x) * 2


@pytest.mark.parametrize(
    "program",
    [
        floor_divide_unread,
        remainder_read_in_part,
        only_a_fault,
        gather_unread,
        gather_read_in_part,
    ],
)
def test_faults_of_what_is_not_read(program):
    """An operation raises also if nobody looks at all of its result."""
    x, good, bad = torch.arange(12), torch.ones(12, dtype=torch.int64), torch.ones(12).long()
    bad[11] = 0
    inside, outside = torch.tensor([0, 11]), torch.tensor([0, 12])

    def outcome(function, *arguments):
        try:
            return str(function(*arguments))
        except (RuntimeError, IndexError) as error:
            return str(error)

    compiled = wok.jit(program)
    for divisor, index in [(good, inside), (bad, inside), (good, outside), (good, inside)]:
        want = outcome(program, x, divisor, index)
        for _ in range(2):
            assert outcome(compiled, x, divisor, index) == want

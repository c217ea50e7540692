"""What a compiled subgraph leaves behind is what the program would have left."""

import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
import wok


@pytest.fixture(autouse=True)
def fresh():
    wok.reset()
    yield


def warm(function, *args, calls=3):
    jitted = wok.jit(function)
    for _ in range(calls):
        jitted(*args)
    return jitted


def test_input_comes_back_itself():
    def f(a, b):
        return a, b * 2, a

    a, b = torch.ones(3), torch.ones(3)
    first, second, third = warm(f, a, b)(a, b)
    assert first is a and third is a and torch.equal(second, b * 2)


def test_one_value_is_one_object():
    def f(a):
        b = a * 2
        return b, b, [b]

    x, y, z = warm(f, torch.ones(3))(torch.ones(3))
    assert x is y and z[0] is x


def test_results_are_fresh():
    def f(a):
        return a * 2

    jitted = warm(f, torch.ones(3))
    x, y = jitted(torch.ones(3)), jitted(torch.ones(3))
    x.add_(1)
    assert y.tolist() == [2, 2, 2]
    assert x._version == 1 and y._version == 0


@pytest.mark.parametrize(
    "view", [lambda x: x.T, lambda x: x[1:], lambda x: x.reshape(6), lambda x: x.unsqueeze(0)]
)
def test_views_alias(view):
    def f(x):
        y = x + 1
        return view(x), y, view(y)

    x = torch.arange(6.0).reshape(2, 3)
    of_input, y, of_output = warm(f, x)(x)
    expected = view(x)
    assert of_input.stride() == expected.stride() and of_input.shape == expected.shape
    x.mul_(10)
    assert torch.equal(of_input, view(x))
    assert of_input._version == x._version
    y.zero_()
    assert of_output.abs().sum() == 0


def test_array_views_alias():
    def f(x):
        return x.T, x[::-1], x + 1

    x = np.array([[0.0, 1, 2], [3, 4, 5]])
    t, r, y = warm(f, x)(x)
    x[:] = 7
    assert (t == 7).all() and (r == 7).all()
    assert t.base is x and r.base is x
    assert y.flags.owndata and y.flags.writeable


def test_in_place_on_an_input():
    def f(x):
        y = x.add_(1)
        return y, x * 2

    x = torch.zeros(3)
    jitted = warm(f, x)
    x = torch.zeros(3)
    y, z = jitted(x)
    assert y is x
    assert x.tolist() == [1, 1, 1] and z.tolist() == [2, 2, 2]
    assert x._version == 1


def test_in_place_on_a_view():
    def f(x):
        x[0] += 1
        return x * 2

    x = torch.zeros(2, 2)
    jitted = warm(f, x)
    x = torch.zeros(2, 2)
    assert jitted(x).tolist() == [[2, 2], [0, 0]]
    assert x.tolist() == [[1, 1], [0, 0]]


def test_overlapping_inputs():
    def f(base, tail):
        v = tail[1]
        base.mul_(10)
        w = v + 1
        return w, v

    def check(jitted):
        b = torch.ones(4, 2)
        w, v = jitted(b, b[1:])
        assert w.tolist() == [11, 11] and v.tolist() == [10, 10]

    jitted = warm(f, torch.ones(4, 2), torch.ones(3, 2))
    for _ in range(3):
        check(jitted)


def test_read_only_array():
    def f(x):
        x += 1
        return x * 2

    jitted = warm(f, np.zeros(3))
    x = np.zeros(3)
    x.flags.writeable = False
    with pytest.raises(ValueError):
        jitted(x)
    assert x.tolist() == [0, 0, 0]


def test_append_and_counter():
    class Holder:
        calls = 0

    def f(holder, log, t):
        holder.calls += 1
        log.append(t * 2)
        return t * holder.calls

    holder, log = Holder(), []
    jitted = wok.jit(f)
    for i in range(1, 6):
        assert jitted(holder, log, torch.ones(2)).tolist() == [i, i]
    assert holder.calls == 5 and len(log) == 5 and log[3].tolist() == [2, 2]


def test_one_list_under_two_names():
    def f(a, b, t):
        a.append(t)
        return t * len(b)

    jitted = warm(f, [], [], torch.ones(1))
    q = []
    assert jitted(q, q, torch.ones(1)).tolist() == [1]
    assert len(q) == 1
    q = []
    assert jitted([], q, torch.ones(1)).tolist() == [0]


def test_one_cell_with_three_holders():
    def f(t):
        n = 0

        def inc():
            nonlocal n
            n += 1

        def get():
            return t * n

        inc()
        return get, inc, get() + n

    jitted = warm(f, torch.ones(2))
    get, inc, result = jitted(torch.ones(2))
    inc()
    assert result.tolist() == [2, 2] and get().tolist() == [2, 2]
    assert get.__closure__[0] is inc.__closure__[0]


def test_containers():
    def f(t):
        d = {"a": t + 1, "b": [t, (t * 2, None)], 3: slice(1, 2)}
        d["c"] = d["b"]
        return d

    d = warm(f, torch.ones(2))(torch.ones(2))
    assert list(d) == ["a", "b", 3, "c"] and d["c"] is d["b"]
    assert d["b"][1][0].tolist() == [2, 2] and d["b"][1][1] is None and d[3] == slice(1, 2)


def test_numpy_scalars():
    def f(x):
        return x.sum(), np.float32(2) * x

    x = np.arange(4, dtype=np.float32)
    total, y = warm(f, x)(x)
    assert type(total) is np.float32 and total == 6
    assert y.dtype == np.float32


def test_python_sees_values_at_a_break():
    seen = []

    def look(*values):
        seen.append([v.tolist() if isinstance(v, torch.Tensor) else v for v in values])

    def f(t, n):
        a = t * 2
        b = a + n
        look(a, b, n)
        c = b * a
        return c - 1

    jitted = warm(f, torch.ones(2), 3, calls=4)
    assert jitted(torch.ones(2), 3).tolist() == [9, 9]
    assert seen == [[[2, 2], [5, 5], 3]] * 5


def test_exception_leaves_locals_as_they_were():
    def f(t):
        a = t * 2
        try:
            a = a + 1
            raise KeyError(a)
        except KeyError as error:
            return error.args[0] * 2

    jitted = warm(f, torch.ones(2))
    assert jitted(torch.ones(2)).tolist() == [6, 6]


def test_fullgraph():
    def breaks(t):
        t = t * 2
        print(end="")
        return t + 1

    def whole(t):
        return t * 2 + 1

    with pytest.raises(wok.BreakError, match="test_exits.py:"):
        wok.jit(breaks, fullgraph=True)(torch.ones(2))
    assert wok.jit(whole, fullgraph=True)(torch.ones(2)).tolist() == [3, 3]


def test_disabled_function_is_not_looked_into():
    @wok.disable
    def outside(t):
        return t * 3

    def f(t):
        t = t + 1
        t = outside(t)
        return t - 1

    report = wok.explain(wok.jit(f))(torch.ones(2))
    assert report.result.tolist() == [5, 5]
    assert [b.code for b in report.breaks] == ["disabled-call"]
    assert len(report.subgraphs) == 2


def test_floating_point_flags_of_arrays():
    def f(x):
        return np.log(x) + 1

    jitted = warm(f, np.ones(3))
    with pytest.warns(RuntimeWarning, match="divide"):
        assert jitted(np.array([0.0, 1.0, 1.0]))[0] == -np.inf
    with pytest.warns(RuntimeWarning, match="invalid"):
        assert np.isnan(jitted(np.array([-1.0, 1.0, 1.0]))[0])


def test_integer_division_by_zero():
    def f(a, b):
        return a // b

    a = torch.tensor([4, 5])
    jitted = warm(f, a, torch.tensor([2, 2]))
    with pytest.raises(RuntimeError, match="ZeroDivision"):
        jitted(a, torch.tensor([2, 0]))


def test_calls_bind_arguments_as_python_does():
    def f(a, /, b, c=3.0, *, d=4.0):
        return a * 1000 + b * 100 + c * 10 + d

    t = torch.ones(1)
    jitted = warm(f, t, t)
    assert jitted(t, t).item() == 1134
    assert jitted(t, b=t, d=5.0).item() == 1135
    assert jitted(t, t, 7.0).item() == 1174
    for wrong in (
        lambda: jitted(),
        lambda: jitted(t),
        lambda: jitted(t, t, t, t),
        lambda: jitted(t, t, b=t),
        lambda: jitted(t, t, e=1),
        lambda: jitted(a=t, b=t),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_threads():
    def f(t, s):
        u = t * s
        return u + t

    jitted = wok.jit(f)
    small, large = torch.ones(16), torch.ones(300, 1000)
    errors = []

    def work(seed):
        try:
            for i in range(200):
                t = large if (i + seed) % 10 == 0 else small
                s = float(1 + (i + seed) % 3)
                assert jitted(t, s)[..., 0].max().item() == s + 1
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_fork():
    def f(t):
        return t * 2 + 1

    jitted = warm(f, torch.ones(4))
    child = os.fork()
    if child == 0:
        try:
            ok = jitted(torch.ones(4)).tolist() == [3] * 4
            ok = ok and wok.jit(lambda t: t * 5 - 1)(torch.ones(2)).tolist() == [4, 4]
        except BaseException:  # noqa: BLE001
            ok = False
        os._exit(0 if ok else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        threading.Event().wait(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("the child hangs")
    assert status == 0


def test_a_million_calls_without_frames():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    t = torch.ones(16)
    jitted = warm(lambda t: t + 1, t)
    frameless = wok.stats()["frameless"]
    for _ in range(20_000):
        jitted(t)
    assert wok.stats()["frameless"] >= frameless + 20_000
    before = resident()
    for _ in range(1_000_000):
        jitted(t)
    assert resident() - before < 2 << 20


def test_without_the_known_layout():
    """The same through DLPack and Python's attributes, as with an unknown version of PyTorch."""
    script = """
import torch, wok
f = wok.jit(lambda t: (t * 2 + 1, t.T, t.sum()))
for _ in range(3):
    a, b, c = f(torch.arange(6.0).reshape(2, 3))
assert a.tolist() == [[1, 3, 5], [7, 9, 11]] and b.shape == (3, 2) and c.item() == 15
leaf = torch.ones(2, 3, requires_grad=True)
assert f(leaf)[0].grad_fn is not None
assert f(torch._neg_view(torch.ones(2, 3)))[0].tolist() == [[-1, -1, -1]] * 2
stats = wok.stats()
assert stats["runs"] == 3 and stats["fallbacks"] == 0, stats
"""
    environment = os.environ | {"WOK_TORCH_ACCESS": "dlpack"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_memory_stays_flat_over_exits_into_frames():
    def outside(*values):
        pass

    outside = wok.disable(outside)

    def f(t, log):
        a = t * 2
        b = [a, a + 1]
        outside(b)
        log.append(a)
        log.clear()
        t.add_(0)
        outside(t)
        return t.T, b[0] - 1

    t, log = torch.ones(2, 3), []
    jitted = warm(f, t, log)
    gc.collect()
    before = torch.ones(1), sys.getrefcount(t), len(gc.get_objects())
    for _ in range(2000):
        jitted(t, log)
    gc.collect()
    assert sys.getrefcount(t) == before[1]
    assert abs(len(gc.get_objects()) - before[2]) < 50


# Operations that raise although nobody reads what they compute: with good and bad arguments.
GOOD, BAD = torch.tensor([1, 2]), torch.tensor([1, 0])
NEAR, FAR = torch.tensor([0, 1]), torch.tensor([0, 9])


@pytest.mark.parametrize(
    "function, good, bad",
    [
        (lambda a, b: (a // b, a + 1)[1], GOOD, BAD),
        (lambda a, b: (a // b) * 0, GOOD, BAD),
        (lambda a, b: (a % b)[:1] + 1, GOOD, BAD),
        (lambda a, b: torch.where(b != 0, a // b, a), GOOD, BAD),
        (lambda a, b: (a // b) - (a // b), GOOD, BAD),
        (lambda a, b: (a[b], a + 1)[1], NEAR, FAR),
        (lambda a, b: a[b][:1] * 2, NEAR, FAR),
        (lambda a, b: (torch.index_select(a, 0, b) * 0) + 3, NEAR, FAR),
        (lambda a, b: (torch.nn.functional.embedding(b, a.float()[:, None]), a * 2)[1], NEAR, FAR),
        (lambda a, b: a[b] * 2, NEAR, -FAR),
    ],
    ids=str,
)
def test_unread_results_of_operations_that_raise(function, good, bad):
    a = torch.tensor([3, 4])
    for order in ([good, good, bad, good, bad], [bad, good, bad]):
        wok.reset()
        jitted = wok.jit(function)
        for b in order:
            results = []
            for f in (function, jitted):
                try:
                    results.append(f(a, b).tolist())
                except (RuntimeError, IndexError) as error:
                    results.append(repr(error))
            assert results[1] == results[0]
    assert isinstance(results[0], str), "eager does not raise"


def test_a_fault_comes_before_what_follows():
    def f(a, b, log):
        a.add_(1)
        log.append("before")
        a // b
        a.add_(1)
        log.append("after")
        return a * 2

    jitted = wok.jit(f)
    for b in (GOOD, GOOD, BAD, GOOD, BAD):
        results = []
        for g in (f, jitted):
            a, log = torch.tensor([3, 4]), []
            try:
                results.append((g(a, b, log).tolist(), a.tolist(), log))
            except RuntimeError as error:
                results.append((repr(error), a.tolist(), log))
        assert results[1] == results[0]


def test_fork_before_pytorch_has_threads():
    # A process in which PyTorch runs threads cannot fork and compute: Wok starts none of them.
    program = """
import os, torch, wok
f = wok.jit(lambda t: t * 2 + 1)
f(torch.ones(4)), f(torch.ones(4))
child = os.fork()
if child == 0:
    big = torch.ones(1000, 1000) * 3 + 1
    os._exit(0 if torch.equal(f(big), big * 2 + 1) else 1)
print(os.waitpid(child, 0)[1])
"""
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert out.stdout.strip() == "0", out.stdout + out.stderr

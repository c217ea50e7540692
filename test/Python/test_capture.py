"""What is captured, as text: no kernel is compiled or run here.

Each test is one function, and what must (or must not) stand in the text of its capture.
"""

import pytest
import torch
from torch import nn
from wok import _wok

t = torch.ones(2, 3)
GAIN = 2.0


def capture(function, *calls, dynamic=-1):
    """The text for each call (a tuple of arguments), captured one after the other."""
    return _wok._capture(function, list(calls), dynamic)


def one(function, *args):
    return capture(function, args)[0]


def has(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"


def lacks(text, *parts):
    for part in parts:
        assert part not in text, f"{part!r} is in\n{text}"


# ---------------------------------------------------------------- straight lines


def test_arithmetic():
    def f(x):
        y = x * 2
        return y + 1

    text = one(f, t)
    has(text, "input %0 = local x : f32[2, 3]", "guard local x Tensor Tensor f32 [2, 3]")
    has(text, "operations [mul 2, add 1]", "stack tensor 0", "exit: return, returns")


def test_dead_locals_are_no_outputs():
    def f(x):
        y = x * 2
        z = y + 1
        print(z)

    text = one(f, t)
    has(text, "exit: print", "stack tensor 0")
    lacks(text, "tensor 1", "local y")


def test_all_locals_stay_where_locals_is_named():
    def f(x):
        y = x * 2
        z = y + 1
        print(z)
        return locals()

    has(one(f, t), "local y = tensor", "local z = tensor")


def test_the_same_object_twice_is_one_recipe():
    def f(x):
        y = x + 1
        return x, y, y

    has(one(f, t), "stack Tuple(local x, tensor 0, tensor 0)")


def test_swaps_copies_and_deletes():
    def f(x):
        a, b = x + 1, x * 2
        a, b = b, a
        c = d = a - b
        del c
        return d

    has(one(f, t), "operations [add 1, mul 2, sub]", "stack tensor 0", "returns")


def test_unbound_local():
    def f(x):
        y = x + 1
        if x is None:
            z = 1
        return y + z

    has(one(f, t), "exit: would-raise", "operations [add 1]")


# ---------------------------------------------------------------- guards of what was read


def test_global():
    def f(x):
        return x * GAIN

    has(one(f, t), "guard globals [GAIN] Equals 2.0")


def test_builtin_is_absent_in_globals():
    def f(x):
        for _ in range(2):
            x = x + 1
        return x

    has(one(f, t), "guard globals KeyAbsent 'range'", "guard builtins [range] Is range")


def test_values_are_guarded_by_type_and_bits():
    def f(x, k):
        return x * k

    texts = [one(f, t, k) for k in (1, True, 1.0)]
    has(texts[0], "guard local k Equals 1\n")
    has(texts[1], "guard local k Is True\n")
    has(texts[2], "guard local k Equals 1.0\n")


def test_branch_on_bool():
    def f(x, flag):
        if flag:
            return x + 1
        return x - 1

    has(one(f, t, True), "local flag Is True", "[add 1]")
    has(one(f, t, False), "local flag Is False", "[sub 1]")


def test_none_tests():
    def f(x, bias=None):
        if bias is not None:
            x = x + bias
        return x * 2

    has(one(f, t, None), "guard local bias Is None", "[mul 2]")
    has(one(f, t, t), "guard local bias IsNot None", "[add, mul 2]")


def test_identity_of_two_arguments():
    def f(x, a, b):
        return x + 1 if a is b else x - 1

    la, lb = [1], [1]
    has(one(f, t, la, lb), "guard local a NotSameObject local b", "[sub 1]")
    has(one(f, t, la, la), "guard local a SameObject local b", "[add 1]")


class Config:
    gain = 3.0

    def __init__(self):
        self.bias = 1.5
        self.items = [1, 2]

    @property
    def twice(self):
        return self.bias * 2

    @staticmethod
    def shift(x):
        return x + 7

    @classmethod
    def named(cls, x):
        return x * cls.gain

    def method(self, x):
        return x + self.bias


def test_instance_attribute():
    def f(x, c):
        return x * c.bias

    text = one(f, t, Config())
    has(text, "guard local c TypeIs Config", "guard local c . bias Equals 1.5")
    has(text, "constant Config :: bias SlotNull")


def test_class_attribute():
    def f(x, c):
        return x * c.gain + Config.gain

    text = one(f, t, Config())
    has(text, "guard local c AttributeAbsent 'gain'", "guard constant Config :: gain Equals 3.0")


def test_methods_and_properties():
    def f(x, c):
        x = c.method(x)
        x = c.shift(x)
        x = c.named(x)
        return x * c.twice

    text = one(f, t, Config())
    has(text, "operations [add 1.5, add 7, mul 3.0, mul 3.0]", "returns")
    has(text, "__code__ Is <code method>", "constant Config :: twice Is <property>")


def test_list_items_and_length():
    def f(x, c):
        for k in c.items:
            x = x * k
        return x * len(c.items)

    text = one(f, t, Config())
    has(text, "guard local c . items LengthIs 2", "local c . items [1] Equals 2")


def test_dict():
    def f(x, d):
        for _key, value in d.items():
            x = x * value
        return x + d["a"] if "z" not in d else x

    text = one(f, t, {"a": 2, "b": 3})
    has(text, "DictOrder ['a', 'b']", "guard local d KeyAbsent 'z'", "[mul 2, mul 3, add 2]")


def test_closure_and_defaults():
    k = 5

    def f(x):
        def g(y, by=3, *, kw=4):
            return y * by + kw + k

        return g(x)

    has(one(f, t), "operations [mul 3, add 4, add 5]", "cell_contents Equals 5", "returns")


def helper(x, by=2, *rest, scale=1.0, **kw):
    for r in rest:
        x = x + r
    return x * by * scale + kw.get("shift", 0)


def test_inlined_function_with_every_kind_of_argument():
    def f(x):
        return helper(x, 3, 10, 20, scale=0.5, shift=7)

    text = one(f, t)
    has(text, "operations [add 10, add 20, mul 3, mul 0.5, add 7]")
    has(text, "guard globals [helper] . __code__ Is <code helper>")
    lacks(text, "__defaults__")

    def g(x):
        return helper(x)

    has(one(g, t), "[helper] . __defaults__ [0] Equals 2", "__kwdefaults__ [scale] Equals 1.0")


# ---------------------------------------------------------------- containers and loops


def test_containers():
    def f(x):
        parts = [x + i for i in range(3)]
        parts.append(x * 2)
        first, *middle, last = parts
        table = {"a": first, "b": last}
        table["c"] = middle[-1]
        return parts[1:3], table["a"] - table["b"]

    has(one(f, t), "List(tensor", "operations [add 0, add 1, add 2, mul 2, sub]")


def test_zip_enumerate_and_comprehensions():
    def f(x, ws):
        out = {i: w * x for i, (w, _) in enumerate(zip(ws, range(9)))}
        return out

    has(one(f, t, [2, 3]), "Dict(0, tensor 0, 1, tensor 1)")


def test_a_break_in_a_loop_makes_a_real_iterator():
    def f(x, ks):
        for k in ks:
            x = x * k
            print(k)
        return x

    has(one(f, t, [2, 3]), "stack Iterator(local ks, 1)", "exit: print")


def test_a_break_under_zip_goes_back_before_it():
    def f(x, ks):
        x = x + 1
        for k, _ in zip(ks, ks):
            x = x * k
            print(k)
        return x

    text = one(f, t, [2, 3])
    has(text, "operations [add 1]", "exit: print")
    lacks(text, "Iterator")


def test_while_on_known_values():
    def f(x, n):
        while n > 0:
            x = x + n
            n -= 1
        return x

    has(one(f, t, 3), "operations [add 3, add 2, add 1]", "guard local n Equals 3")


def test_f_strings_fold():
    def f(x, name):
        return x + 1, f"{name!r:>5}|{3.14159:.2f}"

    has(one(f, t, "ab"), "\" 'ab'|3.14\"")


def test_generators():
    def f(x):
        def scaled(limit):
            for i in range(limit):
                yield x * i

        total = sum(y + 1 for y in scaled(3))
        return total, [z for z in scaled(2)]

    text = one(f, t)
    has(text, "operations [mul 0, add 1, mul 1, add 1, mul 2, add 1, add, add, add, mul 0, mul 1]")
    has(text, "returns")


def test_a_break_while_a_generator_is_alive_goes_back_before_it():
    def f(x):
        x = x + 1
        g = (x * i for i in range(3))
        y = next(g)
        print(y)
        return next(g)

    text = one(f, t)
    has(text, "operations [add 1]", "exit: print")


def test_variables_that_inner_functions_read():
    def f(x):
        y = x + 1
        z = [y * i for i in range(2)]
        y = z[0] - z[1]
        print("now")
        return (lambda: y)()

    has(one(f, t), "effect SetCell local y = tensor 0", "operations [add 1, mul 0, mul 1, sub]")

    def g(x):
        y = x + 1
        return [y * i for i in range(2)]

    text = one(g, t)
    has(text, "returns", "List(tensor 0, tensor 1)")
    lacks(text, "effect")


class Base:
    def forward(self, x):
        return x + self.shift


class Derived(Base):
    def __init__(self):
        self.shift = 4

    def forward(self, x):
        return super().forward(x) * 2


def test_super():
    def f(x, m):
        return m.forward(x)

    has(one(f, t, Derived()), "operations [add 4, mul 2]", "constant Base :: forward")


def test_imports_of_what_is_imported():
    def f(x):
        import math
        from math import pi

        import torch.nn.functional as F

        return F.relu(x) * math.e + pi

    has(one(f, t), "returns", "[math] Is <module>")


def test_results_with_names():
    def f(x):
        values = torch.max(x, dim=1)
        return values.indices, values.values * torch.finfo(x.dtype).eps

    has(one(f, t), "returns", "operations [torch.max, mul")


# ---------------------------------------------------------------- numbers and extents that vary


def test_second_int_becomes_an_input():
    def f(x, k):
        return x * k

    first, second = capture(f, (t, 3), (t, 4))
    has(first, "guard local k Equals 3")
    has(second, "int local k : i64[]", "guard local k IntRange")


def test_second_float_becomes_an_input():
    def f(x, k):
        return x * (k + 1.0)

    _, second = capture(f, (t, 3.0), (t, 4.0))
    has(second, "float local k : f64[]", "guard local k FloatType")


def test_a_bool_never_varies():
    def f(x, k):
        return x + 1 if k else x - 1

    _, second = capture(f, (t, True), (t, False))
    has(second, "local k Is False")


def test_second_extent_becomes_a_symbol():
    def f(x):
        return x + 1

    _, second = capture(f, (torch.ones(4, 3),), (torch.ones(5, 3),))
    has(second, "f32[s0, 3]", "guard ExtentRelation 2 <= s0")


def test_extent_arithmetic_and_relations():
    def f(x):
        n = x.shape[0]
        if n > 3:
            return x + n * 2
        return x

    _, second = capture(f, (torch.ones(4, 3),), (torch.ones(5, 3),))
    has(second, "3 < s0")


def test_asking_for_a_symbol_keeps_it_static():
    def f(x, n):
        for _ in range(n):
            x = x + 1
        return x

    _, second = capture(f, (t, 2), (t, 3))
    has(second, "guard local n Equals 3", "[add 1, add 1, add 1]")


# ---------------------------------------------------------------- breaks


def breaks(code, function, *args):
    text = one(function, *args)
    has(text, f"exit: {code}")
    return text


def test_data_branch():
    def f(x, flag):
        x = x * 2
        if flag:
            x = x + 1
        return x

    text = breaks("data-branch", f, t, torch.tensor(True))
    has(text, "stack local flag")
    assert text.splitlines()[-1].count(",") == 1, "both successors are sites"


def test_unknown_call():
    import time

    def f(x):
        x = x + 1
        time.time()
        return x * 2

    has(breaks("unknown-call", f, t), "(time)")


def test_break_in_a_callee_ends_before_the_call():
    def g(y):
        y = y * 3
        print("x")
        return y

    def f(x):
        x = x + 1
        return g(x) + 2

    text = breaks("print", f, t)
    has(text, "operations [add 1]")
    lacks(text, "mul")


def test_foreign_stores():
    def f(x, log):
        x = x + 1
        log.append(x)
        return x

    breaks("foreign-store", f, t, [])

    def g(x, c):
        x = x + 1
        c.bias = x
        return x

    breaks("foreign-store", g, t, Config())


def test_would_raise():
    def f(x):
        y = x + 1
        return y, 1 // 0

    breaks("would-raise", f, t)


def test_finalizer():
    class Noisy:
        def __del__(self):
            pass

    def f(x, n):
        x = x + 1
        n = None  # noqa: F841
        return x * 2

    text = one(f, t, Noisy())
    assert "guard local n RefCountAbove 1" in text or "exit: finalizer" in text, text


def test_generator():
    def f(x):
        x = x + 1
        yield x * 2

    has(one(f, t), "exit: generator", "operations [add 1, mul 2]")


def test_requires_grad():
    def f(x):
        return x + 1

    has(one(f, torch.ones(2, requires_grad=True)), "nothing: requires-grad")
    with torch.no_grad():
        has(one(f, torch.ones(2, requires_grad=True)), "guard Ambient GradMode = 0", "[add 1]")


def test_nothing_to_compile():
    def f(x):
        return [x]

    has(one(f, t), "nothing: return")


# ---------------------------------------------------------------- modules


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.zeros(3))
        self.inner = nn.Identity()
        self.scale = 2.0

    def forward(self, x):
        return self.inner(x * self.weight + self.shift) * self.scale


def test_module_call():
    module = Block().eval()

    def f(x):
        return module(x)

    with torch.no_grad():
        text = one(f, t)
    has(text, "operations [mul, add, mul 2.0]", "returns")
    has(text, "_parameters [weight] Tensor Parameter", "_buffers [shift] Tensor Tensor")
    has(text, "_forward_hooks LengthIs 0", ". _modules [inner]")


def test_module_with_a_hook_is_left_alone():
    module = Block().eval()
    module.register_forward_hook(lambda *a: None)

    def f(x):
        x = x + 1
        return module(x)

    with torch.no_grad():
        has(one(f, t), "exit: unknown-call (a module with hooks)")


def test_instance_dict_shadows_a_submodule():
    module = Block().eval()
    module.__dict__["inner"] = lambda x: x * 10

    def f(x):
        return module(x)

    with torch.no_grad():
        has(one(f, t), "operations [mul, add, mul 10, mul 2.0]")


def test_sequential():
    module = nn.Sequential(nn.Identity(), nn.Identity())

    def f(x):
        return module(x + 1)

    has(one(f, t), "operations [add 1]", "DictOrder ['0', '1']", "returns")


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_reflected_operators(op):
    namespace = {}
    exec(f"def f(x):\n    return 2 {op} x", namespace)
    has(one(namespace["f"], t), "returns", " 2]")

"""The worked example: operations, a branch, a call that is not captured, a print and a side effect.

Each function is an ordinary Python function on tensors; Wok captures what lies between the breaks.
"""

import torch
import wok


@wok.disable
def call_external(v):
    """Something Wok must not look into."""
    return 2 * v + 1


@wok.jit
def f(x, flag):
    x = x * 2
    x = x + 1
    if flag:
        x = x + 1
    else:
        x = x - 1
    x = x * 3
    x = call_external(x)
    return x + 5


@wok.jit
def with_effects(x, flag, log):
    x = x * 2
    x = x + 1
    print("    (printed by the program)", x.item())
    log.append(x)
    if flag:
        x = x + 1
    else:
        x = x - 1
    x = x * 3
    x = call_external(x)
    return x + 5


def show(title, function, *args):
    """Runs `function` under explain and prints what was captured, and the result."""
    report = wok.explain(function)(*args)
    print(f"\n== {title}")
    print(report)
    print(f"result: {report.result}")
    return report


def main():
    one = torch.tensor(1.0)
    show("flag is a tensor: the branch is on data", f, one, torch.tensor(True))
    show("the other arm of the branch", f, one, torch.tensor(False))
    wok.reset()
    show("flag is a Python bool: the branch is known, under a guard", f, one, True)
    show("flag False: the guard misses, Wok captures again", f, one, False)
    log = []
    show("with a print and an append to a list outside", with_effects, one, True, log)
    print(f"the list outside: {log}")


if __name__ == "__main__":
    main()

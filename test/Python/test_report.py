"""What wok.explain tells of a call, as data and as text."""

import copyreg

import pytest
import torch
import wok

LIMIT = 3.0


@pytest.fixture(autouse=True)
def fresh():
    wok.reset()
    with torch.no_grad():
        yield


def branches(x):
    y = torch.tanh(x * 2 + 1)
    if y.sum() > LIMIT:
        y = y - 1
    return torch.softmax(y, -1)


def scaled(x, y):
    return x * 2 + y


def guards_of(report):
    return [guard for subgraph in report.subgraphs for guard in subgraph.guards]


def test_subgraphs_and_breaks():
    x = torch.ones(8, 4)
    report = wok.explain(branches)(x)
    torch.testing.assert_close(report.result, branches(x))
    assert [subgraph.ops for subgraph in report.subgraphs] == [
        ["mul 2", "add 1", "torch.tanh", "Tensor.sum", "gt 3.0"],
        ["sub 1", "torch.softmax"],
    ]
    (branch,) = report.breaks
    assert branch.filename == __file__
    assert branch.lineno == branches.__code__.co_firstlineno + 2
    assert branch.reason == "a branch on tensor data"
    assert branch.hint
    assert branch.cost_ns > 0


def test_text_counts_and_ranks():
    text = str(wok.explain(branches)(torch.ones(8, 4)))
    assert text.startswith("2 subgraphs with 7 operations, 1 break\n")
    assert "ran 1 time\n" in text
    assert "break: " in text and "hint: " in text


def test_a_guard_says_what_and_where():
    line = branches.__code__.co_firstlineno + 1
    guards = guards_of(wok.explain(branches)(torch.ones(8, 4)))
    assert f"local x: tensor<8x4xf32> (line {line})" in guards
    assert f"globals [LIMIT]: == 3.0 (line {line + 1})" in guards
    # States of the process are told as Python has them.
    assert f"torch.is_autocast_enabled('cpu'): False (line {line})" in guards
    assert f"torch.get_default_dtype(): f32 (line {line})" in guards


def test_guards_of_symbolic_extents():
    watched = wok.jit(scaled)
    for extent in (5, 6):
        watched(torch.ones(extent, 2), torch.ones(extent, 2))
    report = wok.explain(watched)(torch.ones(7, 2), torch.ones(7, 2))
    guards = guards_of(report)
    assert any(guard.startswith("local x: tensor<s0x2xf32>") for guard in guards)
    # No guard is told by the name that it has inside of Wok.
    assert not [guard for guard in guards if "Relation" in guard or "Order" in guard]


def test_code_that_was_there_took_no_time():
    x = torch.ones(5, 2)
    wok.explain(scaled)(x, x + 1)
    again = wok.explain(scaled)(x, x + 1)
    assert [subgraph.compile_ns for subgraph in again.subgraphs] == [0]
    assert "compiled in" not in str(again)


def test_pickling_leaves_tensors_what_they_are():
    x = torch.ones(5, 2)
    copyreg._slotnames(torch.Tensor)  # What pickle does to the class of an object.
    report = wok.explain(scaled)(x, x + 1)
    assert [subgraph.ops for subgraph in report.subgraphs] == [["mul 2", "add"]]
    assert not report.breaks

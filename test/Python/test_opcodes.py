"""The opcode table against CPython's own, and the decoder against `dis`."""

import dis
import opcode

import pytest
from wok import _wok

TABLE = _wok._opcode_table()
JUMPS = {"JumpsForward", "JumpsBackward"}


def test_every_opcode_has_its_row():
    assert {name: row[0] for name, row in TABLE.items()} == dict(opcode.opmap)


@pytest.mark.parametrize("name", TABLE)
def test_caches(name):
    assert TABLE[name][1] == opcode._inline_cache_entries[opcode.opmap[name]]


def effect(name, argument, jump=False):
    pops, pushes = _wok._stack_effect(opcode.opmap[name], argument or 0, jump)
    return pushes - pops


@pytest.mark.parametrize("name", [name for name in TABLE if name not in ("PRECALL", "CALL")])
def test_stack_effect(name):
    number = opcode.opmap[name]
    # Each format of BUILD_SLICE, RAISE_VARARGS and so on, and some that need EXTENDED_ARG.
    arguments = [None] if number < opcode.HAVE_ARGUMENT else [0, 1, 2, 3, 5, 8, 300]
    for argument in arguments:
        for jump in (False, True):
            want = dis.stack_effect(number, argument, jump=jump)
            assert effect(name, argument, jump) == want, (argument, jump)


@pytest.mark.parametrize("argument", [0, 1, 2, 7, 300])
def test_stack_effect_of_a_call(argument):
    # `dis` lets PRECALL take the arguments off already; CPython's evaluator leaves them to CALL.
    want = sum(dis.stack_effect(opcode.opmap[name], argument) for name in ("PRECALL", "CALL"))
    assert effect("PRECALL", argument) + effect("CALL", argument) == want


@pytest.mark.parametrize("name", TABLE)
def test_jumps(name):
    number = opcode.opmap[name]
    traits = TABLE[name][2]
    assert bool(traits & JUMPS) == (number in opcode.hasjrel)
    assert not opcode.hasjabs
    if traits & JUMPS:
        assert ("JumpsBackward" in traits) == ("JUMP_BACKWARD" in name)


def test_what_ends_a_straight_line():
    ends = {name for name, row in TABLE.items() if "Ends" in row[2]}
    assert ends == {
        "JUMP_FORWARD",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
        "RETURN_VALUE",
        "RAISE_VARARGS",
        "RERAISE",
    }


def codes():
    """Code objects of all kinds: modules of the standard library with what is nested in them."""
    import argparse
    import asyncio.tasks
    import contextlib
    import enum
    import typing

    todo = []
    for module in (dis, argparse, asyncio.tasks, contextlib, enum, typing):
        with open(module.__file__) as file:
            todo.append(compile(file.read(), module.__file__, "exec"))
    names = ", ".join(f"a{i}" for i in range(300))
    todo.append(compile(f"def f(x):\n for {names} in x:\n  a299, a270(*a280)\n", "wide", "exec"))
    while todo:
        code = todo.pop()
        yield code
        todo += [constant for constant in code.co_consts if hasattr(constant, "co_code")]


def test_decoder_agrees_with_dis():
    seen = 0
    for code in codes():
        rows = _wok._decode(code.co_code, code.co_exceptiontable)
        instructions = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
        assert len(rows) == len(instructions)
        handlers = {
            offset: (entry.target, entry.depth)
            for entry in dis._parse_exception_table(code)
            for offset in range(entry.start, entry.end, 2)
        }
        for row, want in zip(rows, instructions):
            assert row["name"] == want.opname
            assert 2 * row["op_offset"] == want.offset
            assert row["arg"] == (want.arg or 0)
            if want.opcode in opcode.hasjrel:
                assert 2 * row["target"] <= want.argval
                between = code.co_code[2 * row["target"] : want.argval : 2]
                assert set(between) <= {opcode.opmap["EXTENDED_ARG"]}
            else:
                assert row["target"] == -1
            handler = handlers.get(want.offset)
            assert handler == (
                (2 * row["handler"], row["handler_depth"]) if row["handler"] >= 0 else None
            )
        seen += len(rows)
    assert seen > 20000


def test_legality():
    for code in codes():
        rows = _wok._decode(code.co_code, code.co_exceptiontable)
        prologue, names_set = True, False
        for row in rows:
            if prologue:
                assert not row["exit_legal"]
            if row["trap_legal"]:
                assert row["exit_legal"]
                assert row["name"] not in ("RESUME", "RETURN_VALUE", "KW_NAMES", "CALL")
                assert not names_set
            elif not prologue and row["exit_legal"]:
                assert row["name"] in ("RESUME", "RETURN_VALUE", "KW_NAMES")
            if row["name"] == "RESUME":
                prologue = False
            if row["name"] == "KW_NAMES":
                names_set = True
            elif row["name"] == "CALL":
                names_set = False


@pytest.mark.parametrize(
    "code, table",
    [
        (b"\x97", b""),  # half a unit
        (b"\x97\x00\x90\x01", b""),  # EXTENDED_ARG and nothing behind
        (b"\x97\x00\xc8\x00", b""),  # no such opcode
        (b"\x97\x00\x00\x00", b""),  # a CACHE of its own
        (b"\x97\x00\x7a\x00", b""),  # BINARY_OP without its cache
        (b"\x97\x00\x6e\x09\x53\x00", b""),  # a jump behind the end
        (b"\x97\x00\x8c\x09\x53\x00", b""),  # a jump before the start
        (b"\x97\x00\x6e\x01\x7a\x00\x00\x00\x53\x00", b""),  # a jump into a cache
        (b"\x97\x00\x53\x00", b"\x80\x41"),  # a number without an end
        (b"\x97\x00\x53\x00", b"\x80\x01\x09\x00"),  # a handler behind the end
    ],
)
def test_malformed_code_is_refused(code, table):
    assert _wok._decode(code, table) is None


def test_random_bytes_do_not_crash_the_decoder():
    import random

    random.seed(0)
    numbers = list(opcode.opmap.values())
    for _ in range(3000):
        size = random.randrange(40)
        code = bytes(random.choice(numbers + [random.randrange(256)]) for _ in range(size))
        table = bytes(random.randrange(128) for _ in range(random.randrange(8)))
        _wok._decode(code, table)

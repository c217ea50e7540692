"""CPython's own tests with every function watched and a trap at every legal offset."""

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("test.libregrtest", reason="this CPython came without its tests")

TESTS = """
    test_generators test_exceptions test_with test_scope test_sys_settrace test_traceback
    test_coroutines test_dict test_list test_functools test_gc
""".split()


def run(*arguments, **environment):
    environment = {**os.environ, **environment}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1800)


# With NumPy in the process every function is captured at its entry; without it only trap code runs.
PROGRAM = """
import runpy, sys
import numpy
runpy.run_module("test", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    "arm, numpy, least",
    [
        ("all", False, 5_000_000),
        ("random:7", False, 2_000_000),
        ("all", True, 5_000_000),
        ("auto", True, 100_000),
    ],
)
def test_nothing_fails_that_passes_without(arm, numpy, least, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    program = [str(tmp_path / "program.py")] if numpy else ["-m", "test"]
    result = run("-m", "wok", "--watch=all", *program, *TESTS, WOK_ARM=arm)
    if result.returncode != 0:
        failed = re.search(r"tests? failed:\n((?:    .*\n)+)", result.stdout)
        assert failed, result.stdout[-3000:] + result.stderr[-3000:]
        plain = run("-m", "test", *failed[1].split())
        assert plain.returncode != 0, result.stdout[-6000:] + result.stderr[-3000:]
    traps = int(re.search(r"WOK_ARM=\S+: ([\d,]+) traps", result.stderr)[1].replace(",", ""))
    assert traps >= least

"""`python -m wok`: programs run as under `python`."""

import os
import re
import subprocess
import sys

import pytest


def run(*arguments, expect=0, cwd=None, **environment):
    result = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    assert result.returncode == expect, result.stderr
    return result


SCRIPT = """
import sys, pickle, helper
class C: pass
def f(x):
    return helper.g(x)
if __name__ == "__main__":
    print(f(1), sys.argv, __name__, __file__ == sys.argv[0] or __file__)
    print(type(pickle.loads(pickle.dumps(C()))) is C, sys.modules["__main__"].f is f)
    print(sys.path[0])
    sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "helper.py").write_text("def g(x):\n    return x + 1\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    return str(tmp_path / "script.py")


@pytest.mark.parametrize("watch", [(), ("--watch=jit",), ("--watch=all",)])
def test_script(script, watch):
    plain = run(script, "3", "--x", expect=3)
    assert run("-m", "wok", *watch, script, "3", "--x", expect=3).stdout == plain.stdout


def test_module(script):
    folder = os.path.dirname(script)
    path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    plain = run("-m", "script", "3", "-m", expect=3, PYTHONPATH=path)
    wok = run("-m", "wok", "--watch=all", "-m", "script", "3", "-m", expect=3, PYTHONPATH=path)
    assert wok.stdout.splitlines()[:2] == plain.stdout.splitlines()[:2]


def test_tracebacks_end_in_the_script(script, tmp_path):
    (tmp_path / "raises.py").write_text("def f():\n    raise ValueError('here')\nf()\n")
    result = run("-m", "wok", "--watch=all", str(tmp_path / "raises.py"), expect=1)
    assert result.stderr.endswith("ValueError: here\n")
    assert re.search(r'raises\.py", line 2, in f', result.stderr)


def test_traps_are_counted_and_printed(script):
    result = run("-m", "wok", "--watch=all", script, "0", WOK_ARM="all")
    match = re.search(r"WOK_ARM=all: ([\d,]+) traps", result.stderr)
    assert match and int(match[1].replace(",", "")) > 1000
    # Without --watch=all nothing of this program is watched.
    result = run("-m", "wok", script, "0", WOK_ARM="all")
    assert "WOK_ARM=all: 0 traps" in result.stderr


@pytest.mark.parametrize("arm", ["always", "random:", "random:x"])
def test_bad_arm(script, arm):
    result = run("-c", "import wok", expect=1, WOK_ARM=arm)
    assert "WOK_ARM" in result.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "no script"),
        (["-m"], "no script"),
        (["--watch=some", "x.py"], "--watch must be all or jit"),
        (["--unknown", "x.py"], "unknown option"),
        (["missing.py"], "can't open 'missing.py'"),
    ],
)
def test_usage(arguments, message):
    result = run("-m", "wok", *arguments, expect=2)
    assert message in result.stderr and "usage:" in result.stderr


def test_help():
    assert "--watch=all" in run("-m", "wok", "--help").stdout

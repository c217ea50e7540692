"""Elementary functions on f32 against f64: every 997th bit pattern, and special values."""

import numpy as np
import pytest
import torch
import wok

# The result is within 1 ulp of the real one; sigmoid and rsqrt are compositions, as in eager.
FUNCTIONS = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "tanh",
    "erf",
    "sin",
    "cos",
    "tan",
]

SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    1e-45,
    -1e-45,
    3.4028235e38,
    1.1754944e-38,
    88.72284,
    -103.97,
]


def sample():
    patterns = np.arange(0, 2**32, 997, dtype=np.uint64).astype(np.uint32)
    return torch.from_numpy(
        np.concatenate([patterns.view(np.float32), np.array(SPECIAL, np.float32)])
    )


def ulps(got, reference):
    """The distance in units of the last place of f32 at `reference` (f64)."""
    with np.errstate(all="ignore"):
        nearest = reference.astype(np.float32)
        exponent = np.floor(np.log2(np.abs(reference)))
        exponent = np.clip(np.where(np.isfinite(exponent), exponent, -126), -126, 127)
        distance = np.abs(got.astype(np.float64) - reference) / np.ldexp(
            1.0, exponent.astype(int) - 23
        )
    exact = (got == nearest) | (np.isnan(got) & np.isnan(reference))
    return np.where(exact, 0.0, np.where(np.isnan(distance), np.inf, distance))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_ulp(name):
    function = getattr(torch, name)
    x = sample()
    # Code of its own: one site would hold a limited number of functions.
    compiled = wok.jit(eval(f"lambda value: torch.{name}(value)"))
    before = wok.stats()["ops_compiled"]
    got = compiled(x).numpy()
    assert wok.stats()["ops_compiled"] > before, "it ran eagerly: nothing was tested"
    reference = function(x.double()).numpy()
    error = ulps(got, reference)
    worst = int(np.argmax(error))
    assert error[worst] <= 1.0, f"{float(x[worst]).hex()}: {got[worst]} for {reference[worst]}"
    # The sign of a zero is the sign of the argument, or that of the true zero.
    zero = reference == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(reference[zero]))


def test_pow():
    generator = np.random.default_rng(1)
    special = np.array(SPECIAL + [2.0, -2.0, 0.5, -0.5, 3.0, -3.0], np.float32)
    x, y = (grid.ravel() for grid in np.meshgrid(special, special))
    x = np.concatenate([x, np.exp(generator.uniform(-80, 80, 10**6)).astype(np.float32)])
    y = np.concatenate([y, generator.uniform(-3, 3, 10**6).astype(np.float32)])
    got = wok.jit(lambda a, b: torch.pow(a, b))(torch.from_numpy(x), torch.from_numpy(y)).numpy()
    with np.errstate(all="ignore"):
        reference = np.power(x.astype(np.float64), y.astype(np.float64))
    assert ulps(got, reference).max() <= 1.0

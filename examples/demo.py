"""What `utils/demo.sh` runs: the worked example; an encoder and Black-Scholes against eager."""

import time

import black_scholes as bs
import encoder
import numpy as np
import torch
import wok
import worked_example


def fastest(function, *args, seconds=1.0):
    """The shortest of several runs, in milliseconds."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        function(*args)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def first_call(function, *args):
    """The result, and the time of this call in milliseconds."""
    start = time.perf_counter()
    result = function(*args)
    return result, (time.perf_counter() - start) * 1e3


def row(name, eager, ours, first, error):
    print(
        f"{name:<28} eager {eager:8.3f} ms   wok {ours:8.3f} ms   "
        f"{eager / ours:5.2f}x   first call {first:7.1f} ms   largest difference {error:.2e}"
    )


@torch.no_grad()
def encoder_block():
    torch.manual_seed(0)
    block = encoder.EncoderBlock().eval()
    x = torch.randn(4, 128, 256)
    compiled = wok.jit(block)
    want = block(x)
    report = wok.explain(compiled)(x)
    print(report)

    def silent(*args):
        pass

    _, first = first_call(compiled, x, silent)
    error = float((report.result - want).abs().max())
    row(
        "encoder block",
        fastest(block, x, silent),
        fastest(compiled, x, silent),
        first,
        error,
    )
    assert error < 1e-4, "the encoder block differs from eager"


def black_scholes():
    spot, strike, years = bs.options(1_000_000)
    args = (spot, strike, years, 0.02, 0.3)
    compiled = wok.jit(bs.black_scholes)
    want = bs.black_scholes(*args)
    got, first = first_call(compiled, *args)
    print(wok.explain(compiled)(*args))
    error = max(float(np.abs(g - w).max()) for g, w in zip(got, want))
    row(
        "Black-Scholes, 1,000,000",
        fastest(bs.black_scholes, *args, seconds=2),
        fastest(compiled, *args, seconds=2),
        first,
        error,
    )
    assert error < 1e-10, "Black-Scholes differs from NumPy"


def main():
    print("=== 1. The worked example ===")
    worked_example.main()
    wok.reset()
    print("\n=== 2. A transformer encoder block, with a print and a branch on data ===")
    encoder_block()
    print("\n=== 3. Black-Scholes in NumPy ===")
    black_scholes()
    print("\ncounters:", wok.stats())


if __name__ == "__main__":
    main()

"""Wok beside eager and torch.compile, alternating in one process.

    python bench/bench.py [--threads 1 2] [--rows NAME ...] [--no-inductor] [--json FILE]

For each row and thread count: the median and minimum steady time of the three, taken in turns so
that a drift of the machine's speed meets all of them; Wok's first call; and the largest error of
eager and Wok against float64 in units in the last place of the float32 result (where a formula
cancels, both are large). Every row runs the default, strict numerics; it fails, and so does the
script, if Wok's error is larger than one unit and than eager's.
"""

import argparse
import json
import statistics
import sys
import time

import torch
import wok
from torch.nn import functional as F

ROWS, COLUMNS = 4096, 1024


def make(shape, seed, low=-4.0, high=4.0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator) * (high - low) + low


def gelu_tanh(x, s, b):
    return F.gelu(x * s + b, approximate="tanh")


def exp(x):
    return torch.exp(x)


def tanh(x):
    return torch.tanh(x)


def erf(x):
    return torch.erf(x)


def softmax(x):
    return torch.softmax(x, dim=-1)


def layer_norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def sum_of_squares(x):
    return (x * x).sum(dim=-1)


def black_scholes(spot, strike, years):
    """Call prices at a fixed rate and volatility."""
    rate, volatility = 0.02, 0.3
    scale = volatility * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / scale
    d2 = d1 - scale
    cdf1 = 0.5 * (1.0 + torch.erf(d1 * 0.7071067811865476))
    cdf2 = 0.5 * (1.0 + torch.erf(d2 * 0.7071067811865476))
    return spot * cdf1 - strike * torch.exp(-rate * years) * cdf2


def benchmarks():
    x = make((ROWS, COLUMNS), 0)
    s, b = make((COLUMNS,), 1), make((COLUMNS,), 2)
    spot, strike = make((ROWS, COLUMNS), 3, 10, 50), make((ROWS, COLUMNS), 4, 10, 50)
    years = make((ROWS, COLUMNS), 5, 0.2, 2)
    return {
        "gelu_tanh(x*s+b)": (gelu_tanh, (x, s, b)),
        "exp": (exp, (x,)),
        "tanh": (tanh, (x,)),
        "erf": (erf, (x,)),
        "softmax": (softmax, (x,)),
        "layer norm": (layer_norm, (x, s, b)),
        "sum of squares": (sum_of_squares, (x,)),
        "Black-Scholes": (black_scholes, (spot, strike, years)),
    }


def timed(function, args):
    start = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - start, result


def alternate(functions, args, seconds, repeat=1):
    """{name: (median, minimum)} in microseconds of one call, the functions taken in turns."""
    times = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, function in functions.items():
            start = time.perf_counter()
            for _ in range(repeat):
                function(*args)
            times[name].append((time.perf_counter() - start) / repeat)
    return {name: (statistics.median(t) * 1e6, min(t) * 1e6) for name, t in times.items()}


def ulp_error(result, reference):
    """The largest |result - reference| in units in the last place of the float32 reference."""
    rounded = reference.to(torch.float32)
    spacing = (torch.nextafter(rounded.abs(), torch.tensor(float("inf"))) - rounded.abs()).double()
    return float(((result.double() - reference).abs() / spacing).max())


def steady(options):
    results = []
    print(
        f"{'row':<18} {'threads':>7}  {'eager us':>9} {'inductor us':>11} {'wok us':>9}"
        f"  {'vs eager':>8} {'vs inductor':>11}  {'first call ms':>13}"
        f"  {'ulp eager':>9} {'ulp wok':>8}"
    )
    for name, (function, args) in benchmarks().items():
        if options.rows and name not in options.rows:
            continue
        reference = function(*(a.double() for a in args))
        for threads in options.threads:
            torch.set_num_threads(threads)
            wok.reset()
            compiled = wok.jit(function)
            first, result = timed(compiled, args)
            functions = {"eager": function, "wok": compiled}
            if options.inductor:
                torch._dynamo.reset()
                functions["inductor"] = torch.compile(function)
                functions["inductor"](*args)
            times = alternate(functions, args, options.seconds)
            record = {
                "row": name,
                "threads": threads,
                "median_us": {k: v[0] for k, v in times.items()},
                "min_us": {k: v[1] for k, v in times.items()},
                "first_call_ms": first * 1e3,
                "ulp": {
                    "eager": ulp_error(function(*args), reference),
                    "wok": ulp_error(result, reference),
                },
            }
            record["accurate"] = record["ulp"]["wok"] <= max(1.0, record["ulp"]["eager"])
            results.append(record)
            median = record["median_us"]
            inductor = median.get("inductor", float("nan"))
            print(
                f"{name:<18} {threads:>7}"
                f"  {median['eager']:9.0f} {inductor:11.0f} {median['wok']:9.0f}"
                f"  {median['eager'] / median['wok']:8.2f} {inductor / median['wok']:11.2f}"
                f"  {first * 1e3:13.1f}  {record['ulp']['eager']:9.3g} {record['ulp']['wok']:8.3g}"
                f"{'' if record['accurate'] else '  TOO LARGE'}",
                flush=True,
            )
    return results


def plus_one(t):
    return t + 1


@wok.disable
def opaque(t):
    return t


def one_break(t):
    t = t + 1
    t = opaque(t)
    return t + 1


def overheads(options):
    """Call overhead on 16 elements, the cost of one break, and a first call once warm."""
    torch.set_num_threads(1)
    t = torch.ones(16)
    compiled, broken = wok.jit(plus_one), wok.jit(one_break)
    compiled(t), broken(t)
    functions = {"eager": plus_one, "wok": compiled}
    pieces = {"eager": one_break, "wok": broken}
    if options.inductor:
        torch._dynamo.reset()
        functions["inductor"] = torch.compile(plus_one)
        pieces["inductor"] = torch.compile(one_break)
        functions["inductor"](t), pieces["inductor"](t)
    results = []
    for title, group in (("t+1 on 16 elements", functions), ("with one break", pieces)):
        times = alternate(group, (t,), options.seconds, repeat=1000)
        results.append({"row": title, "median_us": {k: v[0] for k, v in times.items()}})
        print(
            f"{title:<20}",
            "  ".join(f"{k} {v[0]:.2f} us (min {v[1]:.2f})" for k, v in times.items()),
        )
    # New constants make new kernels: nothing of an earlier compile serves.
    firsts = []
    for k in range(10):
        scope = {}
        exec(f"def fresh(t): return t * {k}.5 + {k}.25", scope)
        firsts.append(timed(wok.jit(scope["fresh"]), (t,))[0] * 1e3)
    print(
        f"{'first call, warm':<20} wok median {statistics.median(firsts):.1f} ms "
        f"(min {min(firsts):.1f}, max {max(firsts):.1f})"
    )
    results.append({"row": "first call, warm", "wok_ms": firsts})
    return results


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rows", nargs="+", help="only these rows", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=2.0, help="per row and thread count")
    parser.add_argument("--no-inductor", dest="inductor", action="store_false")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args()
    unknown = set(options.rows or ()) - set(benchmarks())
    if unknown:
        parser.error(
            f"no such row: {', '.join(sorted(unknown))}; there are: {', '.join(benchmarks())}"
        )
    with torch.no_grad():
        results = steady(options) + overheads(options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    return 0 if all(row.get("accurate", True) for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Black-Scholes prices of European options in plain NumPy."""

import numpy as np


def normal_cdf(x):
    """The normal distribution function to about 7.5e-8 (Abramowitz and Stegun 26.2.17)."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    upper = 0.3989422804014327 * np.exp(-0.5 * x * x) * poly
    return np.where(x >= 0, 1.0 - upper, upper)


def black_scholes(spot, strike, years, rate, volatility):
    """Call and put prices. `spot`, `strike`, `years`: arrays of one shape; the rest are floats."""
    scale = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / scale
    d2 = d1 - scale
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = call - spot + discounted
    return call, put


def options(n, seed=0, dtype=np.float64):
    """`n` random options: spot, strike, years."""
    rng = np.random.default_rng(seed)
    spot = rng.uniform(10, 50, n).astype(dtype)
    strike = rng.uniform(10, 50, n).astype(dtype)
    years = rng.uniform(0.2, 2, n).astype(dtype)
    return spot, strike, years

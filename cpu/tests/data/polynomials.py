"""Prints the polynomials of `cpu/src/kernels/math/erf.rs`, with the largest relative error of each.

    pip install mpmath && python polynomials.py
"""

from mpmath import mp, mpf

mp.dps = 60


def chebyshev(f, low, high, degree):
    """Returns the powers of the polynomial that equals a function at Chebyshev nodes, over [-1, 1]."""
    n = degree + 1
    angles = [mp.pi * (k + mpf(0.5)) / n for k in range(n)]
    values = [f((low + high) / 2 + (high - low) / 2 * mp.cos(a)) for a in angles]
    powers = [mpf(0)] * n
    before, now = [mpf(0), mpf(1)], [mpf(1)]
    for j in range(n):
        scale = (1 if j == 0 else 2) / mpf(n)
        coefficient = scale * sum(v * mp.cos(j * a) for v, a in zip(values, angles))
        for i, c in enumerate(now):
            powers[i] += coefficient * c
        # T[j + 1] = 2 x T[j] - T[j - 1], and T[-1] = x.
        after = [mpf(0)] + [(1 if j == 0 else 2) * c for c in now]
        if j > 0:
            for i, c in enumerate(before):
                after[i] -= c
        before, now = now, after
    return [float(c) for c in reversed(powers)]


def error(f, low, high, powers, count=400):
    """Returns the largest relative error of a polynomial."""
    points = [mpf(2 * k) / count - 1 for k in range(count + 1)]
    exact = [f((low + high) / 2 + (high - low) / 2 * u) for u in points]
    return max(abs(mp.polyval(powers, u) / y - 1) for u, y in zip(points, exact))


def erf(z):
    """Returns `erf(x) / x` for `z = x²`."""
    x = mp.sqrt(z)
    return mp.erf(x) / x if z > 0 else 2 / mp.sqrt(mp.pi)


def scaled_erfc(t):
    """Returns `exp(x²) erfc(x)` for `t = (x - 3) / (x + 3)`."""
    x = 3 * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x)


def inverse(w):
    """Returns `y / x` for `x = erf(y)` and `w = -log(1 - x²)`."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


for name, f, low, high, degree in [
    ("ERF", erf, mpf(0), mpf(16), 20),
    ("ERFC", scaled_erfc, mpf(-1), mpf(6) / 11, 14),
    ("INVERSE", inverse, mpf(0), mpf(16), 24),
]:
    powers = chebyshev(f, low, high, degree)
    largest = mp.nstr(error(f, low, high, powers), 3)
    print(f"/// Relative error: {largest}.")
    print(f"const {name}: [f64; {len(powers)}] = [")
    print("".join(f"    {c!r},\n" for c in powers) + "];")

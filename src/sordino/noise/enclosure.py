"""Rigorous bounds for the few transcendental numbers that decide a draw, as pairs of integers.

An *enclosure* of a real number v at `bits` is a pair (low, high) with low ≤ 2**bits · v ≤ high. The work is done by
``decimal``, whose ``exp`` and ``ln`` are correctly rounded (libmpdec), with eight digits more than the enclosure can
show; each function says why its error stays below one unit, and widens by that unit. More bits give a narrower
enclosure, so whatever an enclosure leaves open a wider one decides.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from functools import cache, lru_cache
from math import comb, isqrt, perm

Enclosure = tuple[int, int]

_GUARD_DIGITS = 8
_HALF = Decimal("0.5")


@lru_cache(maxsize=64)
def context(digits: int) -> Context:
    """Return a context of that precision whose exponent range no draw can leave."""
    traps = [InvalidOperation, DivisionByZero, Overflow]
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=traps)


def digits_for(bits: int) -> int:
    """Return the decimal digits that show 2**-bits, with the guard digits that the error analyses spend."""
    return bits * 30103 // 100000 + 1 + _GUARD_DIGITS


def exp_negative(numerator: int, denominator: int, bits: int) -> Enclosure:
    """Return an enclosure of e^-x, where x = numerator/denominator ≥ 0.

    With D digits, x is off by a factor 1 ± 10^(1-D), so e^-x by at most x·e^-x·10^(1-D) < 0.4·10^(1-D); rounding adds
    10^(1-D) twice. Together that is less than 10^-6 · 2**-bits.
    """
    if numerator > denominator * bits:  # e^-x < 2**-bits: nothing of it shows
        return 0, 1
    local = context(digits_for(bits))
    exponent = local.divide(Decimal(-numerator), Decimal(denominator))
    return widened(local.exp(exponent), bits)


def exp_of(logarithm: Decimal, bits: int) -> Enclosure:
    """Return an enclosure of e^l for every l ≤ 0 within 10^-`digits_for(bits)` of `logarithm`."""
    if logarithm < -bits:
        return 0, 1
    local = context(digits_for(bits))
    return widened(local.exp(min(logarithm, Decimal(0))), bits)


def widened(value: Decimal, bits: int) -> Enclosure:
    """Return an enclosure of every nonnegative number within 10^-3 · 2**-bits of `value`, a number up to 2."""
    whole = int(context(digits_for(bits)).multiply(value, Decimal(1 << bits)))
    return max(whole - 1, 0), whole + 2


def multiply(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    """Return an enclosure of the product of two nonnegative numbers."""
    return (a[0] * b[0]) >> bits, -((-a[1] * b[1]) >> bits)


@cache
def _bernoulli(index: int) -> Fraction:
    """Return the Bernoulli number B_index (B_1 = -1/2)."""
    if index == 0:
        return Fraction(1)
    if index > 1 and index % 2:
        return Fraction(0)
    return -sum((comb(index + 1, k) * _bernoulli(k) for k in range(index)), Fraction(0)) / (index + 1)


def ln_factorial(n: int, digits: int) -> Decimal:
    """Return ln n! - ½ ln 2π, off by less than 10^-digits.

    Stirling's series at N ≥ n large enough, less ln(N!/n!). The series envelops its limit, so its error is less than
    the first term left out (Whittaker & Watson, §12.33). The largest intermediate is below 10^(2 + 2·len(N)); fewer
    than 10^4 roundings at six digits beyond that keep the rest of the promise.
    """
    anchor = max(n, digits + 10)
    local = context(digits + 2 * len(str(anchor)) + 8)
    value = _stirling(anchor, digits)
    if anchor == n:
        return value
    return local.subtract(value, local.ln(Decimal(perm(anchor, anchor - n))))


@lru_cache(maxsize=1024)
def _stirling(n: int, digits: int) -> Decimal:
    local = context(digits + 2 * len(str(n)) + 8)
    size = Decimal(n)
    value = local.subtract(local.multiply(local.add(size, _HALF), local.ln(size)), size)
    smallest = Decimal((0, (1,), -(digits + 2)))
    index, power = 1, size
    while True:
        coefficient = _bernoulli(2 * index) / (2 * index * (2 * index - 1))
        scale = local.multiply(Decimal(coefficient.denominator), power)
        term = local.divide(Decimal(coefficient.numerator), scale)
        if term.copy_abs() < smallest:
            return value
        value = local.add(value, term)
        power = local.multiply(local.multiply(power, size), size)
        index += 1


def gaussian_cell(k: int, variance: Fraction, digits: int) -> Decimal:
    """Return ∫ cosh(ku/σ²)·e^(-u²/2σ²) du over |u| ≤ ½, off by a factor of at most 1 ± 10^-digits; needs σ ≥ 8.

    It is the mass of N(0, σ²) in [k-½, k+½] divided by its density at k (times a constant). With a = |k|/σ², b = 1/2σ²
    the integrand's even part is that of e^(au - bu²) = Σ h_j u^j, (j+1)·h_(j+1) = a·h_j - 2b·h_(j-1). By Cauchy's
    bound on the circle of radius R ≤ σ, |h_j| ≤ e^(aR+½)·R^-j, so the terms from j = J on add up to less than
    e^(aR+½)·(2R)^-J·(1 + 1/R). The integral itself is above 0.99.
    """
    numerator, denominator = variance.numerator, variance.denominator
    radius = isqrt(numerator // denominator)
    # Above log10 of e^(aR+½)·(1 + 1/R):
    exponent_digits = abs(k) * denominator * radius * 44 // (numerator * 100) + 2
    local = context(digits + exponent_digits + _GUARD_DIGITS)
    terms = (digits + 2 + exponent_digits) * 100 // (30 * (2 * radius).bit_length() - 30) + 2
    slope = local.divide(Decimal(abs(k) * denominator), Decimal(numerator))
    curve = local.divide(Decimal(denominator), Decimal(numerator))  # 2b
    before, here, half, total = Decimal(0), Decimal(1), Decimal(1), Decimal(0)
    for j in range(terms):
        if j % 2 == 0:
            total = local.add(total, local.divide(local.multiply(here, half), Decimal(j + 1)))
        after = local.subtract(local.multiply(slope, here), local.multiply(curve, before))
        before, here = here, local.divide(after, Decimal(j + 1))
        half = local.multiply(half, _HALF)
    return total


@lru_cache(maxsize=256)
def gaussian_from_zero(square: Fraction, digits: int) -> Decimal:
    """Return ∫ e^(-t²/2) dt over 0 ≤ t ≤ √square, off by at most 10^-digits.

    The series e^(-s/2)·√s·Σ s^n/(2n+1)!!, s = square, has positive terms, and from n ≥ s on each is less than half its
    predecessor, so the rest is less than the last one. Where s/2 > 2.31·(digits+2), what is left of the integral is
    less than e^(-s/2) < 10^-(digits+2), so s may be cut there. Roundings are relative: at most 10^6 of them, at sixteen
    digits more than shown.
    """
    square = min(square, Fraction(462, 100) * (digits + 2))
    local = context(digits + 2 * _GUARD_DIGITS)
    ratio = local.divide(Decimal(square.numerator), Decimal(square.denominator))
    term = total = local.sqrt(ratio)
    smallest = Decimal((0, (1,), -(digits + 4)))
    index = 1
    while term > smallest or index <= square:
        term = local.divide(local.multiply(term, ratio), Decimal(2 * index + 1))
        total = local.add(total, term)
        index += 1
    return local.multiply(total, local.exp(local.divide(ratio, Decimal(-2))))


def ln_exponential(prefix: int, bits: int) -> tuple[Decimal, Decimal]:
    """Return bounds for ln(-ln(1 - U)) over all U in [prefix, prefix + 1)·2**-bits.

    It grows with U, so the ends bound it. With P digits, 1 - U is off by 10^-P, -ln(1 - U) by 10^-P·2**bits and, being
    at least 2**-bits, by a factor 1 ± 10^-P·2**(2·bits); P is such that this is below the widening at the end.
    """
    digits = digits_for(bits)
    local = context(digits_for(2 * bits) + digits + 2)
    whole = Decimal(1 << bits)
    slack = Decimal((0, (1,), -digits))
    low, high = Decimal("-Infinity"), Decimal("Infinity")
    if prefix > 0:
        low = local.subtract(_ln_ln(Decimal((1 << bits) - prefix), whole, local), slack)
    if prefix + 1 < 1 << bits:
        high = local.add(_ln_ln(Decimal((1 << bits) - prefix - 1), whole, local), slack)
    return low, high


def _ln_ln(part: Decimal, whole: Decimal, local: Context) -> Decimal:
    return local.ln(local.minus(local.ln(local.divide(part, whole))))

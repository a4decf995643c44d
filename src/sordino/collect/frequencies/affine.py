"""A family of hash functions in which any two values meet equally often, exactly, and which is fast to count.

Values are written with so many `digits` v₁, v₂, … in base P, a prime. A function is coefficients f₀, f₁, … below P:

    x = f₀ + f₁·v₁ + f₂·v₂ + …  (mod P),    bucket = ⌊x·buckets / P⌋

**Guarantee**: over all functions, the x of two different values are uniform on all P² pairs: they are two linear forms
of the coefficients, neither a multiple of the other. So any two values are in one bucket for the same part of the
functions, `meeting` = Σ (size of a bucket / P)². Nothing of it is approximate. A few functions drawn at random would
not do: that some values meet more often adds an error that grows with the square of the number of reports.

**Counting.** A report (f, bucket) supports the values whose x lies in the bucket: those with f₁·v₁ + … in one interval
of a circle. Where there are few functions, P^(digits + 1) ≤ `MOST_CELLS`, counts are the ends of these intervals in a
table of as many cells; estimates put digit after digit in place of its coefficient. Else (digits is 1 then) each
report is gone through along its interval, P/buckets steps, and counts are of values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino.collect.randomizer import Codes, Counts

MOST_CELLS = 1 << 23
_STEP = 1 << 18  # reports that are gone through at once


@dataclass(frozen=True)
class Affine:
    """Functions from base-`prime` numbers of so many `digits` to `buckets`."""

    prime: int
    digits: int
    buckets: int

    @property
    def cells(self) -> int:
        """How many functions there are, and cells in the table that counts them."""
        return int(self.prime ** (self.digits + 1))

    @property
    def tabled(self) -> bool:
        """Whether counts are a table of cells; else they are of values."""
        return self.cells <= MOST_CELLS

    @property
    def steps(self) -> int:
        """How many values are gone through to count one report; none where counts are a table."""
        return 0 if self.tabled else -(-self.prime // self.buckets)

    @property
    def starts(self) -> list[int]:
        """Where each bucket begins, and the end of the last."""
        return [-(-bucket * self.prime // self.buckets) for bucket in range(self.buckets + 1)]

    @property
    def meeting(self) -> Fraction:
        """For which part of the functions two values are in one bucket: all buckets have one of two sizes."""
        small, larger = divmod(self.prime, self.buckets)
        return Fraction(larger * (small + 1) ** 2 + (self.buckets - larger) * small**2, self.prime**2)

    def bucket(self, function: tuple[int, ...], value: int) -> int:
        """Return the bucket of one value."""
        first, *others = function
        for coefficient in others:
            value, digit = divmod(value, self.prime)
            first += coefficient * digit
        return first % self.prime * self.buckets // self.prime

    def bucketed(self, functions: Codes, values: Codes) -> Codes:
        """Return the bucket of each value, by the function in its column."""
        total, rest = functions[0], values
        for coefficients in functions[1:]:
            quotient = rest // self.prime
            total = self._remainder(total + coefficients * (rest - quotient * self.prime))
            rest = quotient
        return np.asarray(total * self.buckets // self.prime)

    def count(self, functions: Codes, buckets: Codes, domain: int) -> Counts:
        """Return what `supported` needs of reports: coefficients a row, a report a column."""
        starts = np.array(self.starts, dtype=np.int64)
        low = self._remainder(starts[buckets] - functions[0] + self.prime)
        length = starts[buckets + 1] - starts[buckets]
        if self.tabled:
            return self._ends(functions[1:], low, low + length)
        totals = np.zeros(domain, dtype=np.int64)
        for start in range(0, len(low), _STEP):
            part = slice(start, start + _STEP)
            self._along(functions[1, part], low[part], length[part], totals)
        return totals

    def supported(self, counts: Counts, domain: int) -> Counts:
        """Return how many reports support each value of the domain."""
        if not self.tabled:
            return counts
        table = np.cumsum(counts.reshape([self.prime] * (self.digits + 1)), axis=-1)  # axes: fₙ … f₁, then x − f₀
        for _ in range(self.digits - 1):
            table = _put_digit(table)
        return _put_last_digit(table).ravel()[:domain]

    def _ends(self, coefficients: Codes, low: Codes, high: Codes) -> Counts:
        """Count where intervals begin and end, by the coefficients; one that goes on past P begins again at 0."""
        at = np.zeros_like(low)
        for each in coefficients[::-1]:
            at = at * self.prime + each
        at *= self.prime
        past = high > self.prime
        begins = np.bincount(np.concatenate([at + low, at[past]]), minlength=self.cells)
        ending = np.where(past, high - self.prime, high)
        inner = ending < self.prime
        return (begins - np.bincount((at + ending)[inner], minlength=self.cells)).astype(np.int64)

    def _along(self, slopes: Codes, low: Codes, length: Codes, totals: Counts) -> None:
        """Add each report's values: those with slope·v = low, low + 1, … (mod P)."""
        flat = slopes == 0  # supports all values if the interval holds 0, else none
        totals += int(np.sum(flat & ((low == 0) | (low + length > self.prime))))
        inverse, low, length = self._inverse(slopes[~flat]), low[~flat], length[~flat]
        values = self._remainder(inverse * low)
        for step in range(int(length.max(initial=0))):
            known = values[(values < len(totals)) & (step < length)]
            totals += np.bincount(known, minlength=len(totals))
            values += inverse
            values -= self.prime * (values >= self.prime)

    def _inverse(self, numbers: Codes) -> Codes:
        """Return numbers^(P − 2), which are their inverses modulo P (Fermat)."""
        result, power, left = np.ones_like(numbers), numbers, self.prime - 2
        while left:
            if left & 1:
                result = self._remainder(result * power)
            power = self._remainder(power * power)
            left >>= 1
        return result

    def _remainder(self, numbers: Codes) -> Codes:
        """Return numbers modulo P; quotients by one number are fast in NumPy, remainders are not."""
        return np.asarray(numbers - numbers // self.prime * self.prime)


def _put_digit(table: Counts) -> Counts:
    """Sum over the coefficients of the first axis, x moved by digit·coefficient; the digit is the last axis but x."""
    prime = len(table)
    twice = np.concatenate([table, table], axis=-1)  # so that a part of it is the circle, moved
    moved = np.zeros((*table.shape[1:-1], prime, prime), dtype=np.int64)
    for digit in range(prime):
        total = moved[..., digit, :]
        for coefficient in range(prime):
            by = digit * coefficient % prime
            total += twice[coefficient, ..., by : by + prime]
    return moved


def _put_last_digit(table: Counts) -> Counts:
    """Return the same for the last coefficient, and of all x only 0: that is where a value's own x lies."""
    prime = len(table)
    digits = np.arange(prime)
    found = np.zeros(table.shape[1:], dtype=np.int64)
    for coefficient in range(prime):
        found += table[coefficient][..., coefficient * digits % prime]
    return found

"""What shuffled reports of small crowds show, enumerated in fractions: the judge of every curve of shuffled reports.

A randomizer is a tuple of laws, one for each value that a person may hold. A shuffled crowd shows how often each report
came, no more. Nothing here is imported from the accountants.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

Law = tuple[Fraction, ...]
Randomizer = tuple[Law, ...]
Shown = dict[tuple[int, ...], Fraction]


def response(odds: Fraction, categories: int) -> Randomizer:
    """Return k-ary randomized response with e^ε₀ = `odds`."""
    lie = 1 / (odds + categories - 1)
    return tuple(
        tuple(odds * lie if report == value else lie for report in range(categories)) for value in range(categories)
    )


def unary(own: Fraction, other: Fraction, values: int) -> Randomizer:
    """Return unary encoding: one bit for each value, 1 with probability `own` for the value held, else `other`."""
    laws = []
    for value in range(values):
        chances = [own if place == value else other for place in range(values)]
        law = []
        for bits in product((0, 1), repeat=values):
            mass = Fraction(1)
            for bit, chance in zip(bits, chances, strict=True):
                mass *= chance if bit else 1 - chance
            law.append(mass)
        laws.append(tuple(law))
    return tuple(laws)


def with_shared_reports(odds: Fraction, shared: Fraction) -> Randomizer:
    """Return three laws of which the first two share a report that the third makes e^ε₀ times more rarely.

    It is where more clones were once not claimed: μ₀ = μ₁ = e^ε₀·μ there. At 0 there is no such report, at 1 the first
    two laws are the same.
    """
    apart = (1 - shared) / (odds + 2)
    common = shared / (odds + 1)
    rare = apart + common
    return (
        (odds * apart, apart, rare, odds * common),
        (apart, odds * apart, rare, odds * common),
        (apart, apart, odds * rare, common),
    )


def largest_delta(randomizer: Randomizer, reports: int, factor: Fraction) -> Fraction:
    """Return δ at e^ε = `factor`: the largest over all values of one person, before and after, and of all others."""
    worst = Fraction(0)
    values = range(len(randomizer))
    for crowd in combinations_with_replacement(values, reports - 1):
        shown = _shown([randomizer[value] for value in crowd])
        laws = [_joined(shown, law) for law in randomizer]
        for one, other in permutations(laws, 2):
            worst = max(worst, _excess(one, other, factor))
    return worst


def _shown(laws: list[Law]) -> Shown:
    shown: Shown = {(0,) * len(laws[0]): Fraction(1)}
    for law in laws:
        shown = _joined(shown, law)
    return shown


def _joined(shown: Shown, law: Law) -> Shown:
    """Return what is shown with one report more."""
    found: Shown = {}
    for counts, mass in shown.items():
        for report, chance in enumerate(law):
            if chance:
                more = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                found[more] = found.get(more, Fraction(0)) + mass * chance
    return found


def _excess(one: Shown, other: Shown, factor: Fraction) -> Fraction:
    gains = (mass - factor * other.get(counts, Fraction(0)) for counts, mass in one.items())
    return sum((gain for gain in gains if gain > 0), Fraction(0))

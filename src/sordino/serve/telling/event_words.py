"""What was run, in plain words: the law of the noise and its scale, how one unit was bounded, what it cost.

Everything here is read from events, prices and boundings as JSON holds them: exact texts, all of them public.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any, NamedTuple

from sordino.accounting.part import part_of
from sordino.accounting.units import significant

Plain = Mapping[str, Any]


class Told(NamedTuple):
    """One thing that was run: what it is called, its law, and its numbers."""

    name: str
    law: str
    figures: str


def at_most(text: str) -> str:
    """Write an exact number so that it can be read: whole as it is, else to six digits, rounded up.

    >>> at_most("640"), at_most("1/10"), at_most("1/3")
    ('640', '0.1', '0.333334')
    """
    return _digits(text, ROUND_CEILING)


def at_least(text: str) -> str:
    """Write how wide a noise is, in the same way, rounded down, for it must not seem wider than it is.

    >>> at_least("2/3")
    '0.666666'
    """
    return _digits(text, ROUND_FLOOR)


def _digits(text: str, rounding: str) -> str:
    value = Fraction(text)
    if value.denominator == 1:
        return f"{value.numerator:,}".replace(",", "\u00a0")
    return f"{float(significant(value, 6, rounding)):.6g}"


def price(cost: Plain | None) -> str:
    """Say what a release cost by itself; figures are rounded up.

    >>> price({"epsilon": "1/5", "delta": "0", "rho": None}), price({"epsilon": None, "rho": "1/8"}), price(None)
    ('ε = 0.2', 'ρ = 0.125', '–')
    """
    letters = (("epsilon", "ε"), ("rho", "ρ"), ("delta", "δ"))
    given = [(letter, cost[name]) for name, letter in letters if cost and cost.get(name) not in (None, "0")]
    return ", ".join(f"{letter} = {at_most(text)}" for letter, text in given) or "–"


def together(loss: Mapping[str, float]) -> str:
    """Say what all releases lose together, to four digits, rounded up.

    >>> together({"epsilon": 1.16997, "delta": 0.0}), together({"epsilon": 0.30001, "delta": 7.6e-7})
    ('ε = 1.17', 'ε = 0.3001, δ = 7.6e-07')
    """
    short = {name: str(significant(Fraction(str(value)), 4, ROUND_CEILING)) for name, value in loss.items() if value}
    return price(short) if short else "ε = 0"


NEIGHBOURS = {
    "add-remove": (
        "Two data sets are neighbours if one has all rows of one {unit} and the other none of them. Even how many "
        "there are is protected."
    ),
    "replace-one": "Two data sets are neighbours if one {unit} has other rows in them. How many there are is public.",
    "zero-out": (
        "Two data sets are neighbours if what one {unit} adds is replaced by nothing in one of them. How many there "
        "are is public."
    ),
}


def neighbours(relation: str | None, unit: str | None) -> str:
    """Say which data sets must look alike.

    >>> neighbours("replace-one", "row (within its state)").rpartition(". ")[2]
    'How many have each state is public, too.'
    """
    part = part_of(unit or "")
    said = NEIGHBOURS.get(relation or "", "").format(unit=unit)
    return said if part is None else f"{said} How many have each {part} is public, too."


_BOUNDING: dict[str, str] = {
    "row": "Rows are protected one by one: one of them can become at most {rows} of what is counted.",
    "sample": "At most {rows} rows of each {unit} count; which of them is decided by a keyed hash.",
    "weigh": "All rows of one {unit} weigh {rows} in all at most: whoever has more rows counts less in each.",
    "groups": (
        "Each {unit} counts in at most {groups} groups, with at most {rows_per_group} rows in each; whoever has more "
        "counts less."
    ),
    "norm": "The rows of one {unit} are weighed down until their length over all groups is {rows} at most.",
}


def bounding(limits: Plain | None, unit: str) -> str:
    """Say how much one unit could weigh.

    >>> bounding({"method": "sample", "rows": 5}, "rider")
    'At most 5 rows of each rider count; which of them is decided by a keyed hash.'
    """
    return "" if not limits else _BOUNDING[limits["method"]].format(unit=unit, **limits)


def _noise(name: str, law: str, width: str, moved: str, change: str) -> Callable[[Plain], list[Told]]:
    def told(event: Plain) -> list[Told]:
        size = at_least(event[width])
        return [Told(name, law.format(size), f"{width} {size}; {change} {at_most(event[moved])} at most")]

    return told


def _loss(name: str, law: str, *letters: tuple[str, str]) -> Callable[[Plain], list[Told]]:
    def told(event: Plain) -> list[Told]:
        return [Told(name, law, ", ".join(f"{letter} = {at_most(event[field])}" for field, letter in letters))]

    return told


def _made_of(words: str) -> Callable[[Plain], list[Told]]:
    def told(event: Plain) -> list[Told]:
        shown = {name: at_most(value) for name, value in event.items() if name not in ("event", "kind")}
        return [each._replace(name=f"{words.format(**shown)}: {each.name}") for each in told_of(event["event"])]

    return told


def _declared(event: Plain) -> list[Told]:
    paid = price({"epsilon": event["epsilon"], "delta": event["delta"]})
    return [each._replace(name=f"declared as a whole ({paid}): {each.name}") for each in told_of(event["event"])]


def _summed(event: Plain) -> list[Told]:
    parties, size, moved = (
        at_least(event["parties"]),
        at_least(event["variance"]),
        at_most(event["sensitivity_squared"]),
    )
    law = f"the sum of {parties} with P[k] ∝ exp(−k² / (2 · {size})), k whole steps"
    return [Told("discrete Gaussian noise of several parties", law, f"variance {size} each; {_L2[2]} {moved} at most")]


def _correlated(event: Plain) -> list[Told]:
    size, moved = at_least(event["variance"]), at_most(event["sensitivity_squared"])
    name = f"Gaussian noise that is correlated over {at_least(event['steps'])} steps"
    often = f"in at most {at_most(event['participations'])} steps, {at_least(event['separation'])} apart"
    law = f"density ∝ exp(−x² / (2 · {size})), after a sum weighted by {len(event['coefficients'])} coefficients"
    return [Told(name, law, f"variance {size}; {_L2[2]} {moved} at most, {often}")]


def _mixture(event: Plain) -> list[Told]:
    size, moved = at_least(event["variance"]), at_most(event["sensitivities"][-1])
    law = f"density ∝ exp(−x² / (2 · {size}))"
    figures = f"variance {size}; what one unit changes has a length of {moved} at most, and by chance of less"
    return [Told("Gaussian noise on a sample that holds parts of one unit", law, figures)]


def _allocated(event: Plain) -> list[Told]:
    size, moved = at_least(event["variance"]), at_most(event["sensitivity_squared"])
    figures = f"variance {size}; {_L2[2]} {moved} at most, in one of {at_least(event['steps'])} steps, chosen by chance"
    return [Told("Gaussian noise in every step of an epoch", f"density ∝ exp(−x² / (2 · {size}))", figures)]


def _personalised(event: Plain) -> list[Told]:
    shares = ", ".join(at_most(each) for each in event["epsilons"])
    return [Told("a release with a loss by class of people", "anything private to each class", f"ε of {shares}")]


_EPSILON, _DELTA, _REPORTS = ("epsilon", "ε"), ("delta", "δ"), ("reports", "n")
_L1 = "scale", "sensitivity", "one unit changes the answer, over all its numbers, by"
_L2 = "variance", "sensitivity_squared", "what one unit changes has a squared length of"
EVENTS: dict[str, Callable[[Plain], list[Told]]] = {
    "laplace": _noise("Laplace noise", "density ∝ exp(−|x| / {})", *_L1),
    "discrete-laplace": _noise("discrete Laplace noise", "P[k] ∝ exp(−|k| / {}), k whole steps", *_L1),
    "gaussian": _noise(
        "Gaussian noise", "density ∝ exp(−x² / (2 · {})), rounded to whole steps where answers are whole", *_L2
    ),
    "discrete-gaussian": _noise("discrete Gaussian noise", "P[k] ∝ exp(−k² / (2 · {})), k whole steps", *_L2),
    "summed-discrete-gaussian": _summed,
    "skellam": _noise("Skellam noise", "the difference of two Poisson variables, of variance {} in all", *_L2),
    "correlated": _correlated,
    "gaussian-mixture": _mixture,
    "allocated": _allocated,
    "exponential": _loss("a choice by the exponential mechanism", "P[choice] ∝ exp(score)", _EPSILON),
    "permute-and-flip": _loss("a choice by permute-and-flip", "the largest score with exponential noise", _EPSILON),
    "laplace-noisy-max": _loss("the largest of noisy scores", "each score with Laplace noise", _EPSILON),
    "sparse-vector": _loss(
        "which answers lie above a threshold",
        "threshold and answers with Laplace noise",
        ("epsilon_threshold", "ε of the threshold"),
        ("epsilon_queries", "ε of the questions"),
        ("epsilon_values", "ε of the values"),
        ("positives", "positive answers up to"),
    ),
    "partition-selection": _loss(
        "which groups are shown", "a group is kept by a truncated geometric law of its size", _EPSILON, _DELTA
    ),
    "randomized-response": _loss("randomized response", "the truth, or now and then another value", _EPSILON),
    "smooth-laplace": _loss("Laplace noise by smooth sensitivity", "scaled to the data at hand", _EPSILON, _DELTA),
    "smooth-cauchy": _loss("Cauchy noise by smooth sensitivity", "scaled to the data at hand", _EPSILON),
    "ladder": _loss("a value on a ladder", "steps of local sensitivities", _EPSILON),
    "pure": _loss("a step that is private by itself", "ε-differential privacy", _EPSILON),
    "approximate": _loss("a step that is private by itself", "(ε, δ)-differential privacy", _EPSILON, _DELTA),
    "concentrated": _loss("a step that is private by itself", "zero-concentrated", ("rho", "ρ")),
    "personalised": _personalised,
    "sensitive": _loss("a release under sensitive privacy", "which is not differential privacy", _EPSILON),
    "shuffled": _loss("local reports in random order", "each private by itself", _EPSILON, _DELTA),
    "shuffled-local": _loss("local reports in random order", "each private by itself", _EPSILON, _REPORTS, _DELTA),
    "shuffled-response": _loss(
        "randomized responses in random order",
        "each the truth, or now and then another value",
        _EPSILON,
        ("categories", "values"),
        _REPORTS,
        _DELTA,
    ),
    "shuffled-unary": _loss(
        "unary reports in random order",
        "each a bit for every value, some of them turned",
        ("own", "P[1 for the own value]"),
        ("other", "P[1 for another value]"),
        _REPORTS,
        _DELTA,
    ),
    "poisson-sampled": _made_of("on a sample of rate {rate}"),
    "truncated-poisson-sampled": _made_of("on a sample of rate {rate}, of {most} at most out of {population}"),
    "fixed-size-sampled": _made_of("on {size} out of {population}"),
    "replaced": _made_of("counted for one who is replaced"),
    "declared": _declared,
    "searched": _made_of("the best of a random number of runs (γ = {stopping}, η = {shape})"),
    "poisson-searched": _made_of("the best of a Poisson number of runs ({mean} on average)"),
    "repeated": _made_of("{count} times"),
    "composed": lambda event: [told for each in event["events"] for told in told_of(each)],
}
"""By the kind that an event has in JSON. Events of query rooms are noises, selections, and those made of them."""


def told_of(event: Plain) -> list[Told]:
    """Say everything that an event ran; numbers of steps are in the steps of the noise's own grid."""
    known = EVENTS.get(event["kind"])
    return _unknown(event) if known is None else known(event)


def _unknown(event: Plain) -> list[Told]:
    """Say what can be said of an event that has no words here: its kind and its own numbers."""
    figures = [f"{name} {value}" for name, value in event.items() if name != "kind" and isinstance(value, str | int)]
    return [Told(str(event["kind"]), "as the ledger's accounting defines it", ", ".join(figures))]

"""What a survey found, as a table whatever was asked: a row for each value, number or word, with its interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sordino.collect.estimate import Estimate
from sordino.errors import ArgumentError
from sordino.serve.kinds.kind import Plain

if TYPE_CHECKING:
    from sordino.collect.surveys import Survey

_CONFIDENCE = 0.95
_WIDTH = 2 * 1.959964  # standard errors of an interval
_MOST_SHOWN = 1000
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


def estimated(survey: Survey, found: Any) -> Plain:
    """Return estimates with their intervals, as JSON can hold them."""
    rows = [
        {"value": name, "estimate": value, "standard_error": error, "low": low, "high": high}
        for name, value, error, low, high in _rows(survey, found)
    ]
    return {"reports": _reports(found), "confidence": _CONFIDENCE, "values": rows}


Row = tuple[str, float, float, float, float]


def _rows(survey: Survey, found: Any) -> Iterator[Row]:
    from sordino.collect.frequencies.heavy_words import HeavyWords
    from sordino.collect.numbers.distribution import Distribution
    from sordino.collect.numbers.estimated import Estimated
    from sordino.collect.numbers.variance import Moments

    match found:
        case Estimate():
            yield from _values(survey, found)
        case HeavyWords():
            yield from _all(found.words, found.estimate)
        case Estimated():
            yield from _all(("mean",), found)
        case Moments():
            yield from _all(("mean",), found.mean)
            yield from _all(("variance",), found.variance)
        case Distribution():
            yield from _all(("mean",), found.mean)
            for share in _SHARES:
                at = found.quantile(share, _CONFIDENCE)
                yield f"{share:.0%} are below", at.value, (at.high - at.low) / _WIDTH, at.low, at.high
        case _:
            raise ArgumentError("a service shows values, numbers and words alone; ask this in Python", "SRD-C714")


def _values(survey: Survey, found: Estimate) -> Iterator[Row]:
    """Yield values in their order, those with the largest estimates if there are very many."""
    names = survey.public().get("values")
    shown = sorted(range(len(found.values)), key=lambda code: -found.values[code])[:_MOST_SHOWN]
    intervals = found.intervals(_CONFIDENCE)
    for code in sorted(shown):
        name = str(code if names is None else names[code])
        low, high = map(float, intervals[code])
        yield name, float(found.values[code]), float(found.standard_errors[code]), low, high


def _all(names: tuple[str, ...], found: Any) -> Iterator[Row]:
    intervals = found.intervals(_CONFIDENCE).reshape(-1, 2)
    for name, value, error, ends in zip(
        names, found.values.ravel(), found.standard_errors.ravel(), intervals, strict=True
    ):
        yield name, float(value), float(error), float(ends[0]), float(ends[1])


def _reports(found: Any) -> int:
    from sordino.collect.numbers.variance import Moments

    if isinstance(found, Moments):
        found = found.variance
    return int(getattr(found, "estimate", found).reports)

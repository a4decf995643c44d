"""sordino's ways to answer, by the names that the cases use."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sordino.collect.choice import WAYS
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.frequencies.hadamard_mean import HadamardCountMeanSketch
from sordino.collect.frequencies.projective import ProjectiveGeometry

SKETCHES: dict[str, Callable[..., Any]] = {
    "count-mean-sketch": CountMeanSketch,
    "hadamard-count-mean-sketch": HadamardCountMeanSketch,
}
MAKERS: dict[str, Callable[..., Any]] = {
    **{way.name: way.make for way in WAYS},
    "projective-geometry": ProjectiveGeometry,
    **SKETCHES,
}


def made(way: str, domain: int, epsilon: float, **options: Any) -> Any:
    """Return a way to answer; a sketch may be given a salt."""
    return MAKERS[way](domain, Fraction(str(epsilon)), **options)

"""Every law on every sketch, on points, words and memoised answers."""

from __future__ import annotations

import pytest

from laws.cases_sketches import HELD, OTHER, SKETCHES
from sordino.collect.fingerprint import cell, key
from sordino.mechanisms.checks import CHECKS, Case

SLOW = {"audit", "power", "order"}


@pytest.mark.parametrize("law", [pytest.param(law, marks=[pytest.mark.slow] * (law in SLOW)) for law in CHECKS])
@pytest.mark.parametrize("case", SKETCHES, ids=lambda case: case.name)
def test_check(case: Case, law: str) -> None:
    CHECKS[law](case)


def test_the_two_values_have_different_cells() -> None:
    for case in SKETCHES:
        way = case.mechanism.way
        cells = getattr(way, "width", None) or getattr(way, "bits", None) or getattr(way, "cells", 13)
        assert cell(HELD, key(0, 0), cells) != cell(OTHER, key(0, 0), cells), case.name

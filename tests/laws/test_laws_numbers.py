"""The laws on ways to answer with a number."""

from __future__ import annotations

import pytest

from laws.cases_numbers import NUMBERS
from sordino.mechanisms.checks import CHECKS, Case

SLOW = {"audit", "power", "order"}


@pytest.mark.parametrize("law", [pytest.param(law, marks=[pytest.mark.slow] * (law in SLOW)) for law in CHECKS])
@pytest.mark.parametrize("case", NUMBERS, ids=lambda case: case.name)
def test_check(case: Case, law: str) -> None:
    CHECKS[law](case)

"""Every law on every way to answer, as if it were a mechanism: prices, power, silence and audit."""

from __future__ import annotations

import pytest

from laws.cases_frequency import FREQUENCIES
from sordino.mechanisms.checks import CHECKS, Case

SLOW = {"audit", "power", "order"}


@pytest.mark.parametrize("law", [pytest.param(law, marks=[pytest.mark.slow] * (law in SLOW)) for law in CHECKS])
@pytest.mark.parametrize("case", FREQUENCIES, ids=lambda case: case.name)
def test_check(case: Case, law: str) -> None:
    CHECKS[law](case)

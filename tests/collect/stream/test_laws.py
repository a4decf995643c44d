"""A whole stream before the laws that every mechanism keeps: its price, its power, an audit of what leaves."""

from __future__ import annotations

import pytest

from laws.cases_streams import STREAMS
from sordino.mechanisms.checks import CHECKS, Case

SLOW = {"audit", "power", "order"}


@pytest.mark.parametrize("law", [pytest.param(law, marks=[pytest.mark.slow] * (law in SLOW)) for law in CHECKS])
@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.name)
def test_check(case: Case, law: str) -> None:
    CHECKS[law](case)

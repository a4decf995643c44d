"""The laws of draws on every mechanism once more, with ten times as many draws: `make test-long` and `make audit`."""

from __future__ import annotations

import dataclasses

import pytest

from laws.cases import CASES
from sordino.mechanisms.checks import CHECKS, Case

pytestmark = pytest.mark.long


@pytest.mark.parametrize("law", ["power", "audit"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_law_of_draws(case: Case, law: str) -> None:
    CHECKS[law](dataclasses.replace(case, draws=10 * case.draws))

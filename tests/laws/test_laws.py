"""Every law on every mechanism of the house."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import sordino.mechanisms
from laws.cases import CASES
from sordino.accounting.events import Pure
from sordino.accounting.grant import Grant
from sordino.errors import GrantError, SordinoError
from sordino.mechanisms.checks import CHECKS, Case
from sordino.noise.keystream import Keystream

SLOW = {"audit", "power", "order"}
"""Two draw, and one asks every accountant: as often as there are mechanisms, of which many share an event."""


@pytest.mark.parametrize("law", [pytest.param(law, marks=[pytest.mark.slow] * (law in SLOW)) for law in CHECKS])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_check(case: Case, law: str) -> None:
    CHECKS[law](case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_refused_release_draws_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, used, foreign = case.mechanism, case.grant(), Grant(Pure(1), case.bound)
    mechanism.release(case.value, used)

    def drawn(*_: Any) -> None:
        pytest.fail("something was drawn")

    monkeypatch.setattr(Keystream, "word", drawn)
    monkeypatch.setattr(Keystream, "words", drawn)
    for grant in (used, foreign):
        with pytest.raises(GrantError):
            mechanism.release(case.value, grant)
    with pytest.raises(SordinoError):
        mechanism.release({"no": "data"}, case.grant())


def test_no_mechanism_is_left_out() -> None:
    public = (getattr(sordino.mechanisms, name) for name in sordino.mechanisms.__all__)
    mechanisms = {kind for kind in public if dataclasses.is_dataclass(kind) and hasattr(kind, "release")}
    assert mechanisms == {type(case.mechanism) for case in CASES}


def test_names_are_told_apart() -> None:
    assert len({case.name for case in CASES}) == len(CASES)

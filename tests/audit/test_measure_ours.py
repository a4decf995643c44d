"""No mechanism of the house is accused: every case of the laws, once with few draws, at length a thousand times."""

from __future__ import annotations

from functools import cache

import pytest

from laws.cases import CASES
from sordino.audit import measure
from sordino.audit.claim import Claim
from sordino.audit.subject import Subject, of
from sordino.errors import SordinoError
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.checks.draws import claim as promised_by

AUDITS = 1_000


BY_NAME = {case.name: case for case in CASES}


@cache
def subject(name: str) -> Subject:
    """The case with the claim that its laws are judged by, and what it releases in full rather than by its label."""
    case = BY_NAME[name]
    epsilon, delta = promised_by(case) or (None, None)
    claim = Claim.pure(case.claim) if case.claim is not None else Claim.approximate(epsilon, delta)  # type: ignore[arg-type]
    return of(case, claim=claim)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_not_accused(case: Case) -> None:
    found = measure(subject(case.name), draws=600)
    assert not found.refuted, str(found)
    assert found.draws == 600


@pytest.mark.long
def test_none_of_a_thousand_audits_accuses() -> None:
    each = -(-AUDITS // len(CASES))
    accused = [
        str(found) for name in BY_NAME for _ in range(each) if (found := measure(subject(name), draws=1_000)).refuted
    ]
    assert each * len(CASES) >= AUDITS
    assert not accused


def test_a_mechanism_without_known_inputs_says_what_it_needs() -> None:
    mechanism = next(case.mechanism for case in CASES if case.name == "personalised-median")
    with pytest.raises(SordinoError, match=r"give bound=… and pairs=.*SRD-V001"):
        of(mechanism)

"""Services that break their promise are caught from outside; one that keeps it is not accused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audit.broken_services import (
    TOKEN,
    BareSums,
    ChargesAfter,
    ChargesByData,
    ForgetsKeys,
    Honest,
    InfersBounds,
    LeaksKeys,
    LowThreshold,
    OpenDoor,
    Refunds,
    TakesAnyText,
    TellsTheSize,
    TellsValues,
    TooLittleNoise,
    WidthsOfData,
    neighbours,
)
from audit.service_places import CANARIES
from sordino.audit.probing.finding import ServiceAudit
from sordino.audit.probing.service import PROBES, service
from sordino.errors import ArgumentError

pytestmark = pytest.mark.service

SPECIMENS: dict[type[Honest], tuple[tuple[str, ...], str]] = {
    LeaksKeys: (("oracle",), "a group depends on one person"),
    InfersBounds: (("oracle",), "columns in the body depends on one person"),
    ChargesAfter: (("overspending",), "more is granted than is left"),
    Refunds: (("oracle",), "failed after it was priced, and not charged"),
    TellsValues: (("oracle",), "a value of the data comes back"),
    BareSums: (("oracle",), "numbers in column 1 depends on one person"),
    WidthsOfData: (("oracle",), "widths in column 1 depends on one person"),
    ForgetsKeys: (("replaying",), "a replay is charged"),
    OpenDoor: (("authorization",), "somebody unknown may ask"),
    ChargesByData: (("oracle",), "a balance depends on one person"),
    TellsTheSize: (("oracle",), "notes of the answer depends on one person"),
    TakesAnyText: (("refusing",), "what must be refused gets through"),
}
"""For each mistake: the probe that is enough to find it, and what it is called."""


def audited(kind: type[Honest], seed: int, cap: float = 100.0, **words: Any) -> ServiceAudit:
    with neighbours(kind, cap, seed) as (with_, without):
        return service(
            with_, without, token=TOKEN, canaries=CANARIES, seed=seed, **{"questions": 0, "seconds": 900.0, **words}
        )


def names(found: ServiceAudit) -> set[str]:
    return {each.name for each in found.findings}


@pytest.mark.parametrize("kind", SPECIMENS, ids=lambda kind: kind.__name__)
def test_mistakes_are_found(kind: type[Honest]) -> None:
    only, name = SPECIMENS[kind]
    found = audited(kind, 0, only=only)
    assert name in names(found), str(found)
    assert (found.refuted, found.verdict) == (True, "refuted")
    (finding,) = [each for each in found.findings if each.name == name]
    assert any("/api/v1/" in step for step in finding.reproduce)


def test_values_with_too_little_noise_are_refuted_and_others_are_not() -> None:
    found = audited(TooLittleNoise, 0, cap=2000, only=("values",), draws=300)
    assert names(found) == {"more is lost than is claimed"}
    assert found.measured is not None
    assert found.measured.refuted
    honest = audited(Honest, 0, cap=2000, only=("values",), draws=200)
    assert (names(honest), honest.measured is not None and honest.measured.refuted) == (set(), False)


def test_who_keeps_the_promise_is_not_accused() -> None:
    found = audited(Honest, 0, questions=10)
    assert not found.findings, str(found)
    assert (found.refuted, found.verdict) == (False, "not refuted")
    assert found.answered >= 4
    checks = {each.probe: each.checks for each in found.probes}
    assert checks["tampering"] == 0
    assert checks["refusing"] > 100
    assert checks["canaries"] > 500
    assert "tampering: not run: the service shows no checkpoint" in str(found)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [*SPECIMENS, LowThreshold], ids=lambda kind: kind.__name__)
def test_mistakes_are_found_whatever_the_seed_and_without_being_told_where(kind: type[Honest], seed: int) -> None:
    found = audited(kind, seed, cap=1000, questions=10)
    name = SPECIMENS[kind][1] if kind in SPECIMENS else "a group depends on one person"
    assert name in names(found), str(found)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_too_little_noise_is_found_whatever_the_seed(seed: int) -> None:
    found = audited(TooLittleNoise, seed, cap=10_000, questions=0, draws=400)
    assert names(found) == {"more is lost than is claimed"}, str(found)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_who_keeps_the_promise_is_not_accused_whatever_the_seed(seed: int) -> None:
    found = audited(Honest, seed, cap=10_000, questions=30, draws=200, timings=0)
    assert not found.findings, str(found)


# ---- what is told ---------------------------------------------------------------------------------------------------


def test_an_audit_tells_no_value_of_the_data() -> None:
    found = audited(TellsValues, 0, only=("oracle",))
    told = json.dumps(found.to_json()) + str(found) + repr(found.findings)
    assert found.findings
    for canary in CANARIES:
        assert str(canary) not in told
    assert TOKEN not in told


def test_progress_goes_on_to_the_end() -> None:
    told: list[float] = []
    found = audited(Honest, 0, only=("oracle", "replaying"), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert [each.probe for each in found.probes] == ["neighbour oracle", "charging", "replaying", "canaries"]


def test_the_same_seed_asks_the_same() -> None:
    first, second = (audited(Honest, 3, only=("oracle",), questions=5) for _ in range(2))
    assert (first.questions, first.answered) == (second.questions, second.answered)


def test_time_is_compared_when_asked() -> None:
    found = audited(Honest, 0, only=("time",), timings=20)
    assert [(each.probe, each.checks) for each in found.probes] == [("time", 1), ("canaries", found.probes[1].checks)]
    assert not found.findings


# ---- arguments ------------------------------------------------------------------------------------------------------


def test_arguments() -> None:
    with neighbours(Honest) as (with_, without):
        for wrong in (
            {"only": ("everything",)},
            {"epsilon": "0"},
            {"questions": -1},
            {"draws": 20},
            {"dataset": "trips"},
            {"canaries": ("short",)},
        ):
            with pytest.raises(ArgumentError):
                service(with_, without, **{"token": TOKEN, **wrong})  # type: ignore[arg-type]


def test_services_that_do_not_begin_alike_are_refused() -> None:
    with neighbours(Honest) as (with_, without):
        service(with_, with_, token=TOKEN, only=("replaying",))
        with pytest.raises(ArgumentError, match="start both afresh"):
            service(with_, without, token=TOKEN)


def test_who_does_not_answer_is_told() -> None:
    with neighbours(Honest) as (with_, without):
        pass
    from sordino.audit.probing.line import SilentServiceError

    with pytest.raises(SilentServiceError, match="does not answer"):
        service(with_, without, token=TOKEN)
    with neighbours(Honest) as (with_, without), pytest.raises(SilentServiceError, match="lists no data sets"):
        service(with_, without, token="another")  # noqa: S106
    assert PROBES[-1] == "overspending"

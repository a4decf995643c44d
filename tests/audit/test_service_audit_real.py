"""A real sordino, with and without one person, as processes on loopback: every probe, and nothing is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.service_places import Pair, pair_of_services
from sordino.audit.dice import dice
from sordino.audit.probing.finding import ServiceAudit
from sordino.audit.probing.line import Line
from sordino.audit.probing.oracle import Oracle
from sordino.audit.probing.questions import Grammar
from sordino.audit.probing.service import PROBES, service

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    budget = {"epsilon": 900, "delta": "1e-4"}
    with pair_of_services(tmp_path_factory.mktemp("real"), budget) as found:
        yield found


def audited(pair: Pair, **words: object) -> ServiceAudit:
    return service(pair.with_, pair.without, **{**pair.words(), **words})  # type: ignore[arg-type]


def checked(found: ServiceAudit) -> dict[str, int]:
    return {each.probe: each.checks for each in found.probes}


def test_nothing_is_found_in_a_sordino(pair: Pair) -> None:
    compared = audited(pair, only=("oracle",), questions=2, seconds=900.0, seed=1)
    assert not compared.findings, str(compared)
    assert compared.answered >= 8
    assert checked(compared)["charging"] >= 20
    probed = audited(pair, only=PROBES[3:])  # the others would end with budgets that differ
    assert not probed.findings, str(probed)
    checks = checked(probed)
    assert checks["replaying"] == 6
    assert checks["tampering"] >= 15
    assert checks["refusing"] >= 150
    assert checks["authorization"] >= 60
    assert checks["overspending"] >= 4
    assert checks["canaries"] > 500
    assert not [each.probe for each in probed.probes if each.skipped]


@pytest.mark.long
def test_no_question_that_hypothesis_finds_tells_the_two_apart(tmp_path: Path) -> None:
    with (
        pair_of_services(tmp_path, {"epsilon": 5000, "delta": "1e-4"}) as pair,
        Line(pair.with_, pair.tokens.token) as here,
        Line(pair.without, pair.token_without) as there,
    ):
        described = here.get("/datasets/rides").body

        @given(st.integers(0, 2**63))
        @settings(max_examples=300, deadline=None)
        def asked(seed: int) -> None:
            oracle = Oracle(here, there, "rides", "0.05")
            question = Grammar(described, dice(seed)).next()
            oracle.ask(question)
            assert not [each for probed in oracle.probed() for each in probed.findings], question.sql

        asked()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_found_in_a_sordino_at_length(tmp_path: Path, seed: int) -> None:
    budget = [{"epsilon": 900}, {"epsilon": 900, "delta": "1e-4"}][seed % 2]
    with pair_of_services(tmp_path, budget) as pair:
        found = audited(pair, questions=40, seconds=900.0, draws=200, seed=seed)
        assert not found.findings, str(found)
        assert found.answered >= 20
        assert found.measured is not None

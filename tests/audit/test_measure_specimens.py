"""Every wrong mechanism is caught, with the draws that it took; its honest twin is not accused."""

from __future__ import annotations

import pytest

from audit.specimens import CLASSIC_GAUSSIAN, FOUR_FIFTHS_NOISE, SPARSE_VECTOR, SPECIMENS, Specimen
from sordino.audit import measure

QUICK = [specimen for specimen in SPECIMENS if specimen not in (CLASSIC_GAUSSIAN, FOUR_FIFTHS_NOISE)]


def named(specimen: Specimen) -> str:
    return specimen.subject.name


@pytest.mark.parametrize("specimen", QUICK, ids=named)
def test_caught(specimen: Specimen) -> None:
    found = measure(specimen.subject, draws=specimen.draws, seed=1)
    assert found.refuted
    assert found.draws_to_refute is not None
    assert found.draws_to_refute < found.draws <= specimen.draws
    assert found.claim is not None
    assert found.claim.epsilon_at(found.delta) < found.epsilon <= specimen.true_epsilon
    assert found.witness is not None
    again = found.witness.reproduce(specimen.subject.release, 20_000, seed=7)
    assert found.claim.epsilon_at(found.delta) < again.epsilon <= specimen.true_epsilon


@pytest.mark.parametrize("specimen", [s for s in QUICK if s is not SPARSE_VECTOR], ids=named)
def test_the_honest_twin_is_not_accused(specimen: Specimen) -> None:
    found = measure(specimen.honest, draws=20_000, seed=1)
    assert not found.refuted
    assert found.claim is not None
    assert 0.6 < found.epsilon <= found.claim.epsilon_at(found.delta)


def test_the_honest_sparse_vector_is_not_accused() -> None:
    assert not measure(SPARSE_VECTOR.honest, draws=8_000, seed=1).refuted


@pytest.mark.long
@pytest.mark.parametrize("specimen", SPECIMENS, ids=named)
def test_caught_twenty_times_of_twenty(specimen: Specimen, capsys: pytest.CaptureFixture[str]) -> None:
    found = [measure(specimen.subject, draws=specimen.draws, seed=seed) for seed in range(20)]
    draws = sorted(one.draws_to_refute or 0 for one in found)
    with capsys.disabled():
        print(f"\n{named(specimen)}: {draws[0]:,} – {draws[10]:,} – {draws[-1]:,} draws (least, median, most)")  # noqa: T201
    assert all(one.refuted for one in found)
    assert all(one.epsilon <= specimen.true_epsilon * 1.001 for one in found)


@pytest.mark.long
@pytest.mark.parametrize("specimen", SPECIMENS, ids=named)
def test_honest_twins_are_not_accused_at_length(specimen: Specimen) -> None:
    assert not any(measure(specimen.honest, draws=100_000, seed=seed).refuted for seed in range(5))

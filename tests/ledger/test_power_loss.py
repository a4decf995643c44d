"""A power loss at any moment, with any part of what was not synced: whatever had been answered is there."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from ledger.powerloss import ANSWERS, SYNC, Step, after_a_power_loss, answered, recorded
from sordino.errors import LedgerError
from sordino.ledger.entries import Reserved, Settled
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import store_at
from sordino.ledger.verify import verify_store

DATABASE = "ledger.db"
FROZEN_BY_ITS_WITNESS = {"SRD-L063", "SRD-L068"}
"""A witness whose last lines were not synced may come back damaged or empty; then nothing is answered."""


AT_RISK = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}.witness")
FROM_THE_START = (f"{DATABASE}.key", f"{DATABASE}.pub")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a careful ledger worked."""
    return tmp_path_factory.mktemp("full")


@pytest.fixture(scope="module")
def steps(made: Path) -> list[Step]:
    return recorded(made, sync="FULL")


def moments(steps: list[Step]) -> range:
    """Return how many steps may have been taken: from the first answer on."""
    return range(next(place for place, step in enumerate(steps) if step.name == ANSWERS), len(steps) + 1)


def lost(steps: list[Step], made: Path, directory: Path, chance: random.Random) -> set[str]:
    """Return which answers a ledger no longer knows after a power loss; judge it in all other ways as well."""
    directory.mkdir()
    left = after_a_power_loss(steps, chance)
    for name in AT_RISK:
        (directory / name).write_bytes(left[name])
    for name in FROM_THE_START:
        shutil.copy(made / "disk" / name, directory / name)
    store = store_at(directory / DATABASE)
    try:
        key = VerifyingKey.parse((directory / f"{DATABASE}.pub").read_text().rstrip("\n"))
        report = verify_store(store, key)
        assert report.sound, str(report)
    finally:
        store.close()
    with Ledger.open(directory / DATABASE) as ledger:
        if ledger.frozen is not None:
            assert ledger.frozen.code in FROZEN_BY_ITS_WITNESS, str(ledger.frozen)
        known = {
            f"{entry.kind} {entry.id}"
            for entry in ledger.entries(0, report.size)
            if isinstance(entry, Reserved | Settled)
        }
    return answered(steps) - known


def losses(steps: list[Step], made: Path, directory: Path, rounds: int) -> Counter[str]:
    """Return what became of so many power losses."""
    chance, found = random.Random(7), Counter[str]()  # noqa: S311  (the same every time)
    for number in range(rounds):
        moment = chance.choice(moments(steps))
        try:
            gone = lost(steps[:moment], made, directory / str(number), chance)
            found["lost" if gone else "kept"] += 1
        except (LedgerError, AssertionError) as error:
            found[f"broken: {error!s:.200}"] += 1
    return found


def test_the_record_has_what_it_must_have(steps: list[Step]) -> None:
    synced = {step.name for step in steps if step.operation == SYNC}
    assert set(AT_RISK) <= synced
    assert len(answered(steps)) == 72


def test_whatever_was_answered_is_there_after_a_power_loss(steps: list[Step], made: Path, tmp_path: Path) -> None:
    assert losses(steps, made, tmp_path, 60) == {"kept": 60}


@pytest.mark.long
def test_whatever_was_answered_is_there_after_2000_power_losses(steps: list[Step], made: Path, tmp_path: Path) -> None:
    assert losses(steps, made, tmp_path, 2000) == {"kept": 2000}


def test_a_ledger_that_does_not_sync_loses_answers(tmp_path: Path) -> None:
    careless = recorded(tmp_path, sync="OFF")
    found = losses(careless, tmp_path, tmp_path, 30)
    assert found["kept"] < 20, "this test could not fail"

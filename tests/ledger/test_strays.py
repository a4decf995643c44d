"""Rows that belong to no entry change nothing that was signed, and would stop the ledger later: verify sees them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.samples import TRIPS, files, reserved, rule
from ledger.tampering import tamper
from sordino.ledger.ledger import Ledger

HASH = bytes(32)


@pytest.fixture
def ledger(place: str, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(place, **files(place, tmp_path)) as found:
        found.open_scope(TRIPS, rule(), by="owner")
        found.settle(reserved(found), b"42")
        yield found


@pytest.mark.parametrize(
    ("statement", "values", "code"),
    [
        ("INSERT INTO ledger_tiles (level, place, hash) VALUES (?, ?, ?)", (1, 0, HASH), "SRD-L073"),
        ("INSERT INTO ledger_tiles (level, place, hash) VALUES (?, ?, ?)", (2, 7, HASH), "SRD-L073"),
        ("INSERT INTO ledger_tiles (level, place, hash) VALUES (?, ?, ?)", (1, -1, HASH), "SRD-L073"),
        ("INSERT INTO ledger_releases (id, settled, body) VALUES (?, ?, ?)", ("9-" + "a" * 16, 9, b"x"), "SRD-L072"),
        ("INSERT INTO ledger_releases (id, settled, body) VALUES (?, ?, ?)", ("9-" + "a" * 16, -1, b"x"), "SRD-L072"),
        ("INSERT INTO ledger_entries (position, body) VALUES (?, ?)", (-1, b"x"), "SRD-L064"),
    ],
)
def test_verify_finds_rows_of_no_entry(
    ledger: Ledger, place: str, statement: str, values: tuple[object, ...], code: str
) -> None:
    assert ledger.verify().sound
    tamper(place, statement, *values)
    report = ledger.verify()
    assert [problem.code for problem in report.problems] == [code]
    assert ledger.frozen is not None

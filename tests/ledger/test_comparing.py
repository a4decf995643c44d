"""Two people compare what they hold: forks are told, and nothing is said that the key has not signed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.samples import TRIPS, reserved, rule
from sordino.accounting.budget import budget
from sordino.errors import LedgerError
from sordino.ledger.comparing import Held, _on_the_way, compare
from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.tree import inclusion_proof, leaf_hashes, root_of
from sordino.ledger.witness import NoWitness

KEY = SigningKey.generate("example.org/ledger")


class Shown:
    """What one ledger shows to those who ask it, at one size after the other."""

    def __init__(self, place: Path, until: int) -> None:
        self.notes: dict[int, str] = {}
        self.receipts: dict[int, str] = {}
        self.proofs: dict[tuple[int, int], tuple[bytes, ...]] = {}
        with Ledger.open(place, key=KEY, witness=NoWitness("a test")) as ledger:
            if not ledger.size:
                ledger.open_scope(TRIPS, rule(budget(epsilon=1000)), by="owner")
            while ledger.size < until:
                receipt = ledger.settle(reserved(ledger), b"42")
                self.notes[ledger.size], self.receipts[ledger.size] = ledger.checkpoint(), receipt.to_json()
            self.proofs = {
                (old, new): ledger.consistency(old, new) for new in self.notes for old in self.notes if old <= new
            }


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shown, Shown]:
    """A ledger of 20 entries, and one that went another way after the first five."""
    home = tmp_path_factory.mktemp("fork")
    Shown(home / "one.db", 5)
    shutil.copy(home / "one.db", home / "two.db")
    return Shown(home / "one.db", 20), Shown(home / "two.db", 20)


def held(text: str) -> Held:
    return Held.read(text, KEY.verifier)


def test_one_history_is_never_called_a_fork(shown: tuple[Shown, Shown]) -> None:
    one, _ = shown
    decided = 0
    everything = [*one.notes.values(), *one.receipts.values()]
    for first in everything:
        for second in everything:
            a, b = held(first), held(second)
            found = compare(a, b).verdict
            assert found in ("same", "extends", "undecided")
            decided += found != "undecided"
            old, new = sorted((a.checkpoint.size, b.checkpoint.size))
            assert compare(a, b, one.proofs[old, new]).verdict == ("same" if old == new else "extends")
    assert decided > 3 * len(everything)


def test_forks_are_told(shown: tuple[Shown, Shown]) -> None:
    one, two = shown
    told = 0
    for size, first in [*one.notes.items(), *one.receipts.items()]:
        for other, second in [*two.notes.items(), *two.receipts.items()]:
            found = compare(held(first), held(second)).verdict
            assert found in ("fork", "undecided")
            told += found == "fork"
            assert size != other or found == "fork"
    receipts = [compare(held(a), held(b)).verdict for a in one.receipts.values() for b in two.receipts.values()]
    assert receipts.count("fork") > len(receipts) / 2


def test_a_ledger_at_hand_decides(shown: tuple[Shown, Shown]) -> None:
    one, two = shown
    roots = {size: held(note).checkpoint.root for size, note in one.notes.items()}
    first, last, other = held(one.notes[7]), held(one.notes[19]), held(two.notes[7])
    assert compare(first, last).verdict == "undecided"
    assert compare(first, last, root_at=roots.get).verdict == "extends"
    assert compare(other, last).verdict == "undecided"
    assert compare(other, last, root_at=roots.get).verdict == "fork"
    assert compare(other, last, root_at=lambda _: None).verdict == "undecided"
    assert "does not show it" in compare(other, last, one.proofs[7, 19]).reason


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 13, 16])
def test_the_parts_that_a_proof_shows_are_those_of_the_tree(size: int) -> None:
    data = [b'{"code":"a","kind":"frozen","sequence":%d,"time":0,"v":1}' % number for number in range(size)]
    hashes = leaf_hashes(data)
    for index in range(size):
        proof = inclusion_proof(index, size, lambda start, end: root_of(hashes[start:end]))
        parts = dict(_on_the_way(data[index], proof, size))
        assert parts[index, index + 1] == hashes[index]
        assert all(root_of(hashes[start:end]) == found for (start, end), found in parts.items())


def test_what_the_key_did_not_sign_is_compared_with_nothing(shown: tuple[Shown, Shown]) -> None:
    one, _ = shown
    other = SigningKey.generate("example.org/ledger").verifier
    for text in (one.notes[7], one.receipts[7], "{}", ""):
        with pytest.raises(LedgerError):
            Held.read(text, other)
    another = VerifyingKey("example.com/ledger", KEY.verifier.public)
    with pytest.raises(LedgerError, match="SRD-L006"):
        Held.read(one.notes[7].replace("example.org", "example.com"), another)
    elsewhere = Held(replace(held(one.notes[7]).checkpoint, origin="example.com/ledger"), {})
    with pytest.raises(LedgerError, match="SRD-L007"):
        compare(elsewhere, held(one.notes[9]))

"""Entries: one spelling each, nothing unknown taken, and the quick way of reading agrees with the slow one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.books import ADA, NOON, PEOPLE, TRIPS, digest, rule
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.events import Gaussian, Laplace
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.units import SATURATED
from sordino.errors import ArgumentError, LedgerError
from sordino.ledger import entries
from sordino.ledger.canonical import encode
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.continuing import Joint
from sordino.ledger.entries import (
    KINDS,
    Budgeted,
    Charge,
    Checkpointed,
    Continued,
    Entry,
    Failed,
    Frozen,
    Opened,
    Part,
    Refreshed,
    Reserved,
    Restored,
    Settled,
    from_bytes,
    norms_text,
    position_of,
    spelled,
    to_bytes,
)
from sordino.ledger.keys import SigningKey
from sordino.ledger.manifest import Listed
from sordino.ledger.periods import LATEST
from sordino.ledger.quick import read_quickly
from sordino.ledger.scope import Scope

OLD, NEW = (SigningKey(name, bytes([7]) * 32) for name in ("example.org/ledger", "example.org/ledger/restored-1"))


def continued(position: int, **changes: Any) -> Continued:
    """Return the entry of a ledger that goes on from a copy of so many entries."""
    root = hashlib.sha256(b"root").digest()
    key = SigningKey(NEW.name, bytes([8]) * 32)
    said = {
        "previous": OLD.verifier.text,
        "key": key.verifier.text,
        "lost": Checkpoint(OLD.name, 20, root).sign(OLD),
        "handover": Joint(OLD, key.verifier, root, None).handover(position),
    }
    restored = (position, LATEST, position, 20, "olga", "the disk broke", ((TRIPS, (0, 7)),))
    return Continued(*restored, **(said | changes))


RESERVED = Reserved(
    7,
    NOON,
    id="7-00ff00ff00ff00ff",
    charges=(Charge(ADA, (), (0, 5)), Charge(TRIPS, ("2026-11-03", "2026-11-04"), (0, 1, SATURATED))),
    event=Laplace(scale=Fraction(10)).to_json(),
    unit="person",
    neighbours="add-remove",
    norms="1 1 1 1",
    analyst="ada",
    project=None,
    what="query",
    plan=digest("plan"),
    key=digest("key"),
    request=digest("request"),
)
SETTLED = Settled(8, NOON, RESERVED.id, digest("release"))
SAMPLES: tuple[Entry, ...] = (
    Opened(0, 0, TRIPS, rule(Budget(epsilon=1, delta=Fraction(1, 10**6)), groups=("people",)), "olga"),
    Opened(
        1,
        0,
        Scope("dataset", "Züge"),
        rule(blocks="unit-per-block", unit="(person, day)"),
        'o"\\l\x7fga'.replace("\x7f", ""),
    ),
    Budgeted(2, 5, TRIPS, Budget(epsilon=2), (0, 2 * 10**12), "olga", "a survey\nof two lines"),
    RESERVED,
    replace(RESERVED, key=None, project='a "b"\\', analyst="Žofie", charges=(Charge(TRIPS, (), (1, 2)),)),
    SETTLED,
    Failed(9, NOON, RESERVED.id, "SRD-R001"),
    Refreshed(10, NOON, ADA, 682),
    Checkpointed(11, NOON, "sordino\n12\nAAAA\n\n— key AAAA\n"),
    Frozen(12, NOON, "SRD-L061"),
    Restored(13, LATEST, 13, 20, "olga", "the disk broke", ((ADA, (0, 1)), (TRIPS, (0, SATURATED)))),
    Part(9, NOON, RESERVED.id, 3, digest("part")),
    Part(9, NOON, RESERVED.id, 1, digest("part"), (Listed("weights.bin", digest("w"), 7),)),
    Settled(
        9, NOON, RESERVED.id, digest("release"), (Listed("a", digest("w"), 0), Listed("b.txt", digest("v"), 2**40))
    ),
    replace(RESERVED, parts=12),
    continued(13),
)


def slowly(data: bytes) -> Entry:
    """Read as JSON, whatever the kind."""
    body = json.loads(data)
    return KINDS[body["kind"]].read(body)


def test_every_kind_has_a_sample() -> None:
    assert {type(sample) for sample in SAMPLES} == set(KINDS.values())


@pytest.mark.parametrize("entry", SAMPLES, ids=lambda entry: entry.kind)
def test_entries_come_back_from_their_bytes(entry: Entry) -> None:
    data = to_bytes(entry)
    assert from_bytes(data) == entry == slowly(data)
    assert to_bytes(from_bytes(data)) == data
    assert hash(entry) is not None
    assert json.loads(data)["v"] == 1
    assert data == spelled(entry)


@given(*[st.text(min_size=1, max_size=20)] * 4, st.lists(st.integers(0, SATURATED), min_size=2, max_size=4))
@settings(deadline=None, max_examples=200)
def test_the_quick_way_to_write_is_the_plain_one(
    analyst: str, project: str, event: str, name: str, amount: list[int]
) -> None:
    def build() -> Reserved:
        charges = (Charge(Scope("dataset", name), (), tuple(amount)),)
        return replace(RESERVED, analyst=analyst, project=project, event=event, charges=charges)

    def outcome(write: Callable[[Reserved], bytes]) -> bytes | str:
        try:
            return write(build())
        except ArgumentError as error:
            return error.code

    assert outcome(to_bytes) == outcome(spelled)


@pytest.mark.parametrize("entry", SAMPLES, ids=lambda entry: entry.kind)
def test_every_field_is_needed_known_and_typed(entry: Entry) -> None:
    body = json.loads(to_bytes(entry))
    with pytest.raises(LedgerError, match="fields"):
        from_bytes(encode(body | {"extra": None}))
    for name in body:
        changed: list[dict[str, Any]] = [{key: value for key, value in body.items() if key != name}]
        changed += [
            body | {name: value} for value in (True, -1, {}, [], [["x"]], "\x00", 2**53 - 1) if value != body[name]
        ]
        for each in changed:
            read = taken(encode(each))
            if read is not None:  # another value of the right type is another entry, and only that
                assert to_bytes(read) == encode(each)
                assert read != entry
                assert type(each[name]) is type(body[name])


def taken(data: bytes) -> Entry | None:
    """Return the entry that `data` spells, or None if it is refused as no entry."""
    try:
        return from_bytes(data)
    except LedgerError as error:
        if error.code != "SRD-L020":
            raise
        return None


@pytest.mark.parametrize("entry", SAMPLES, ids=lambda entry: entry.kind)
def test_other_spellings_of_the_same_are_refused(entry: Entry) -> None:
    data = to_bytes(entry)
    spelled = [
        json.dumps(json.loads(data), ensure_ascii=False, sort_keys=True).encode(),
        data + b" ",
        b"\xef\xbb\xbf" + data,
        data.replace(b'"v":1', b'"v":1.0'),
        data.replace(b'"v":1', b'"v":2'),
        data.replace(b'"v":1', b'"v":1,"v":1'),
        data.replace(b'"sequence":', b'"sequence":0'),
        data.replace(b'"kind"', b'"\\u006bind"'),
        data.decode().encode("utf-16-le"),
        data[:-1],
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"kind":["reserved"]}',
        b'{"kind":"unknown"}',
    ]
    for each in spelled:
        assert each != data
        with pytest.raises(LedgerError) as caught:
            from_bytes(each)
        assert caught.value.code == "SRD-L020"


@pytest.mark.parametrize("entry", [RESERVED, SETTLED, *SAMPLES[3:6]], ids=lambda entry: entry.kind)
def test_every_single_byte_that_is_taken_stands_for_another_entry(entry: Entry) -> None:
    data = to_bytes(entry)
    others = 0
    for place in range(len(data)):
        for byte in (data[place] ^ 1, ord('"'), ord("\\"), ord("0"), ord(" "), 0, 0xC3):
            altered = data[:place] + bytes([byte]) + data[place + 1 :]
            if altered == data:
                continue
            read = taken(altered)
            if read is None:
                continue
            others += 1
            assert read != entry
            assert to_bytes(read) == altered
            assert slowly(altered) == read
    assert others > 20


def test_the_quick_way_is_taken_for_what_is_usual() -> None:
    assert read_quickly(to_bytes(RESERVED)) == RESERVED
    assert read_quickly(to_bytes(SETTLED)) == SETTLED
    assert read_quickly(to_bytes(SAMPLES[0])) is None


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
DIGESTS = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")


@given(
    sequence=st.integers(0, 2**53 - 1),
    time=st.integers(0, LATEST),
    token=st.integers(0, 2**64 - 1),
    names=st.tuples(TEXTS, TEXTS, st.none() | TEXTS, TEXTS),
    event=TEXTS,
    digests=st.tuples(DIGESTS, DIGESTS, st.none() | DIGESTS),
    charges=st.dictionaries(
        TEXTS,
        st.tuples(
            st.sets(st.dates().map(str), max_size=3), st.lists(st.integers(0, SATURATED), min_size=1, max_size=4)
        ),
        min_size=1,
        max_size=3,
    ),
    neighbours=st.sampled_from(Neighbours),
    sizes=st.tuples(st.integers(0, 99), st.fractions(0), st.fractions(0), st.fractions(0)),
)
@settings(deadline=None, max_examples=300)
def test_whatever_can_be_built_comes_back(
    sequence: int,
    time: int,
    token: int,
    names: tuple[str, str, str | None, str],
    event: str,
    digests: tuple[str, str, str | None],
    charges: dict[str, tuple[set[str], list[int]]],
    neighbours: Neighbours,
    sizes: tuple[int, Fraction, Fraction, Fraction],
) -> None:
    unit, analyst, project, dataset = names
    plan, request, key = digests
    try:
        paid = {
            f"dataset:{name}": Charge(Scope("dataset", name), tuple(sorted(days)), tuple(amount))
            for name, (days, amount) in {dataset: (set(), [1]), **charges}.items()
        }
        entry = Reserved(
            sequence,
            time,
            id=f"{sequence}-{token:016x}",
            charges=tuple(paid[text] for text in sorted(paid)),
            event=event,
            unit=unit,
            neighbours=neighbours.value,
            norms=norms_text(Bound(*sizes, neighbours, Unit(unit))),
            analyst=analyst,
            project=project,
            what="query",
            plan=plan,
            key=key,
            request=request,
        )
    except ArgumentError:
        return
    data = to_bytes(entry)
    assert from_bytes(data) == entry == slowly(data)
    assert read_quickly(data) in (entry, None)


def test_the_bound_and_the_event_come_back() -> None:
    bound = Bound.vector(l0=3, linf="2.5", unit=Unit("person"), neighbours=Neighbours.REPLACE_ONE)
    event = Gaussian(variance=Fraction(7, 3))
    entry = replace(RESERVED, norms=norms_text(bound), neighbours="replace-one", event=event.to_json())
    assert entry.bound == bound
    assert entry.priced == event


def test_an_id_holds_its_position() -> None:
    assert position_of(RESERVED.id) == 7
    for other in ("7", "7-", "07-00ff00ff00ff00ff", "-00ff00ff00ff00ff", "7-00FF00FF00FF00FF", "٧-00ff00ff00ff00ff"):
        with pytest.raises(ArgumentError):
            position_of(other)


@pytest.mark.parametrize(
    "change",
    [
        {"sequence": 8},
        {"sequence": -1},
        {"sequence": 2**53},
        {"time": LATEST + 1},
        {"charges": ()},
        {"charges": (Charge(TRIPS, (), (1,)), Charge(ADA, (), (1,)))},
        {"charges": (Charge(TRIPS, (), (1,)), Charge(TRIPS, (), (1,)))},
        {"charges": (Charge(TRIPS.block("2026-11-03"), (), (1,)),)},
        {"charges": (Charge(TRIPS, (), ()),)},
        {"charges": (Charge(TRIPS, ("2026-11-04", "2026-11-03"), (1,)),)},
        {"charges": (Charge(TRIPS, ("2026-11-04", "2026-11-04"), (1,)),)},
        {"charges": (Charge(TRIPS, ("2026-11-31",), (1,)),)},
        {"charges": (Charge(TRIPS, tuple(f"{year}-01-01" for year in range(1000, 5000)), (1,)),)},
        {"event": ""},
        {"neighbours": "near"},
        {"norms": "1 1 1"},
        {"norms": "1 2/2 1 1"},
        {"norms": "1 1/0 1 1"},
        {"plan": digest("x")[:-1]},
        {"key": digest("x").upper()},
        {"what": "two words"},
        {"unit": ""},
        {"analyst": "a\nb"},
        {"project": " a"},
    ],
)
def test_reservations_that_cannot_be(change: dict[str, Any]) -> None:
    with pytest.raises((ArgumentError, ZeroDivisionError)):
        replace(RESERVED, **change)


@pytest.mark.parametrize(
    ("sample", "change"),
    [
        (2, {"reason": " "}),
        (2, {"reason": "x" * 2001}),
        (2, {"reason": "a\x1b[2J"}),
        (2, {"by": ""}),
        (2, {"budget": "1"}),
        (0, {"rule": None}),
        (0, {"scope": TRIPS.block("2026-11-03")}),
        (0, {"scope": ADA}),
        (6, {"code": ""}),
        (7, {"period": -1}),
        (8, {"note": ""}),
        (9, {"code": "two words"}),
        (10, {"lost_to": 12}),
        (10, {"lost_from": -1}),
        (10, {"burnt": ((TRIPS, (1,)), (ADA, (1,)))}),
        (10, {"burnt": ((PEOPLE.name, (1,)),)}),
        (11, {"number": 0}),
        (11, {"release": "short"}),
        (12, {"files": (Listed("../weights", digest("w"), 7),)}),
        (12, {"files": (Listed("weights", digest("w"), -1),)}),
        (12, {"files": (Listed("weights", "w", 7),)}),
        (13, {"files": (Listed("b", digest("w"), 7), Listed("a", digest("w"), 7))}),
        (13, {"files": (Listed("a", digest("w"), 7),) * 2}),
        (14, {"parts": -1}),
    ],
)
def test_entries_that_cannot_be(sample: int, change: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        replace(SAMPLES[sample], **change)


def test_all_names_are_exported() -> None:
    assert all(hasattr(entries, name) for name in entries.__all__)

"""Write docs/reference/ledger-vectors.json: what a verifier of ledgers by somebody else must take, and must refuse.

    python scripts/make_ledger_vectors.py [FILE]

Nothing in it is drawn: keys, tokens and times are fixed, so whoever runs this gets the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget, budget
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian, Laplace, Pure
from sordino.accounting.neighbours import Neighbours
from sordino.ledger.canonical import from_base64, to_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.continuing import Joint
from sordino.ledger.cosignature import Cosigner, cosign
from sordino.ledger.decisions import Request
from sordino.ledger.entries import (
    Budgeted,
    Checkpointed,
    Continued,
    Entry,
    Failed,
    Frozen,
    Part,
    Refreshed,
    Restored,
    Settled,
    to_bytes,
)
from sordino.ledger.keys import SigningKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.manifest import Listed
from sordino.ledger.note import text_of
from sordino.ledger.receipt import Receipt
from sordino.ledger.reservation import Reservation
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.tree import EMPTY_ROOT, Frontier, consistency_proof, inclusion_proof, leaf_hashes, root_of
from sordino.ledger.witness import NoWitness

PLACE = Path(__file__).parent.parent / "docs" / "reference" / "ledger-vectors.json"
NOON = 1_763_208_000_000  # 2025-11-15T12:00:00Z
KEY = SigningKey("stats.example.org/ledgers/one", bytes(range(32)))
NEXT = SigningKey("stats.example.org/ledgers/one/restored-00112233445566ff", bytes(range(1, 33)))
TRIPS, RIDES, PEOPLE = Scope("dataset", "trips"), Scope("dataset", "rides"), Scope("group", "people")
ADA = Scope("analyst", "ada")
LEAVES = 13
P = 2**255 - 19
ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")


def digest(text: str) -> str:
    """Return a SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical() -> dict[str, list[str]]:
    """Return texts that are canonical JSON, and texts that are not."""
    good = ["{}", "[]", '{"a":1,"b":[true,null,"é\\n\\u001f\\""]}', "9007199254740991", "-1", '""', '"\U0001f600"']
    bad = [
        *('{"b":1,"a":2}', '{"a":1,"a":1}', '{ "a":1}', '{"a":1.0}', "1e3", "-0", "9007199254740992", '"\\u00e9"'),
        *('"\\/"', '"\\u001F"', '{"é":1}', "NaN", "[1,]", "", " 1", '"\\ud800"', "01", "'a'"),
    ]
    return {"good": good, "bad": bad}


def keys() -> dict[str, list[str]]:
    """Return verifying keys, and what is none or proves nothing."""
    weak = [y for small in (0, 1, ORDER_8, P - ORDER_8, P - 1, P, P + 1) for y in (small, small | 1 << 255)]
    outside = [2, 7]  # no point at all
    texts = [_vkey("weak.example.org", each.to_bytes(32, "little")) for each in (*weak, *outside)]
    good = KEY.verifier.text
    name, shown, encoded = good.split("+", 2)
    texts += [f"{name}+00000000+{encoded}", f"{name} +{shown}+{encoded}", f"{good}\n", f"{name}+{shown}+{encoded[:-1]}"]
    return {"good": [good, NEXT.verifier.text], "bad": [*texts, f"+{shown}+{encoded}", "", name]}


def _vkey(name: str, public: bytes) -> str:
    content = b"\x01" + public
    shown = hashlib.sha256(name.encode() + b"\n" + content).hexdigest()[:8]
    return f"{name}+{shown}+{to_base64(content)}"


def tree() -> dict[str, Any]:
    """Return a small tree with its roots and proofs."""
    leaves = [f"leaf {number}" for number in range(LEAVES)]
    hashes = leaf_hashes(each.encode() for each in leaves)

    def subtree(start: int, end: int) -> bytes:
        return root_of(hashes[start:end])

    sizes = range(LEAVES + 1)
    return {
        "leaves": leaves,
        "roots": [to_base64(Frontier().extend(hashes[:size]).root if size else EMPTY_ROOT) for size in sizes],
        "inclusion": [
            [index, size, [to_base64(each) for each in inclusion_proof(index, size, subtree)]]
            for size in sizes
            for index in range(size)
        ],
        "consistency": [
            [old, new, [to_base64(each) for each in consistency_proof(old, new, subtree)]]
            for new in sizes
            for old in range(1, new + 1)
        ],
    }


def notes() -> dict[str, Any]:
    """Return checkpoints that a key signed, and what it did not."""
    root = hashlib.sha256(b"root").digest()
    good = Checkpoint(KEY.name, 7, root).sign(KEY)
    empty = Checkpoint(KEY.name, 0, EMPTY_ROOT).sign(KEY)
    both = Checkpoint(KEY.name, 7, root).sign(KEY, NEXT)
    text, _, signature = good.partition("\n\n")
    return {
        "key": KEY.verifier.text,
        "good": [good, empty, both, Checkpoint(KEY.name, 7, root, ("further",)).sign(KEY)],
        "bad": [
            good.replace("\n7\n", "\n8\n"),
            good.replace("\n", "\r\n"),
            good.rstrip("\n"),
            f"{text}\n\n",
            f"{text}\n\n{signature[:-6]}AAA=\n",
            Checkpoint("another.example.org", 7, root).sign(KEY),
            Checkpoint(KEY.name, 7, root).sign(NEXT),
            both.replace(signature.split(" ")[2].strip(), to_base64(KEY.verifier.id + bytes(64))),
            Checkpoint(KEY.name, 7, root).sign(SigningKey(KEY.name, bytes(32))),
        ],
    }


def cosignatures() -> dict[str, Any]:
    """Return checkpoints with the line of a cosigner, and with what is none."""
    witness, seconds = SigningKey("witness.example.org/w1", bytes(range(2, 34))), NOON // 1000
    note = Checkpoint(KEY.name, 7, hashlib.sha256(b"root").digest()).sign(KEY)
    line = cosign(witness, text_of(note), seconds)
    content = from_base64(line.split(" ")[2].strip())
    times = [seconds + 1, 2**63]
    later = [content[:4] + time.to_bytes(8, "big") + content[12:] for time in times]
    wrong = [*later, content[:-1], content[:-1] + bytes([content[-1] ^ 1])]
    return {
        "cosigner": Cosigner(witness.verifier).text,
        "good": [[note + line, seconds], [note + cosign(NEXT, text_of(note), 5) + line, seconds]],
        "bad": [f"{note}\u2014 {witness.name} {to_base64(each)}\n" for each in wrong],
    }


def rule(cap: Budget, **words: Any) -> Rule:
    """Return the rule of a data set or a group."""
    return Rule.open(cap, unit=words.pop("unit", "person"), neighbours=Neighbours.ADD_REMOVE, **words)


class Written:
    """A small ledger of two data sets, a group and an analyst with a budget of her own."""

    def __init__(self, directory: str) -> None:
        self.receipts: list[Receipt] = []
        self._tokens = (f"{number:032x}" for number in count(1))
        times = count(NOON, 1000)
        with Ledger.open(
            f"{directory}/v.db", key=KEY, witness=NoWitness("vectors"), clock=lambda: next(times)
        ) as ledger:
            large = budget(epsilon=3, delta="1e-6")
            ledger.open_scope(PEOPLE, rule(large), by="olga")
            ledger.open_scope(TRIPS, rule(large, groups=("people",)), by="olga")
            ledger.open_scope(RIDES, rule(budget(epsilon=2), refresh="month"), by="olga")
            ledger.open_scope(ADA, Rule.open(budget(rho=1)), by="olga")
            ledger.set_budget(TRIPS, budget(epsilon=4, delta="1e-6"), by="olga", reason="a second survey")
            self._ask(ledger, TRIPS, Laplace(scale=4), "bob", b'{"rows":7}')
            self._ask(ledger, TRIPS, Gaussian(variance=Fraction(400, 3)), "ada", bytes([0xFF, 0]))
            self._ask(ledger, RIDES, Pure(Fraction(1, 10)), "bob", "Züge".encode(), project="study")
            ledger.mark()
            ledger.fail(self._reserve(ledger, RIDES, Pure(Fraction(1, 10)), "bob"), "SRD-R001")
            ledger.freeze("drill")
            ledger.restore("olga", "it was a drill")
            self.entries = [ledger.entry(position) for position in range(ledger.size)]
            self.checkpoint = ledger.checkpoint()

    def _ask(self, ledger: Ledger, scope: Scope, event: Event, analyst: str, body: bytes, **words: Any) -> None:
        self.receipts.append(ledger.settle(self._reserve(ledger, scope, event, analyst, **words), body))

    def _reserve(self, ledger: Ledger, scope: Scope, event: Event, analyst: str, **words: Any) -> Reservation:
        asked = digest(f"{scope} {event} {analyst}")
        bound = Bound.scalar(1, unit=Unit("person"))
        request = Request(
            event, bound, (scope,), analyst, "query", plan=asked, request=asked, token=next(self._tokens), **words
        )
        found = ledger.reserve(request)
        if not isinstance(found, Reservation):
            raise TypeError("no request of the vectors is a repetition")
        return found


def others() -> Iterator[Entry]:
    """Yield entries of the kinds and shapes that the small ledger has none of."""
    root, identifier = hashlib.sha256(b"root").digest(), f"7-{'ab' * 16}"
    lost = Checkpoint(KEY.name, 20, root).sign(KEY)
    handover = Joint(KEY, NEXT.verifier, root, None).handover(13)
    burnt = ((ADA, (0, 1)), (TRIPS, (0, 2**62 - 1)))
    yield Part(9, NOON, identifier, 3, digest("part"), (Listed("weights.bin", digest("w"), 2**40),))
    yield Settled(9, NOON, identifier, digest("r"), (Listed("a", digest("w"), 0), Listed("b.txt", digest("v"), 1)))
    yield Failed(9, NOON, identifier, "SRD-R001")
    yield Refreshed(10, NOON, ADA, 682)
    yield Frozen(12, NOON, "SRD-L061")
    yield Checkpointed(11, NOON, "any text")
    yield Restored(13, NOON, 13, 20, "olga", "the disk broke", burnt)
    for said in (lost, None):
        yield Continued(13, NOON, 13, 20, "olga", "lost", burnt, KEY.verifier.text, NEXT.verifier.text, said, handover)
    yield Budgeted(2, 5, TRIPS, Budget(epsilon=Fraction(2)), (0, 2 * 10**12), "olga", "of\ntwo lines")


def bad_entries(good: list[bytes]) -> list[str]:
    """Return entries with one thing wrong in each."""
    changes: list[tuple[str, str, Any]] = [
        *(("opened", "scope", each) for each in ("trips", "dataset:", "dataset: trips", "table:trips", 7)),
        *(("opened", "by", each) for each in ("", " olga", "e\u0301va", "a\u200bb", "x" * 201, None)),
        *(
            ("reserved", "norms", each)
            for each in ("1 1 1", "1 1/0 1 1", "1 2/4 1 1", "1/2 1 1 1", "01 1 1 1", "1 -1 1 1")
        ),
        *(("reserved", "neighbours", each) for each in ("add", None)),
        *(("reserved", "parts", each) for each in (-1, True, "1", None)),
        *(("reserved", "plan", each) for each in ("AB" * 32, "ab" * 31, None)),
        *(("reserved", "charges", each) for each in ([], [["dataset:trips", [], "01"]], [["dataset:trips", [], "5 "]])),
        ("reserved", "charges", [["dataset:trips", ["2026-02-29"], "0 1"]]),
        ("reserved", "charges", [["dataset:trips", [], "0 4611686018427387904"]]),
        ("reserved", "charges", [["group:people", [], "0 1"], ["dataset:trips", [], "0 1"]]),
        *(("reserved", "event", each) for each in ("", None, {})),
        *(("settled", "files", each) for each in (None, [["/a", "ab" * 32, 1]], [["a", "ab" * 32]])),
        *(("frozen", "code", each) for each in ("", "-", "two words")),
        *(("restored", "burnt", each) for each in ([["dataset:a", "0"], ["dataset:a", "0"]], {})),
        *(("restored", "lost_to", each) for each in (1, -1)),
        *(("continued", "lost", each) for each in ("", "nothing")),
        *(
            ("continued", "key", each)
            for each in (KEY.verifier.text, _vkey("weak.example.org", (1).to_bytes(32, "little")))
        ),
        *((kind, "time", -1) for kind in ("failed", "frozen")),
        *((kind, "v", 2) for kind in ("reserved", "settled", "checkpointed")),
        *((kind, "more", None) for kind in ("reserved", "part", "opened")),
        ("failed", "kind", "forgotten"),
        ("checkpointed", "note", ""),
    ]
    by_kind = {json.loads(each)["kind"]: json.loads(each) for each in reversed(good)}
    bodies = [by_kind[kind] | {name: value} for kind, name, value in changes]
    for name in ("caps", "orders", "budget", "refresh", "blocks"):
        opened = json.loads(json.dumps(by_kind["opened"]))
        opened["rule"][name] = {
            "caps": "0 9000000000000",
            "orders": "2.50",
            "budget": "{}",
            "refresh": 0,
            "blocks": "day",
        }[name]
        bodies.append(opened)
    return [_spelled(body) for body in bodies] + [good[0].decode().replace(",", ", ", 1)]


def _spelled(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def bad_receipts(good: list[str]) -> list[str]:
    """Return receipts with one thing wrong in each."""
    first, other = json.loads(good[0]), json.loads(good[1])
    found = [
        first | {name: other[name]}
        for name in ("reserved", "settled", "settled_proof", "checkpoint", "rules", "release")
    ]
    found += [
        first | {"rules": first["rules"][1:]},
        first | {"v": 1},
        first | {"more": 1},
        first | {"key": NEXT.verifier.text},
    ]
    found += [first | {"release": {"base64": to_base64(first["release"]["text"].encode())}}]
    return [_spelled(each) for each in found] + [good[0] + "\n", good[0].replace(",", ", ", 1)]


def vectors() -> dict[str, Any]:
    """Return all test vectors."""
    with tempfile.TemporaryDirectory() as directory:
        written = Written(directory)
    good = [*written.entries, *map(to_bytes, others())]
    receipts = [each.to_json() for each in written.receipts]
    hidden = Receipt.from_json(receipts[0])
    receipts.append(_spelled(json.loads(hidden.to_json()) | {"release": None}))
    return {
        "canonical": canonical(),
        "keys": keys(),
        "tree": tree(),
        "notes": notes(),
        "entries": {"good": [each.decode() for each in good], "bad": bad_entries(good)},
        "ledger": {
            "key": KEY.verifier.text,
            "entries": [each.decode() for each in written.entries],
            "checkpoint": written.checkpoint,
        },
        "cosignatures": cosignatures(),
        "receipts": {"key": KEY.verifier.text, "good": receipts, "bad": bad_receipts(receipts)},
    }


def text() -> str:
    """Return the file."""
    return json.dumps(vectors(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else PLACE).write_text(text(), encoding="utf-8")

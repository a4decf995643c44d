"""The format that strangers read: published vectors, and a second verifier that agrees with ours on every mutation.

The second verifier (``stranger.py``) was written from the reference page alone and imports nothing of the project.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger import stranger
from sordino.errors import LedgerError
from sordino.ledger.canonical import decode, encode, from_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.cosignature import Cosigner, cosigned
from sordino.ledger.entries import KINDS, from_bytes, to_bytes
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.state import State
from sordino.ledger.tree import leaf_hash, leaf_hashes, root_of, verify_consistency, verify_inclusion

HOME = Path(__file__).parent.parent.parent
PAGE = HOME / "docs" / "reference" / "ledger-format.md"
FILE = HOME / "docs" / "reference" / "ledger-vectors.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
ENTRIES: list[str] = VECTORS["entries"]["good"]
RECEIPTS: list[str] = VECTORS["receipts"]["good"]
KEY: str = VECTORS["receipts"]["key"]
FAR = 10**15


def taken(check: Callable[[], object], refused: type[Exception]) -> bool:
    try:
        check()
    except refused:
        return False
    return True


def ours(check: Callable[[], object]) -> bool:
    return taken(check, LedgerError)


def theirs(check: Callable[[], object]) -> bool:
    return taken(check, stranger.Refused)


def verified(text: str) -> object:
    return verify_receipt(Receipt.from_json(text), KEY)


def test_the_other_verifier_imports_nothing_of_ours() -> None:
    tree = ast.parse(Path(stranger.__file__).read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert names
    assert not [name for name in names if name.startswith(("sordino", "ledger", "."))]


def test_the_published_vectors_are_what_the_script_makes() -> None:
    place = HOME / "scripts" / "make_ledger_vectors.py"
    spec = importlib.util.spec_from_file_location("make_ledger_vectors", place)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.text() == FILE.read_text(encoding="utf-8"), "run scripts/make_ledger_vectors.py"


def test_every_kind_is_on_the_page_in_the_vectors_and_known_to_the_stranger() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert {json.loads(each)["kind"] for each in ENTRIES} == set(KINDS) == set(stranger.KINDS)
    for kind in KINDS:
        section = page.partition(f"### `{kind}`")[2].partition("\n#")[0]
        assert section, f"{kind} has no section"
        for name in stranger.KINDS[kind][1]:
            inherited = kind == "continued" and name in stranger.KINDS["restored"][1]
            assert f"`{name}`" in section or inherited, f"{name} of {kind} is not on the page"


CASES: dict[str, tuple[Callable[[Any], Callable[[], object]], Callable[[Any], Callable[[], object]], Any]] = {
    "canonical": (
        lambda text: lambda: decode(text.encode("utf-8", "surrogatepass")),
        lambda text: lambda: stranger.canonical(text.encode("utf-8", "surrogatepass")),
        VECTORS["canonical"],
    ),
    "keys": (lambda text: lambda: VerifyingKey.parse(text), lambda text: lambda: stranger.key(text), VECTORS["keys"]),
    "notes": (
        lambda text: lambda: Checkpoint.open(text, VerifyingKey.parse(KEY)),
        lambda text: lambda: stranger.checkpoint(text, KEY),
        VECTORS["notes"],
    ),
    "entries": (
        lambda text: lambda: from_bytes(text.encode()),
        lambda text: lambda: stranger.entry(text.encode()),
        VECTORS["entries"],
    ),
    "receipts": (
        lambda text: lambda: verified(text),
        lambda text: lambda: stranger.receipt(text, KEY),
        VECTORS["receipts"],
    ),
}


@pytest.mark.parametrize("verdict", ["good", "bad"])
@pytest.mark.parametrize("part", CASES)
def test_published_vectors(part: str, verdict: str) -> None:
    own, other, vectors = CASES[part]
    assert vectors[verdict]
    for text in vectors[verdict]:
        assert ours(own(text)) is (verdict == "good"), text
        assert theirs(other(text)) is (verdict == "good"), text


def test_published_proofs() -> None:
    tree = VECTORS["tree"]
    data = [each.encode() for each in tree["leaves"]]
    roots = [from_base64(each) for each in tree["roots"]]
    hashes = leaf_hashes(data)
    for size, root in enumerate(roots):
        assert stranger.root([stranger.leaf(each) for each in data[:size]]) == root
        assert size == 0 or root_of(hashes[:size]) == root
    for index, size, proof in tree["inclusion"]:
        path = [from_base64(each) for each in proof]
        assert verify_inclusion(leaf_hash(data[index]), index, size, path, roots[size])
        stranger.included(stranger.leaf(data[index]), index, size, path, roots[size])
    for old, new, proof in tree["consistency"]:
        path = [from_base64(each) for each in proof]
        assert verify_consistency(old, roots[old], new, roots[new], path)
        assert not path or not verify_consistency(old, roots[old], new, roots[new], path[:-1])


def test_published_cosignatures() -> None:
    said = VECTORS["cosignatures"]
    cosigner = Cosigner.parse(said["cosigner"])
    for note, time in said["good"]:
        assert [each.time for each in cosigned(note, [cosigner])] == [time] == stranger.cosigned(note, said["cosigner"])
    for note in said["bad"]:
        assert not ours(lambda note=note: cosigned(note, [cosigner]))  # type: ignore[misc]
        assert not theirs(lambda note=note: stranger.cosigned(note, said["cosigner"]))  # type: ignore[misc]


def test_the_published_ledger_is_sound() -> None:
    said = VECTORS["ledger"]
    entries = [each.encode() for each in said["entries"]]
    stranger.ledger(entries, said["checkpoint"], said["key"], FAR)
    state = State()
    for each in entries:
        state.apply(from_bytes(each))
    assert state.size == Checkpoint.open(said["checkpoint"], VerifyingKey.parse(said["key"])).size
    for at in range(len(entries)):
        altered = [*entries[:at], entries[at].replace(b"olga", b"olgb").replace(b"bob", b"bab"), *entries[at + 1 :]]
        assert altered == entries or not theirs(
            lambda altered=altered: stranger.ledger(altered, said["checkpoint"], said["key"], FAR)  # type: ignore[misc]
        )


def test_times_from_the_future_are_refused_by_both() -> None:
    said = VECTORS["ledger"]
    entries = [each.encode() for each in said["entries"]]
    with pytest.raises(stranger.Refused):
        stranger.ledger(entries, said["checkpoint"], said["key"], 0)


# Mutations

VALUES: list[Any] = [
    *(None, True, 0, 1, -1, 2**53 - 1, 2**53, "", " ", "0", "1", "01", "1/2", "2/4", "1/0", "0 0", "0 1 ", "x", [], {}),
    *("dataset:trips", "dataset:", "group:people", "trips", "2026-02-28", "2026-02-29", "add-remove", "zero-out"),
    *(
        "ab" * 32,
        "AB" * 32,
        f"7-{'0' * 16}",
        "7-0",
        "1 1 1 1",
        "1 1/3 1 1",
        "e\u0301",
        "a\u00a0b",
        "\u200b",
        "a\nb",
        "é",
    ),
    *("x" * 200, "x" * 201, "9" * 19, str(2**62 - 1), str(2**62), "2.0", "2.5 3.0", "4096.0", "4097.0", "1.0", "day"),
    *([["dataset:trips", [], "0 1"]], [["a", "ab" * 32, 1]], ["people"], "unit-per-block", "(person, day)", 3600),
]


def of_bytes(text: str, choice: random.Random) -> str:
    """Change a byte, or lose, double or exchange some."""
    at, to = sorted((choice.randrange(len(text)), choice.randrange(len(text))))
    to = min(to, at + 9)
    how = choice.randrange(5)
    if how == 0:
        return text[:at] + chr(ord(text[at]) ^ 1 << choice.randrange(7)) + text[at + 1 :]
    if how == 1:
        return text[:at] + text[to:]
    if how == 2:
        return text[:to] + text[at:]
    if how == 3:
        return text[:at] + choice.choice('0123456789abcdef",:{}[] \\/é') + text[at + 1 :]
    return text[:at] + choice.choice("0123456789 -/a") + text[at:]


def of_values(text: str, choice: random.Random, donors: list[str]) -> str:
    """Change one value somewhere inside, and spell it canonically again."""
    body = json.loads(text)
    holders = list(_holders(body))
    holder, name = choice.choice(holders)
    how, old = choice.randrange(5), holder[name]
    if how == 0:
        holder[name] = choice.choice(VALUES)
    elif how == 1 and isinstance(old, str) and old:
        holder[name] = of_bytes(old, choice)
    elif how == 2 and isinstance(old, int):
        holder[name] = old + choice.choice((-1, 1, 1000))
    elif how == 3 and isinstance(old, list):
        holder[name] = choice.choice((old[::-1], old + old, old[1:], [*old, choice.choice(VALUES)]))
    else:
        donor = json.loads(choice.choice(donors))
        found = donor.get(name, choice.choice(VALUES)) if isinstance(holder, dict) else choice.choice(VALUES)
        holder[name] = found
    try:
        return encode(body).decode()
    except ValueError:
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _holders(value: Any) -> Any:
    for name in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, name
        if isinstance(value[name], dict | list) and value[name]:
            yield from _holders(value[name])


def in_a_text(text: str, choice: random.Random) -> str:
    """Change one value of the JSON that is a string inside: the budget of a rule."""
    body = json.loads(text)
    holder = body.get("rule", body)
    if "budget" not in holder:
        return of_values(text, choice, ENTRIES)
    inner = json.loads(holder["budget"])
    name = choice.choice(sorted(inner))
    inner[name] = choice.choice(
        ["0", "1", "1/4", "1/3", "1/1000000", "2/4", "3", "10000000", "1e3", "-1", "0.5", 1, "1/2"]
    )
    holder["budget"] = json.dumps(inner, sort_keys=True, separators=(",", ":"))
    return encode(body).decode()


def mutated_entries(number: int) -> list[str]:
    choice = random.Random(7)  # noqa: S311
    found = []
    for at in range(number):
        text = ENTRIES[at % len(ENTRIES)]
        how = choice.randrange(8)
        if how < 2:
            found.append(of_bytes(text, choice))
        elif how < 7:
            found.append(of_values(text, choice, ENTRIES))
        else:
            found.append(in_a_text(text, choice))
    return found


def test_both_verifiers_agree_on_every_mutated_entry() -> None:
    """6,400 of them; some are entries all the same, of which both must say so."""
    outcomes: Counter[tuple[str, bool]] = Counter()
    for text in mutated_entries(6400):
        data = text.encode("utf-8", "surrogatepass")
        own = ours(lambda: from_bytes(data))  # noqa: B023
        assert own is theirs(lambda: stranger.entry(data)), text  # noqa: B023
        outcomes["taken" if own else "refused", own] += 1
        assert not own or to_bytes(from_bytes(data)) == data
    assert outcomes["taken", True] > 300
    assert outcomes["refused", False] > 3000


def mutated_receipts(number: int) -> list[str]:
    choice = random.Random(11)  # noqa: S311
    found = []
    for at in range(number):
        text = RECEIPTS[at % len(RECEIPTS)]
        how = choice.randrange(8)
        if how < 2:
            found.append(of_bytes(text, choice))
        elif how < 6:
            found.append(of_values(text, choice, RECEIPTS))
        elif how == 6:
            body = json.loads(text)
            body["checkpoint"] = of_bytes(body["checkpoint"], choice)
            found.append(json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
        else:
            body = json.loads(text)
            name = choice.choice(("reserved", "settled"))
            body[name] = of_values(body[name], choice, ENTRIES)
            found.append(json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    return found


def test_both_verifiers_agree_on_every_mutated_receipt() -> None:
    """1,600 of them. What is left out of a receipt, or signed by strangers beside the key, may leave it as good."""
    kept = 0
    for text in mutated_receipts(1600):
        own = ours(lambda: verified(text))  # noqa: B023
        assert own is theirs(lambda: stranger.receipt(text, KEY)), text  # noqa: B023
        kept += own
    assert kept < 160

"""A verifier by a stranger: written from docs/reference/ledger-format.md alone, and importing nothing of the project.

Every function returns what it read, or raises `Refused`. Section names are those of the page.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
import json
import re
import unicodedata
from datetime import date
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

LARGEST = 2**53 - 1
SATURATED = 2**62 - 1
LATEST = 253370764799999


class Refused(Exception):  # noqa: N818
    """What was shown is not what the page allows."""


def need(holds: Any, what: str) -> None:
    if not holds:
        raise Refused(what)


# Bytes


def unbase64(text: Any) -> bytes:
    need(type(text) is str, "base64 is a string")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        raise Refused("not base64") from None
    need(base64.b64encode(data).decode() == text, "base64 in another spelling")
    return data


def spelled(value: Any, depth: int = 0) -> str:
    """Spell a value in canonical JSON."""
    need(depth <= 33, "too deep")
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if type(value) is int:
        need(-LARGEST <= value <= LARGEST, "a number that is too large")
        return str(value)
    if type(value) is str:
        return _string(value)
    if type(value) is list:
        return f"[{','.join(spelled(each, depth + 1) for each in value)}]"
    need(type(value) is dict and all(key.isascii() for key in value), "not a value of a ledger")
    return "{" + ",".join(f"{_string(key)}:{spelled(value[key], depth + 1)}" for key in sorted(value)) + "}"


_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _string(text: str) -> str:
    return '"' + "".join(_SHORT.get(c) or (c if c >= " " else f"\\u{ord(c):04x}") for c in text) + '"'


def _float(_: str) -> Any:
    raise Refused("a float")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len({key for key, _ in pairs}) == len(pairs), "a key twice")
    return dict(pairs)


def canonical(data: bytes) -> Any:
    """Read canonical JSON."""
    try:
        text = data.decode("utf-8", "strict")
        value = json.loads(text, parse_float=_float, parse_constant=_float, object_pairs_hook=_pairs)
        again = spelled(value).encode("utf-8", "strict")
    except (UnicodeError, ValueError, RecursionError):
        raise Refused("not JSON") from None
    need(again == data, "not in the canonical spelling")
    return value


def printable(text: str) -> bool:
    return all(
        c == " " or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs") for c in text
    )


def name(value: Any) -> str:
    need(type(value) is str and 1 <= len(value) <= 200 and printable(value), "no name")
    need(value == value.strip(" ") and value == unicodedata.normalize("NFC", value), "no name in one spelling")
    return str(value)


def scope(value: Any) -> tuple[str, str]:
    need(type(value) is str and ":" in value, "no scope")
    kind, _, rest = value.partition(":")
    need(kind in ("dataset", "group", "analyst", "project"), "an unknown kind of scope")
    return kind, name(rest)


def day(value: Any) -> None:
    need(type(value) is str and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value), "no day")
    try:
        date(int(value[:4]), int(value[5:7]), int(value[8:]))
    except ValueError:
        raise Refused("no day of the calendar") from None


def matches(pattern: str, value: Any) -> str:
    need(type(value) is str and re.fullmatch(pattern, value), "not of the grammar")
    return str(value)


def word(value: Any) -> None:
    matches(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}", value)


def digest(value: Any) -> None:
    matches(r"[0-9a-f]{64}", value)


def identifier(value: Any) -> int:
    return int(matches(r"(0|[1-9][0-9]{0,15})-[0-9a-f]{16,64}", value).partition("-")[0])


def count(value: Any) -> None:
    need(type(value) is int and 0 <= value <= LARGEST, "no count")


def amount(value: Any) -> list[int]:
    text = matches(r"(0|[1-9][0-9]*)( (0|[1-9][0-9]*))*", value)
    need(max(map(len, text.split(" "))) <= 19, "an amount beyond saturation")
    numbers = [int(each) for each in text.split(" ")]
    need(max(numbers) <= SATURATED, "an amount beyond saturation")
    return numbers


def fraction(value: Any) -> Fraction:
    text = matches(r"(0|[1-9][0-9]{0,3999})(/[1-9][0-9]{0,3999})?", value)
    found = Fraction(text)
    need(str(found) == text, "not in lowest terms")
    return found


def reason(value: Any) -> None:
    need(type(value) is str and len(value) <= 2000 and value.strip(), "no reason")
    need(printable(value.replace("\n", " ")), "a reason with control characters")


def ascending(texts: list[str]) -> None:
    need(all(a < b for a, b in itertools.pairwise(texts)), "not ascending, each once")


def fields(value: Any, *names: str) -> Any:
    need(type(value) is dict and set(value) == set(names), "other fields than these")
    return value


# The log


def leaf(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word by word; `leaves` are hashes."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return node(root(leaves[:k]), root(leaves[k:]))


def included(found: bytes, index: int, size: int, path: list[bytes], expected: bytes) -> None:
    """Climb the tree by RFC 6962's own recursion, from the top down."""

    def climb(at: int, width: int, rest: list[bytes]) -> bytes:
        if width == 1:
            need(not rest, "the proof is too long")
            return found
        need(rest, "the proof is too short")
        k = 1
        while 2 * k < width:
            k *= 2
        if at < k:
            return node(climb(at, k, rest[:-1]), rest[-1])
        return node(rest[-1], climb(at - k, width - k, rest[:-1]))

    need(0 <= index < size, "there is no such leaf")
    need(all(len(each) == 32 for each in path), "no hash")
    need(climb(index, size, path) == expected, "the proof shows another root")


P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def _add(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """Add two points in plain affine coordinates."""
    product = D * a[0] * b[0] * a[1] * b[1] % P
    x = (a[0] * b[1] + b[0] * a[1]) * pow(1 + product, P - 2, P) % P
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, P - 2, P) % P
    return x, y


@cache
def strong(public: bytes) -> bool:
    """Whether these bytes are a point of the prime-order subgroup, not the identity, in its canonical encoding."""
    number = int.from_bytes(public, "little")
    y, sign = number % 2**255, number >> 255
    if len(public) != 32 or y >= P:
        return False
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or (x == 0 and sign):
        return False
    point = (x if x % 2 == sign else P - x, y)
    found, power = (0, 1), point
    for digit in bin(ORDER)[:1:-1]:
        found = _add(found, power) if digit == "1" else found
        power = _add(power, power)
    return point != (0, 1) and found == (0, 1)


def key(text: Any) -> tuple[str, bytes, bytes]:
    """Return name, id and public key."""
    need(type(text) is str, "a key is a string")
    called, _, rest = text.partition("+")
    shown, _, encoded = rest.partition("+")
    need(key_name(called), "no name of a key")
    content = unbase64(encoded)
    need(len(content) == 33 and content[0] == 1, "not a key of Ed25519")
    found = hashlib.sha256(called.encode() + b"\n" + content).digest()[:4]
    need(found.hex() == shown, "the id is not that of the key")
    need(strong(content[1:]), "a key that proves nothing")
    return called, found, content[1:]


def key_name(text: str) -> bool:
    return bool(text) and not any(c == "+" or c.isspace() or c < " " or "\ud800" <= c <= "\udfff" for c in text)


def opened_note(note: Any, verifier: str) -> str:
    """Return the text of a note that a key has signed."""
    need(type(note) is str, "a note is a string")
    need(not any((c < " " and c != "\n") or "\ud800" <= c <= "\udfff" for c in note), "control characters in a note")
    place = note.rfind("\n\n")
    need(place >= 0 and note.endswith("\n"), "no note")
    text, lines = note[: place + 1], note[place + 2 :].split("\n")[:-1]
    need(1 <= len(lines) <= 100, "too many signatures, or none")
    called, shown, public = key(verifier)
    signed = False
    for line in lines:
        need(line.startswith("— ") and line.count(" ") >= 2, "no line of a signature")
        signer, _, encoded = line[2:].partition(" ")
        content = unbase64(encoded)
        need(key_name(signer) and len(content) > 4, "no line of a signature")
        if (signer, content[:4]) == (called, shown):
            try:
                Ed25519PublicKey.from_public_bytes(public).verify(content[4:], text.encode())
            except InvalidSignature:
                raise Refused("a false signature") from None
            signed = True
    need(signed, "not signed by the key")
    return text


def checkpoint(note: Any, verifier: str) -> tuple[int, bytes]:
    """Return size and root of a checkpoint that a key signed for the log of its own name."""
    lines = opened_note(note, verifier).split("\n")[:-1]
    need(len(lines) >= 3 and all(lines), "no checkpoint")
    need(lines[0] == key(verifier)[0], "a checkpoint of another log")
    size, top = int(matches(r"0|[1-9][0-9]{0,15}", lines[1])), unbase64(lines[2])
    need(size <= LARGEST and len(top) == 32 and (size or top == root([])), "no checkpoint")
    return size, top


# Cosignatures


def cosigned(note: str, cosigner: str) -> list[int]:
    """Return when a cosigner signed a note, in seconds since 1970."""
    called, _, rest = cosigner.partition("+")
    shown, _, encoded = rest.partition("+")
    content = unbase64(encoded)
    need(len(content) == 33 and content[0] == 4 and strong(content[1:]) and key_name(called), "no key of a cosigner")
    need(hashlib.sha256(called.encode() + b"\n" + content).hexdigest()[:8] == shown, "the id is not that of the key")
    place, found = note.rfind("\n\n"), []
    for line in note[place + 2 :].split("\n")[:-1]:
        signer, _, signature = line[2:].partition(" ")
        data = unbase64(signature)
        if (signer, data[:4].hex()) == (called, shown):
            time = int.from_bytes(data[4:12], "big")
            need(len(data) == 76 and time < 2**63, "no cosignature")
            try:
                message = f"cosignature/v1\ntime {time}\n{note[: place + 1]}".encode()
                Ed25519PublicKey.from_public_bytes(content[1:]).verify(data[12:], message)
            except InvalidSignature:
                raise Refused("a false cosignature") from None
            found.append(time)
    return found


# Entries


def budget(value: Any) -> tuple[str, Fraction, Fraction, Fraction]:
    """Return the kind, ε or ρ, δ and the share."""
    need(type(value) is str, "a budget is a string")
    body = canonical(value.encode())
    need(type(body) is dict, "a budget is an object")
    which = "epsilon" if "epsilon" in body else "rho"
    fields(body, "delta", "own_delta_share", which)
    most, delta, share = fraction(body[which]), fraction(body["delta"]), fraction(body["own_delta_share"])
    need(most > 0 and 1 <= int(most * 10**12) <= SATURATED - 1, "no ε or ρ")
    need(delta < 1 and (delta == 0 or int(delta * 10**18) >= 1), "no δ")
    kind = "zcdp" if which == "rho" else "renyi" if delta else "pure"
    need(share <= 1 and (kind == "renyi" or share == Fraction(1, 4)), "no share")
    return kind, most, delta, share


def caps(values: list[int], orders: list[str], said: str, times: int) -> None:
    """Refuse caps that promise more than the budget."""
    kind, most, delta, share = budget(said)
    need(len(values) == len(orders) + 2 and (kind == "renyi" or not orders), "not one cap for each column")
    whole = [times * cap for cap in values]
    need(max(whole) <= SATURATED - 1 and min(whole[1:]) >= 1, "no caps")
    own = int(delta * (share if kind == "renyi" else 1) * 10**18)
    need(whole[0] <= own and whole[-1] <= most * 10**12, "more than the budget")
    total = Fraction(0)
    with localcontext(Context(prec=50, Emax=10**9, Emin=-(10**9))):
        epsilon = Decimal(most.numerator) / Decimal(most.denominator)
        for text, cap in zip(orders, whole[1:-1], strict=True):
            a = Decimal(text)
            exponent = (a - 1) * (Decimal(cap) / 10**12 - epsilon) + a * (1 - 1 / a).ln() - (a - 1).ln()
            total += Fraction(min(max(exponent, Decimal(-1000)), Decimal(0)).exp()) * (1 + Fraction(1, 10**35))
    need(total <= delta - Fraction(own, 10**18), "more than the budget")


def factor(body: Any) -> int:
    return 2 if body["blocks"] is not None and body["neighbours"] == "replace-one" else 1


RELATIONS = ("add-remove", "replace-one", "zero-out")


def rule(body: Any, kind: str) -> None:
    fields(body, "budget", "orders", "caps", "unit", "neighbours", "refresh", "blocks", "groups")
    need((body["unit"] is None) == (body["neighbours"] is None) == (kind in ("analyst", "project")), "who is protected")
    if body["unit"] is not None:
        name(body["unit"])
        need(body["neighbours"] in RELATIONS, "no relation")
    refresh = body["refresh"]
    seconds = type(refresh) is int and 1 <= refresh <= 316224000
    need(refresh is None or refresh in ("day", "week", "month") or seconds, "no refresh")
    need(type(body["groups"]) is list, "groups are an array")
    ascending([name(each) for each in body["groups"]])
    if body["blocks"] is not None:
        need(body["blocks"] in ("owner-in-one-block", "unit-per-block"), "no blocks")
        need(body["unit"] is not None and refresh is None, "blocks without a unit, or with a refresh")
        pair = body["unit"].startswith("(") and body["unit"].endswith(", day)") and len(body["unit"]) > 7
        need(pair == (body["blocks"] == "unit-per-block"), "no unit of these blocks")
    need(kind == "dataset" or not (body["blocks"] or body["groups"]), "only a data set has these")
    caps(amount(body["caps"]), orders_of(body["orders"]), body["budget"], factor(body))


def orders_of(text: Any) -> list[str]:
    need(type(text) is str, "orders are a string")
    found = text.split(" ") if text else []
    for each in found:
        matches(r"[1-9][0-9]{0,3}\.[0-9]{1,17}", each)
        need(repr(float(each)) == each and 1 < float(each) <= 4096, "no order")
    return found


def files(value: Any) -> None:
    need(type(value) is list and len(value) <= 1000, "files are an array")
    for each in value:
        need(type(each) is list and len(each) == 3, "a file has three parts")
        matches(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", each[0])
        digest(each[1])
        count(each[2])
    ascending([each[0] for each in value])


def scopes(value: Any, parts: int) -> None:
    need(type(value) is list, "an array")
    for each in value:
        need(type(each) is list and len(each) == parts, "not of these parts")
        scope(each[0])
        amount(each[-1])
    ascending([each[0] for each in value])


def _opened(body: Any) -> None:
    rule(body["rule"], scope(body["scope"])[0])
    name(body["by"])


def _budgeted(body: Any) -> None:
    scope(body["scope"])
    budget(body["budget"])
    amount(body["caps"])
    name(body["by"])
    reason(body["reason"])


def _reserved(body: Any) -> None:
    need(identifier(body["id"]) == body["sequence"], "an id of another position")
    scopes(body["charges"], 3)
    need(body["charges"], "nobody is charged")
    for _, days, _ in body["charges"]:
        need(type(days) is list and len(days) <= 3660, "days are an array")
        for each in days:
            day(each)
        ascending(days)
    need(type(body["event"]) is str and body["event"], "no event")
    for each in (body["unit"], body["analyst"], *([] if body["project"] is None else [body["project"]])):
        name(each)
    for each in (body["plan"], body["request"], *([] if body["key"] is None else [body["key"]])):
        digest(each)
    need(body["neighbours"] in RELATIONS, "no relation")
    need(type(body["norms"]) is str, "norms are a string")
    norms = body["norms"].split(" ")
    need(len(norms) == 4 and "/" not in norms[0] and [fraction(each) for each in norms], "no norms")
    word(body["what"])
    count(body["parts"])


def _part(body: Any) -> None:
    identifier(body["id"])
    count(body["number"])
    need(body["number"] > 0, "parts count from 1")
    digest(body["release"])
    files(body["files"])


def _settled(body: Any) -> None:
    identifier(body["id"])
    digest(body["release"])
    files(body["files"])


def _failed(body: Any) -> None:
    identifier(body["id"])
    word(body["code"])


def _refreshed(body: Any) -> None:
    scope(body["scope"])
    count(body["period"])


def _checkpointed(body: Any) -> None:
    need(type(body["note"]) is str and 1 <= len(body["note"]) <= 65536, "no note")


def _frozen(body: Any) -> None:
    word(body["code"])


def _restored(body: Any) -> None:
    count(body["lost_from"])
    count(body["lost_to"])
    need(body["lost_from"] <= body["lost_to"], "what is lost ends before it begins")
    name(body["by"])
    reason(body["reason"])
    scopes(body["burnt"], 2)


def _continued(body: Any) -> None:
    _restored(body)
    old, new = key(body["previous"]), key(body["key"])
    need(old[0] != new[0] and old[2] != new[2], "the same key, or the same name")
    lines = opened_note(body["handover"], body["previous"]).split("\n")
    need(len(lines) == 6 and lines[:2] == ["sordino ledger continued", old[0]], "no handover")
    need(lines[2] == str(body["sequence"]) and lines[4] == body["key"], "the handover of another entry")
    need(len(unbase64(lines[3])) == 32, "no root in the handover")
    if body["lost"] is not None:
        need(checkpoint(body["lost"], body["previous"])[0] <= body["lost_to"], "more is lost than that")


_LOST = ("lost_from", "lost_to", "by", "reason", "burnt")
KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "opened": (_opened, ("scope", "rule", "by")),
    "budgeted": (_budgeted, ("scope", "budget", "caps", "by", "reason")),
    "reserved": (
        _reserved,
        (
            *("id", "charges", "event", "unit", "analyst", "project", "key"),
            *("neighbours", "norms", "what", "plan", "request", "parts"),
        ),
    ),
    "part": (_part, ("id", "number", "release", "files")),
    "settled": (_settled, ("id", "release", "files")),
    "failed": (_failed, ("id", "code")),
    "refreshed": (_refreshed, ("scope", "period")),
    "checkpointed": (_checkpointed, ("note",)),
    "frozen": (_frozen, ("code",)),
    "restored": (_restored, _LOST),
    "continued": (_continued, (*_LOST, "previous", "key", "lost", "handover")),
}


def entry(data: bytes) -> Any:
    """Return an entry as an object."""
    body = canonical(data)
    need(type(body) is dict and type(body.get("kind")) is str and body["kind"] in KINDS, "an unknown kind")
    check, names = KINDS[body["kind"]]
    fields(body, "kind", "sequence", "time", "v", *names)
    count(body["sequence"])
    need(type(body["time"]) is int and 0 <= body["time"] <= LATEST, "no time")
    need(type(body["v"]) is int and body["v"] == 1, "another version")
    check(body)
    return body


# Receipts


def receipt(text: str, verifier: str) -> Any:
    """Return the settled entry of a receipt that holds under a key."""
    body = canonical(text.encode("utf-8", "surrogatepass"))
    names = ("v", "key", "checkpoint", "reserved", "settled", "reserved_proof", "settled_proof", "rules", "release")
    fields(body, *names)
    need(type(body["v"]) is int and body["v"] == 2 and body["key"] == verifier, "of another version or key")
    size, top = checkpoint(body["checkpoint"], verifier)

    def placed(data: Any, proof: Any) -> Any:
        need(type(data) is str and type(proof) is list, "no entry with its proof")
        found = entry(data.encode())
        included(leaf(data.encode()), found["sequence"], size, [unbase64(each) for each in proof], top)
        return found

    charge, settled = placed(body["reserved"], body["reserved_proof"]), placed(body["settled"], body["settled_proof"])
    need((charge["kind"], settled["kind"]) == ("reserved", "settled"), "not a charge and its settlement")
    need(charge["id"] == settled["id"] and charge["sequence"] < settled["sequence"], "of another charge")
    need(charge["time"] <= settled["time"], "settled before it was charged")
    _release(body["release"], settled["release"])
    rules: dict[str, Any] = {}
    need(type(body["rules"]) is list, "rules are an array")
    for each in body["rules"]:
        need(type(each) is list and each, "no rule")
        found = placed(each[0], each[1:])
        need(found["sequence"] < charge["sequence"], "a rule that is newer than the charge")
        if found["kind"] == "opened":
            need(found["scope"] not in rules, "opened twice")
            rules[found["scope"]] = found["rule"]
        else:
            need(found["kind"] == "budgeted" and found["scope"] in rules, "no rule")
            _changed(rules[found["scope"]], found)
    protecting = {each[0] for each in charge["charges"] if each[0].startswith(("dataset:", "group:"))}
    groups = {f"group:{each}" for said in rules.values() for each in said["groups"]}
    need(set(rules) == protecting and groups <= protecting, "not the rules of those who are charged")
    return settled


def _release(said: Any, expected: str) -> None:
    if said is None:
        return
    need(type(said) is dict and len(said) == 1 and set(said) <= {"text", "base64"}, "no release")
    if "text" in said:
        need(type(said["text"]) is str, "no release")
        data = said["text"].encode()
    else:
        data = unbase64(said["base64"])
        try:
            data.decode()
        except UnicodeDecodeError:
            pass
        else:
            raise Refused("a text that is not spelled as one")
    need(hashlib.sha256(data).hexdigest() == expected, "another release")


def _changed(held: Any, found: Any) -> None:
    need(budget(found["budget"])[0] == budget(held["budget"])[0], "another kind of budget")
    caps(amount(found["caps"]), orders_of(held["orders"]), found["budget"], factor(held))
    held["budget"], held["caps"] = found["budget"], found["caps"]


# A ledger


def ledger(entries: list[bytes], note: str, verifier: str, now: int) -> None:
    """Refuse entries that are not those that a checkpoint signs, or that are out of order."""
    size, top = checkpoint(note, verifier)
    need(size == len(entries) and root([leaf(each) for each in entries]) == top, "not what was signed")
    last = 0
    for position, data in enumerate(entries):
        found = entry(data)
        need(found["sequence"] == position and last <= found["time"] <= now + 300_000, "out of order, or ahead")
        last = found["time"]
        if found["kind"] in ("restored", "continued"):
            need(found["lost_from"] == min(position, found["lost_to"]), "what is lost begins elsewhere")
        if found["kind"] == "continued":
            said = opened_note(found["handover"], found["previous"]).split("\n")[3]
            need(unbase64(said) == root([leaf(each) for each in entries[:position]]), "a handover of another history")

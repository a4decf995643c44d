"""The content of a report: everything that it says, as plain JSON without floats, from what the ledger holds.

**Guarantee.** No value of data is in it: entries hold none, and of a release only its own words about noise, bounding
and price are taken. Without names (`named`) no question, analyst, column or identifier is in it either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sordino.accounting.part import not_protected, part_of
from sordino.accounting.units import significant
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.periods import moment
from sordino.ledger.receipt import Receipt
from sordino.ledger.vectors import vector_text
from sordino.version import VERSION as SORDINO_VERSION

from .arithmetic import Spending, Step, replay
from .book import Book, Charged
from .pyramid import pyramid
from .registry import record
from .released import share_text, told_release
from .sources import Source, enclosed, released_body
from .statements import Statements

FORMAT = "sordino transparency report"
VERSION = 1
DOCUMENTATION = "docs/known-limits.md and docs/attack-model.md of sordino"

COMPOSITION = {
    "pure": "The ε of all releases add up, whoever asks, in whatever order, however a question is chosen by earlier "
    "answers (pure ε-differential privacy, sequential and concurrent composition).",
    "zcdp": "The ρ of all releases add up, whoever asks, in whatever order, however a question is chosen by earlier "
    "answers (zero-concentrated differential privacy; Whitehouse, Ramdas, Rogers, Wu 2023).",
    "renyi": "Divergences add up at every Rényi order, whoever asks, in whatever order, however a question is "
    "chosen by earlier answers; a release is admitted while some order fits, each with its own share of δ (a Rényi "
    "filter for (ε, δ); Feldman, Zrnic 2021; Lécuyer 2021).",
}

LIMITS = (
    "Differential privacy bounds what is learnt because somebody took part. It does not stop conclusions about people "
    "from what is true of everybody.",
    "Bounds, keys, limits and the unit's column are declared by the owner; that they are true, and were not read off "
    "the data, is trusted and not checked.",
    "The budget is that of the data set's name. The same people under another name have another budget, unless the "
    "owner put both into one group.",
    "How long a question takes is not padded.",
    "Noise is drawn from a cipher that the operating system keys: computationally, not information-theoretically, "
    "like the exact law.",
    "That no charge is missing from this report is the word of whoever signed it; whoever can read the whole ledger "
    "can check it (sordino ledger verify).",
)


def dataset_content(source: Source, book: Book, statements: Statements, *, named: bool) -> dict[str, Any]:
    """Return what is to be said about all that was released from a data set."""
    spending = spent(book, milliseconds())
    rows = [told_release(each, spending, _body(source, each), named=named) for each in book.charges]
    evidence = [enclosed(source, entry.sequence, entry) for entry in _concerning(source, book)] if named else None
    found = _content(source, book, spending, rows, {"kind": "dataset", "dataset": book.dataset})
    return completed(found | {"evidence": evidence, "receipt": None}, statements)


def release_content(source: Source, book: Book, identifier: str, statements: Statements) -> dict[str, Any]:
    """Return what is to be said about one release; its receipt, without the answer, is enclosed."""
    charged = book.charge(identifier)
    spending = spent(book, milliseconds())
    receipt = source.receipt(identifier)
    row = told_release(charged, spending, released_body(receipt), named=True)
    rules = {each.position for each in book.rules}
    evidence = [enclosed(source, entry.sequence, entry) for entry in source.entries() if entry.sequence in rules]
    subject = {"kind": "release", "dataset": book.dataset, "release": identifier}
    found = _content(source, book, spending, [row], subject)
    return completed(found | {"evidence": evidence, "receipt": without_answer(receipt)}, statements)


def completed(found: dict[str, Any], statements: Statements) -> dict[str, Any]:
    """Return the content with what people stated, in the words of the pyramid and in the fields of the registry."""
    whole = found | {"stated": statements.said() | _free(found["protected"], statements)}
    return whole | {"pyramid": pyramid(whole), "registry": record(whole)}


def _free(protected: Mapping[str, Any], statements: Statements) -> dict[str, str]:
    """Return what the data's own relation leaves unprotected, before what people state."""
    if part_of(str(protected["unit"])) is None:
        return {}
    known = "not protected: " + ", ".join(not_protected(str(protected["unit"]), str(protected["neighbours"])))
    return {"unprotected": "; ".join(filter(None, (known, statements.unprotected)))}


def spent(book: Book, now: int) -> Spending:
    """Return what a data set has spent by all that the ledger says."""
    steps = [Step(each.position, each.time, rule=each.rule) for each in book.rules]
    steps += [
        Step(each.reserved.sequence, each.reserved.time, amount=each.amount, days=each.days) for each in book.charges
    ]
    steps += [Step(each.position, each.time, amount=each.amount, burns=True) for each in book.burnt]
    return replay(steps, now)


def head(subject: Mapping[str, Any], key: str, note: str) -> dict[str, Any]:
    """Return how every report begins: what it is about, and the ledger's `key` and signed checkpoint, the `note`."""
    checkpoint = Checkpoint.open(note, VerifyingKey.parse(key))
    return {
        "format": FORMAT,
        "v": VERSION,
        "made": moment(milliseconds()),
        "by": f"sordino {SORDINO_VERSION}",
        "subject": dict(subject),
        "limits": list(LIMITS),
        "documentation": DOCUMENTATION,
        "ledger": {"key": key, "origin": checkpoint.origin, "size": checkpoint.size, "checkpoint": note},
    }


def mechanisms(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each mechanism with the releases that ran it and the part of the budget that went into it."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for part in row["parts"]:
            for name in dict.fromkeys(words["mechanism"] for words in part["words"]):
                each = found.setdefault(name, {"mechanism": name, "laws": [], "releases": set(), "share": Fraction(0)})
                each["releases"].add(row["position"])
                each["share"] += Fraction(part["share"] or 0)
                laws = [words["law"] for words in part["words"] if words["mechanism"] == name]
                each["laws"] += [law for law in laws if law not in each["laws"]]
    ordered = sorted(found.values(), key=lambda each: (-each["share"], each["mechanism"]))
    return [each | {"releases": len(each["releases"]), "share": share_text(each["share"])} for each in ordered]


def milliseconds() -> int:
    """Return the time as ledgers count it."""
    return int(datetime.now(UTC).timestamp() * 1000)


def _content(
    source: Source, book: Book, spending: Spending, rows: list[dict[str, Any]], subject: Mapping[str, Any]
) -> dict[str, Any]:
    rule = spending.rule
    relation = None if rule.neighbours is None else rule.neighbours.value
    return head(subject, source.key, source.note) | {
        "protected": protected(rule.unit, relation, rule.promise),
        "budget": {
            "text": str(rule.budget),
            "calculus": rule.budget.calculus,
            "epsilon": _exact(rule.budget.epsilon),
            "delta": str(rule.budget.delta),
            "rho": _exact(rule.budget.rho),
            "refresh": rule.refresh,
            "blocks": rule.blocks,
            "groups": list(rule.groups),
            "rules": [
                {"position": each.position, "time": moment(each.time), "rule": each.rule.to_plain()}
                for each in book.rules
            ],
        },
        "composition": COMPOSITION[rule.budget.calculus],
        "spent": _spent(spending, book.charges),
        "burnt": [
            {"position": each.position, "time": moment(each.time), "amount": vector_text(each.amount)}
            for each in book.burnt
        ],
        "mechanisms": mechanisms(rows),
        "releases": rows,
    }


def protected(unit: Any, relation: Any, promise: Any) -> dict[str, Any]:
    """Return who is protected, against what, and what that promises."""
    from sordino.serve.telling.event_words import neighbours

    words = neighbours(relation, unit)
    return {"unit": unit, "neighbours": relation, "neighbours_in_words": words, "promise": promise}


def _spent(spending: Spending, charges: Sequence[Charged]) -> dict[str, Any]:
    columns = spending.rule.filter.columns
    caps, lifetime = columns.describe(spending.rule.filter.caps), columns.describe(spending.lifetime)
    outcomes = [each.outcome for each in charges]
    loss = spending.loss
    return {
        "charges": len(outcomes),
        "settled": outcomes.count("settled"),
        "failed": outcomes.count("failed"),
        "open": outcomes.count("open"),
        "used": share_text(min(spending.share(spending.counted), Fraction(1))),
        "counted_in": columns.names[spending.column],
        "columns": [{"name": name, "spent": lifetime[name], "cap": caps[name]} for name in columns.names],
        "lifetime": vector_text(spending.lifetime),
        "loss": None if loss is None else {"epsilon": rounded(loss[0]), "delta": rounded(loss[1])},
    }


def rounded(value: Fraction) -> str:
    """Return a loss as a decimal of six digits, rounded up."""
    return f"{significant(value, 6, 'ROUND_CEILING'):f}" if value else "0"


def _exact(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _body(source: Source, charged: Charged) -> dict[str, Any]:
    return released_body(source.receipt(charged.reserved.id)) if charged.outcome == "settled" else {}


def _concerning(source: Source, book: Book) -> list[Any]:
    wanted = set(book.positions)
    return [entry for entry in source.entries() if entry.sequence in wanted]


def without_answer(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON without what was released, whose digest stays in it."""
    found: dict[str, Any] = json.loads(replace(receipt, release=None).to_json())
    return found

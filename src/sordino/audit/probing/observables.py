"""What can be seen of a response: everything but the noise, and what is different in every request by nature.

Names of observables are told in findings; their values stay here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .line import Seen, Standing
from .questions import Probe

GROUP = "group "
"""Before the name of an observable that is the presence of one group; the rest of the name is a key, and never told."""
_RANDOM = frozenset({"x-request-id", "date", "content-length"})
_OWN = frozenset({"id", "receipt", "answer"})
_OWN_OF_CHARGE = frozenset({"id", "key", "sequence", "time"})
_IN_TIME = frozenset({"points", "refreshes_at"})

Observed = dict[str, str]


def of_refusal_or_price(seen: Seen) -> Observed:
    """Return what is seen of a price, or of anything that touched no data: all of it."""
    found = dict(_envelope(seen))
    found |= {f"{name} in the body": text for name, text in _fields(seen.body)}
    found["length of the body"] = str(len(seen.text))
    return found


def of_run(seen: Seen, question: Probe) -> Observed:
    """Return what is seen of a run but for noisy values; of groups with private keys, which of them are there."""
    if seen.status != 200 or not isinstance(seen.body, dict) or "answer" not in seen.body:
        return of_refusal_or_price(seen)
    body, answer = seen.body, seen.body["answer"]
    found = dict(_envelope(seen))
    found |= {f"{name} of the response": text for name, text in _fields(body) if name not in _OWN}
    found |= {f"{name} of the answer": text for name, text in _fields(answer) if name not in ("columns", "details")}
    facts = {name: value for name, value in dict(answer.get("details") or {}).items() if name != "time"}
    found |= {f"{name} in the facts": text for name, text in _fields(facts)}
    found["columns"] = _text([[each["name"], each["kind"], "low" in each] for each in answer["columns"]])
    found |= {f"{name} of the charge": text for name, text in _fields(_charge(body.get("receipt")))}
    rows = _rows(answer["columns"], question)
    if question.public:
        found["rows and their order"] = _text(rows)
        found["size of the response"] = str(len(seen.text).bit_length())
    else:
        found |= {f"{GROUP}{_text(row)}": "there" for row in rows}
    return found


def of_numbers(seen: Seen, question: Probe) -> Observed:
    """Return the noisy numbers of an answer and how wide their intervals are, column by column.

    Where there is noise, numbers are never the same again; widths are, if nothing but public facts decides them.
    """
    found: Observed = {}
    noisy = [each for each in seen.body["answer"]["columns"] if each["name"] not in question.keys]
    for place, column in enumerate(noisy, start=1):
        found[f"numbers in column {place}"] = _text(column["values"])
        ends = zip(column.get("low") or (), column.get("high") or (), strict=False)
        widths = [None if None in pair else f"{float(pair[1]) - float(pair[0]):.9g}" for pair in ends]
        found[f"widths in column {place}"] = _text(widths)
    return found


def of_budget(standing: Standing) -> Observed:
    """Return what is seen of a budget."""
    return {f"{name} of the budget": text for name, text in _fields(standing.plain) if name not in _IN_TIME}


def numbers(seen: Seen, question: Probe) -> list[float]:
    """Return the noisy numbers of an answer, column by column; what is missing is NaN."""
    found: list[float] = []
    for column in seen.body["answer"]["columns"]:
        if column["name"] not in question.keys:
            found += [float("nan") if value is None else float(value) for value in column["values"]]
    return found


def _rows(columns: list[Mapping[str, Any]], question: Probe) -> list[list[Any]]:
    keys = [each["values"] for each in columns if each["name"] in question.keys]
    if not keys:
        return [[]] * len(columns[0]["values"]) if columns else []
    return [list(row) for row in zip(*keys, strict=True)]


def _charge(receipt: Any) -> dict[str, Any]:
    """Return what was written down about a charge, from the text of a receipt; nothing if there is none."""
    try:
        reserved = json.loads(json.loads(receipt)["reserved"])
    except (TypeError, ValueError, KeyError):
        return {}
    return {name: value for name, value in reserved.items() if name not in _OWN_OF_CHARGE}


def _envelope(seen: Seen) -> Iterator[tuple[str, str]]:
    """Yield status, names of headers, and headers that are not different every time."""
    yield "status", str(seen.status)
    yield "error code", str(seen.code)
    yield "names of headers", " ".join(sorted(name.lower() for name in seen.headers))
    for name, value in seen.headers.items():
        if name.lower() not in _RANDOM:
            yield f"header {name.lower()}", value


def _fields(body: Any) -> Iterator[tuple[str, str]]:
    if isinstance(body, dict):
        yield from ((name, _text(value)) for name, value in body.items())
    elif body is not None:
        yield "body", _text(body)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)

"""Replaying: the same request under the same key is answered and charged once, whoever sends it how often."""

from __future__ import annotations

from typing import Any

from .finding import Notebook, Probed
from .line import Line, Seen, at_once

_AT_ONCE = 6


def replay(line: Line, dataset: str, sql: str, epsilon: str, key: str) -> Probed:
    """Send one request again under its key, then another one, then a request several times at one moment."""
    note = Notebook("replaying")
    asked = {"dataset": dataset, "sql": sql, "epsilon": epsilon}
    first = line.run(asked, key)
    if first.status != 200:
        return note.probed(f"the question is not answered here (status {first.status})")
    before = line.standing(dataset)
    again = line.run(asked, key)
    note.check(
        again.status == 200 and _released(again) == _released(first),
        "a key does not return its stored answer",
        f"status {again.status}, {'another' if again.status == 200 else 'no'} answer",
        first.request,
        again.request,
    )
    conflict = line.run(asked | {"epsilon": str(2 * float(epsilon))}, key)
    note.check(
        conflict.status == 409,
        "a key is taken for another request",
        f"status {conflict.status} instead of 409",
        first.request,
        conflict.request,
    )
    told = line.get(f"/releases/{first.body['id']}")
    same = told.status == 404 or (told.body or {}).get("answer") == first.body["answer"]
    note.check(same, "what was released is told otherwise later", f"status {told.status}", first.request, told.request)
    after = line.standing(dataset)
    note.check(
        after.charges == before.charges,
        "a replay is charged",
        f"{after.charges - before.charges} new charges",
        first.request,
        again.request,
        conflict.request,
    )
    _racing(line, dataset, asked, f"{key}-racing", note)
    return note.probed()


def _racing(line: Line, dataset: str, asked: dict[str, Any], key: str, note: Notebook) -> None:
    before = line.standing(dataset)
    found = at_once(line, asked, _AT_ONCE, key)
    new = line.standing(dataset).charges - before.charges
    answers = {str(_released(each)) for each in found if each.status == 200}
    steps = f"{_AT_ONCE} times at one moment: {found[0].request}"
    note.check(new == 1, "one key is charged more than once", f"{new} charges for one key", steps)
    note.check(len(answers) <= 1, "one key has several answers", f"{len(answers)} answers for one key", steps)


def _released(seen: Seen) -> Any:
    body = seen.body if isinstance(seen.body, dict) else {}
    return body.get("id"), body.get("answer")

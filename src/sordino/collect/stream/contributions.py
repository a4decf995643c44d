"""How often each person was counted in a stream: events beyond what was declared are left out, not taken on trust.

A table with a row for each person, beside the stream's file: how many events of theirs were counted, and the step of
the last. It is committed, under the number of the release that it belongs to, before anything is measured. Each row
also keeps what it was before that release, so a batch that came to nothing and is handed over again is judged as the
first time.

**Guarantee**: of each person at most `events` events are counted in the whole stream, any two at least `apart` steps
apart, also over restarts. Which of them depends on that person's events alone: the earliest, in the order in which they
were handed over. So a person who is left out changes nothing of what is counted of others.
**Assumes**: one person has one id; the file is as secret as the data.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import array
from sordino.errors import ArgumentError, LedgerError

from .people import Arrivals

_NEVER = -(1 << 40)
"""The step of the last event of who had none."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS newest (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS person (
    id BLOB PRIMARY KEY, number INTEGER NOT NULL, counted INTEGER NOT NULL, last INTEGER NOT NULL,
    counted_before INTEGER NOT NULL, last_before INTEGER NOT NULL
) WITHOUT ROWID;
INSERT OR IGNORE INTO newest VALUES (1, 0);
CREATE TEMP TABLE asked (place INTEGER PRIMARY KEY, id BLOB NOT NULL);
"""
_KNOWN = """
SELECT asked.place,
    iif(person.number = :number, counted_before, counted), iif(person.number = :number, last_before, last)
FROM asked JOIN person ON person.id = asked.id
"""


class Contributions:
    """The table of one stream: in a file, or in memory where the stream has none."""

    def __init__(self, arrivals: Arrivals, path: Path | None, number: int) -> None:
        self._arrivals = arrivals
        if path is not None:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        try:
            self._table = sqlite3.connect(":memory:" if path is None else path, check_same_thread=False)
            self._table.execute("PRAGMA synchronous = FULL")
            self._table.executescript(_SCHEMA)
            (newest,) = self._table.execute("SELECT number FROM newest").fetchone()
        except sqlite3.Error:
            raise _unusable() from None
        if newest not in (number, number + 1):
            self._table.close()
            raise LedgerError(
                "the table of who was counted is older than the stream, or of another one: people would count more "
                "often than was paid for; put back the newest, or open another stream, which is charged anew",
                "SRD-C502",
            )

    def keep(self, number: int, people: Any, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which events are counted in release `number`, and remember it durably."""
        names, who = np.unique(ids(people), return_inverse=True)
        # As bytes: a text that is no Unicode must not fail, for that would tell about it.
        spelled = [(place, str(name).encode("utf-8", "surrogatepass")) for place, name in enumerate(names.tolist())]
        try:
            with self._table:
                before, last = self._known(number, spelled)
                kept, counted, newest = chosen(self._arrivals, who, steps, before, last)
                self._remember(number, spelled, np.stack([counted, newest, before, last], axis=1))
        except sqlite3.Error:
            raise _unusable() from None
        return kept

    def _known(self, number: int, spelled: Sequence[tuple[int, bytes]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        before = np.zeros(len(spelled), dtype=np.int64)
        last = np.full(len(spelled), _NEVER, dtype=np.int64)
        self._table.execute("DELETE FROM asked")
        self._table.executemany("INSERT INTO asked VALUES (?, ?)", spelled)
        rows = np.array(self._table.execute(_KNOWN, {"number": number}).fetchall(), dtype=np.int64).reshape(-1, 3)
        before[rows[:, 0]], last[rows[:, 0]] = rows[:, 1], rows[:, 2]
        return before, last

    def _remember(self, number: int, spelled: Sequence[tuple[int, bytes]], rows: NDArray[np.int64]) -> None:
        filled = zip((name for _, name in spelled), *rows.T.tolist(), strict=True)
        self._table.executemany(
            f"INSERT OR REPLACE INTO person VALUES (?, {number:d}, ?, ?, ?, ?)",  # noqa: S608  (a whole number)
            filled,
        )
        self._table.execute("UPDATE newest SET number = ?", (number,))

    def close(self) -> None:
        """Close the file."""
        self._table.close()


def chosen(
    arrivals: Arrivals,
    who: NDArray[np.int64],
    steps: NDArray[np.int64],
    before: NDArray[np.int64],
    last: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return which events are counted, how many each person has then, and the step of the last.

    In rounds: in each, the earliest event that is allowed of every person who has any left.
    """
    order = np.lexsort((steps, who))
    person, step = who[order], steps[order]
    kept = np.zeros(len(order), dtype=np.bool_)
    counted, newest, allowed = before.copy(), last.copy(), last + arrivals.apart
    while True:
        open_ = np.flatnonzero(~kept & (step >= allowed[person]) & (counted[person] < arrivals.events))
        if not len(open_):
            break
        first = open_[np.concatenate([[True], person[open_][1:] != person[open_][:-1]])]
        kept[first] = True
        counted[person[first]] += 1
        newest[person[first]] = step[first]
        allowed[person[first]] = step[first] + arrivals.apart
    found = np.zeros(len(order), dtype=np.bool_)
    found[order] = kept
    return found, counted, newest


def ids(people: Any) -> NDArray[Any]:
    """Return people's ids, all whole numbers or all texts."""
    found = array("people", people)
    if found.dtype.kind == "O" and all(isinstance(each, int | str) for each in found.flat):
        found = found.astype(str)  # whole numbers beyond 64 bits
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iuU"):
        raise ArgumentError(
            "people must be a list of ids, all whole numbers or all texts, one for each event", "SRD-A001"
        )
    return found


def _unusable() -> LedgerError:
    return LedgerError(
        "the table of who was counted cannot be read or written, so nothing is counted; see that there is room in the "
        "stream's folder, and who owns it",
        "SRD-C504",
    )

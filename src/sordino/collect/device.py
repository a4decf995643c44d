"""A device: whoever answers, with an account of its own in a file, per survey and day, that refuses beyond it.

**Guarantee**: no report leaves before what it costs is in the file and synced. So, whatever crashes and however many
processes share the file, at most `per_day` reports of a survey leave on a day and at most `per_day · days` ever, and,
where the device has a cap of its own, no more ε on one day in all surveys together.
**Assumes**: nobody puts an older copy of the file back. A clock that is set back opens no day anew; one that is set
forward opens days early, and never more reports in all.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from sordino.arguments import Number, rational, shown_path
from sordino.errors import ArgumentError, BudgetError
from sordino.ledger.keys import sync_directory
from sordino.noise.keystream import SOURCE

from .question import Remembering
from .surveys import Survey
from .wire import Report, report_of

Plain = dict[str, Any]
_FORM = 1
_FIELDS = {"form", "day", "spent", "surveys"}
_OF_A_SURVEY = {"day", "today", "sent", "state"}


class Device:
    """Who answers. `epsilon_per_day` caps what all surveys together cost on one day; each has its own cap anyway.

    >>> import tempfile
    >>> from sordino.collect.frequencies.k_ary import KAry
    >>> from sordino.collect.surveys import survey
    >>> folder = tempfile.TemporaryDirectory()
    >>> poll = survey("poll", KAry(domain=3, epsilon=1))
    >>> device = Device(f"{folder.name}/device.json")
    >>> len(device.report(poll, 2).to_bytes()), device.left(poll)
    (50, 0)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, epsilon_per_day: Number | None = None) -> None:
        self._path = Path(path)
        self._cap = None if epsilon_per_day is None else rational("epsilon_per_day", epsilon_per_day, above=0)
        self._read()  # a file that cannot be read is refused here

    def report(self, survey: Survey, value: Any) -> Report:
        """Return a report of `value`, once its cost is in the file; refused if today's or the survey's share is used.

        To send a report that was lost on its way, send the same one again: it is counted once, and costs nothing.
        """
        survey.asks.code(value)  # what is no answer costs nothing
        with self._turn():
            book = self._read()
            held = self._charged(book, survey)
            report = self._answer(survey, value, held)
            try:
                _write(self._path, book)
            except OSError:
                raise self._damaged("cannot be written") from None
            return report

    def left(self, survey: Survey) -> int:
        """Return how many reports of a survey may still leave today."""
        book = self._read()
        day = max(_today(), book["day"])
        held = book["surveys"].get(_key(survey), _NOTHING)
        today = held["today"] if held["day"] == day else 0
        return int(min(survey.per_day - today, survey.reports - held["sent"]))

    def _charged(self, book: Plain, survey: Survey) -> Plain:
        """Charge one report in the book, or refuse; return what the book holds about the survey."""
        day = max(_today(), book["day"])
        if book["day"] != day:
            book["day"], book["spent"] = day, "0"
        held: Plain = book["surveys"].setdefault(_key(survey), dict(_NOTHING))
        if held["day"] != day:
            held["day"], held["today"] = day, 0
        if held["sent"] >= survey.reports:
            raise _used(f"all {survey.reports} reports that this survey may ever have of a device were sent")
        if held["today"] >= survey.per_day:
            raise _used(f"today's share of this survey is used, {survey.per_day} a day; answer again tomorrow")
        spent = Fraction(book["spent"]) + survey.randomizer.epsilon
        if self._cap is not None and spent > self._cap:
            raise _used("this device's own share of ε for today is used, by all surveys together; answer tomorrow")
        book["spent"] = str(spent)
        held["today"] += 1
        held["sent"] += 1
        return held

    @staticmethod
    def _answer(survey: Survey, value: Any, held: Plain) -> Report:
        asks = survey.asks
        if not isinstance(asks, Remembering):
            return report_of(survey, value, SOURCE)
        identity = SOURCE.words(2).astype("<u8").tobytes()
        payload, kept = asks.remembered(asks.code(value), held["day"], held["state"], SOURCE)
        held["state"] = dict(kept)
        return Report(survey.digest, identity, payload)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Have the file for oneself, among processes and threads."""
        try:
            lock = os.open(self._path.with_name(f".{self._path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError:
            raise self._damaged("cannot be written") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _read(self) -> Plain:
        """Return what the file holds, or a new book if there is no file; what is damaged is never taken for new."""
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {"form": _FORM, "day": "", "spent": "0", "surveys": {}}
        except (OSError, UnicodeDecodeError):
            raise self._damaged() from None
        try:
            found = json.loads(text)
            _check(found)
        except (ValueError, TypeError, KeyError, ZeroDivisionError, RecursionError):
            raise self._damaged() from None
        return dict(found)

    def _damaged(self, how: str = "is not the file of a device, or damaged") -> ArgumentError:
        return ArgumentError(
            f"{shown_path(self._path)} {how}, so what is sent cannot be counted and nothing is sent; restore it, or "
            "give the path of another device",
            "SRD-C708",
        )

    def __repr__(self) -> str:
        return f"Device({shown_path(self._path)})"


_NOTHING: Plain = {"day": "", "today": 0, "sent": 0, "state": None}


def _key(survey: Survey) -> str:
    return survey.digest.hex()


def _today() -> str:
    return date.today().isoformat()


def _used(words: str) -> BudgetError:
    return BudgetError(f"{words}; nothing was sent", "SRD-C707")


def _check(found: Any) -> None:
    """Raise ValueError, or what Python raises, if a book is not of its form."""
    wrong = set(found) != _FIELDS or found["form"] != _FORM or not _is_day(found["day"]) or Fraction(found["spent"]) < 0
    for key, held in found["surveys"].items():
        counts = (held["today"], held["sent"])
        wrong |= len(bytes.fromhex(key)) != 32 or set(held) != _OF_A_SURVEY or not _is_day(held["day"])
        wrong |= any(type(each) is not int or each < 0 for each in counts)
        wrong |= not isinstance(held["state"], dict | None)
    if wrong:
        raise ValueError


def _is_day(given: Any) -> bool:
    return bool(given == "" or date.fromisoformat(given).isoformat() == given)


def _write(path: Path, book: Plain) -> None:
    """Put a book in the place of the old one, whole or not at all, synced before this returns."""
    scratch = path.with_name(f".{path.name}.part")
    with os.fdopen(os.open(scratch, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        json.dump(book, file, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
    sync_directory(path.parent)

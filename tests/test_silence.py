"""No object that a user passed is shown in an error: a frame in the wrong place may hold patients."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sordino as so
from sordino import accounting, mechanisms

SECRET = "patient-4711"  # noqa: S105  (what must not be shown)
LONG = f"name,diagnosis\n{SECRET},gout\n"
"""A file's content where something else is wanted."""


class Disclosing(str):
    """A text that says more than it holds."""

    __slots__ = ()

    def __repr__(self) -> str:
        return SECRET


class Record:
    """A row as an object of the user's own."""

    def __repr__(self) -> str:
        return SECRET


FRAME = pd.DataFrame({"who": [SECRET, "b"], "x": [1.0, 2.0]})
CANARIES: dict[str, Any] = {
    "frame": FRAME,
    "arrow": pa.table({"x": [SECRET, "b"]}),
    "array": np.array([SECRET, "b"]),
    "objects": np.array([Record(), Record()], dtype=object),
    "list": [SECRET, 5],
    "tuple": (SECRET,),
    "dict": {"x": SECRET},
    "key": {Record(): 1},
    "set": {SECRET},
    "record": Record(),
    "subclass": Disclosing("a"),
    "content": LONG,
    "bytes": SECRET.encode(),
}
ROOMS = {"sordino": so, "accounting": accounting, "mechanisms": mechanisms}
FITTING: dict[str, Any] = {
    "name": "t",
    "source": pa.table({"p": [1], "x": [2.0]}),
    "data": pa.table({"p": [1], "x": [2.0]}),
    "unit": "p",
    "epsilon": 1,
    "delta": Fraction(1, 10**6),
    "rho": 1,
    "low": 0,
    "high": 1,
    "values": ["a", "b"],
    "reason": "a test",
    "why": "a test",
    "rows": 1,
    "scale": 1,
    "column": "x",
    "method": "sample",
    "count": 2,
    "sensitivity": 1,
    "confidence": 0.95,
    "text": "SELECT 1",
    "path": "nowhere",
}


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    for room, module in ROOMS.items():
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not (inspect.isclass(value) and issubclass(value, BaseException | Enum)):
                yield f"{room}.{name}", value


CALLS = dict(callables())


def said(error: BaseException) -> str:
    """Return all that an error shows, with its causes and contexts, but no line of the test's own."""
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=False).format())


def outcomes(call: Callable[..., Any], canary: Any) -> Iterator[str]:
    """Yield what is shown where the canary stands in each place, beside what fits and beside nothing."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return
    named = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY, each.POSITIONAL_ONLY)
    ]
    for place in named:
        given = {
            each.name: FITTING.get(each.name, 1) for each in named if each.default is each.empty and each is not place
        } | {place.name: canary}
        positional = [
            given.pop(each.name) for each in named if each.kind is each.POSITIONAL_ONLY and each.name in given
        ]
        try:
            call(*positional, **given)
        except Exception as error:
            yield f"{place.name}: {said(error)}"
    try:
        call(*[canary for each in named if each.kind is not each.KEYWORD_ONLY])
    except Exception as error:
        yield f"all: {said(error)}"


@pytest.mark.parametrize("name", CALLS)
def test_no_object_that_was_passed_is_in_an_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where a text is taken for a path, something is made there
    shown = {
        f"{kind} as {text}"
        for kind, canary in CANARIES.items()
        for text in outcomes(CALLS[name], canary)
        if SECRET in text
    }
    assert not shown, "\n".join(sorted(each[:1500] for each in shown))

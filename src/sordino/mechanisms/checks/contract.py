"""Laws about the contract: parameters only, one grant for one release, no data in anything but the release."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sordino.accounting.event import Event
from sordino.accounting.events import Pure
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError, GrantError, SordinoError

from .case import Case, FailedCheckError

CANARY = 918273645
"""A number that no mechanism would come up with; it must never be seen outside of a release."""

_ACCIDENTS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RuntimeError)


def frozen_check(case: Case) -> None:
    """It is a frozen dataclass that only stores: equal when built alike, and unchanged by a release."""
    mechanism, twin = case.mechanism, case.mechanism
    if not dataclasses.is_dataclass(mechanism) or not mechanism.__dataclass_params__.frozen:
        raise FailedCheckError("frozen check: a mechanism is a frozen dataclass")
    names = {field.name for field in dataclasses.fields(mechanism)}
    if mechanism != twin or hash(mechanism) != hash(twin) or repr(mechanism) != repr(twin):
        raise FailedCheckError("frozen check: two that are built alike are not equal, or hash or print differently")
    before = repr(mechanism)
    mechanism.release(case.value, case.grant())
    extra = {name for name in vars(mechanism) if name not in names and not _is_memory(mechanism, name)}
    if extra or repr(mechanism) != before or mechanism != twin:
        raise FailedCheckError(f"frozen check: a release changed the mechanism (attributes {sorted(extra)})")


def grant_check(case: Case) -> None:
    """Without a fresh grant for just this event there is no release, and a refused grant stays as it was."""
    mechanism = case.mechanism
    used = case.grant()
    mechanism.release(case.value, used)
    foreign = Grant(Pure(Fraction(1)), case.bound)
    for words, grant in (("a used grant", used), ("another event's grant", foreign), ("no grant", None)):
        try:
            mechanism.release(case.value, grant)  # type: ignore[arg-type]
        except GrantError:
            continue
        raise FailedCheckError(f"grant check: it released with {words}")
    if "unused" not in repr(foreign):
        raise FailedCheckError("grant check: it used another event's grant up")


def json_check(case: Case) -> None:
    """The event has a canonical text, which gives the same event and the same text again."""
    event = case.event
    try:
        survives = Event.from_json(event.to_json()) == event
    except ArgumentError:
        survives = False
    if not survives:
        raise FailedCheckError("json check: the event does not survive its own text")
    if case.mechanism.event(case.bound) != event:
        raise FailedCheckError("json check: the same mechanism names two different events for one bound")


def silence_check(case: Case) -> None:
    """A refusal leaves the grant usable and shows no data, nor does anything printed."""
    mechanism = case.mechanism
    for bad in _unfit(case.value):
        grant = case.grant()
        try:
            mechanism.release(bad, grant)
        except SordinoError as error:
            if any(str(CANARY) in text for text in _texts(error)):
                raise FailedCheckError("silence check: an error shows the value that it refuses") from None
            if "unused" not in repr(grant):
                raise FailedCheckError(
                    "silence check: an unfit value was refused only after the grant was used"
                ) from None
            continue
        except _ACCIDENTS as error:
            raise FailedCheckError(
                f"silence check: an unfit value is not refused but raises {type(error).__name__}"
            ) from None
        raise FailedCheckError(f"silence check: it released a value of an unfit kind ({type(bad).__name__})")
    if any(str(CANARY) in text for text in (repr(mechanism), repr(vars(mechanism)))):
        raise FailedCheckError("silence check: the mechanism shows a value that it was asked about")


def error_check(case: Case) -> None:
    """The error is a finite number from the law alone: larger for more confidence and for more noise."""
    narrow, wide = case.mechanism.error(0.5), case.mechanism.error(0.99)
    if not (0 <= narrow <= wide < float("inf")):
        raise FailedCheckError(f"error check: ± {narrow} at 50 % confidence and ± {wide} at 99 %")
    if case.build(Fraction(2)).error(0.99) < wide:
        raise FailedCheckError("error check: with twice the noise the error is smaller")


def _is_memory(mechanism: Any, name: str) -> bool:
    """Return whether an attribute only remembers what follows from the parameters."""
    return name == "_remembered" or isinstance(getattr(type(mechanism), name, None), cached_property)


def _unfit(value: Any) -> Iterator[Any]:
    yield {"canary": CANARY}
    yield f"text {CANARY}"
    yield None
    yield np.array([[[CANARY]]], dtype=np.complex128)
    yield np.array([object(), CANARY], dtype=object)
    if isinstance(value, tuple):
        yield (*value, CANARY)


def _texts(error: BaseException | None) -> Iterator[str]:
    """Yield every text that a traceback of `error` would print."""
    while error is not None:
        yield str(error)
        yield repr(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

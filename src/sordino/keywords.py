"""Keywords that are defined once and taken by several functions: each is typed, checked and listed by `help`.

They are the fields of a dataclass, each with its `word` of help.

>>> from dataclasses import dataclass, field
>>> @dataclass(frozen=True, kw_only=True)
... class Words:
...     batch: int = field(metadata=word("how many at once."))
...     rate: float = field(default=0.5, metadata=word("how fast."))
>>> @takes(Words, "a walk has no word")
... def walk(far: int, words: Words) -> float:
...     return far * words.rate
>>> walk(3, batch=2), list(inspect.signature(walk).parameters)
(1.5, ['far', 'batch', 'rate'])
>>> walk(3, batch=2, rat=1)
Traceback (most recent call last):
sordino.errors.ArgumentError: a walk has no word rat; did you mean rate? [SRD-A001]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from difflib import get_close_matches
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from .errors import ArgumentError

P = ParamSpec("P")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
T = TypeVar("T")
W = TypeVar("W")
W_co = TypeVar("W_co", covariant=True)


class Taking(Protocol[P, W_co]):
    """From a function whose last argument is the words to one that takes each of them as a keyword.

    The values before them, one to four, stay as they are.
    """

    @overload
    def __call__(self, function: Callable[[A, W_co], T], /) -> Callable[Concatenate[A, P], T]: ...
    @overload
    def __call__(self, function: Callable[[A, B, W_co], T], /) -> Callable[Concatenate[A, B, P], T]: ...
    @overload
    def __call__(self, function: Callable[[A, B, C, W_co], T], /) -> Callable[Concatenate[A, B, C, P], T]: ...
    @overload
    def __call__(self, function: Callable[[A, B, C, D, W_co], T], /) -> Callable[Concatenate[A, B, C, D, P], T]: ...


def word(text: str) -> dict[str, str]:
    """Return what a field of words holds beside its type and default: its line of help."""
    return {"help": text}


def takes(words: Callable[P, W], refusal: str) -> Taking[P, W]:
    """Let a function whose last argument is `words` take each word as a keyword; `refusal` begins a refusal."""

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        first = inspect.signature(function)
        values = list(first.parameters.values())[:-1]
        all_words = list(inspect.signature(words).parameters.values())
        shown = first.replace(parameters=[*values, *all_words])
        name, names = function.__name__, [each.name for each in all_words]

        @wraps(function)
        def taking(*given: Any, **named: Any) -> Any:
            if len(given) > len(values):
                before = "…, " if [each for each in values if each.name != "self"] else ""
                raise ArgumentError(
                    f"{name} takes no further value without its word; write {name}({before}{names[0]}=…)", "SRD-A001"
                )
            check_names(named, shown.parameters, refusal)
            arguments = shown.bind(*given, **named).arguments
            said = {each: arguments.pop(each) for each in names if each in arguments}
            return function(*arguments.values(), cast(Callable[..., Any], words)(**said))

        taking.__signature__ = shown  # type: ignore[attr-defined]
        said = [each for each in fields(cast(Any, words)) if "help" in each.metadata]
        helps = "".join(f"\n* `{each.name}`: {each.metadata['help']}" for each in said)
        taking.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n{helps}"
        return taking

    return cast(Taking[P, W], wrapped)


def check_names(given: Iterable[Any], known: Iterable[str], refusal: str) -> None:
    """Refuse a name that is not known, and say which one is close to it."""
    names = list(known)
    for name in given:
        if name not in names:
            close = get_close_matches(str(name)[:60], names, n=1, cutoff=0.4)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
            raise ArgumentError(f"{refusal} {str(name)[:60]}; {hint}", "SRD-A001")


def given(words: Any, shared: Any = None) -> dict[str, Any]:
    """Return words as keywords: all of them, or those that a function with the words `shared` takes as well."""
    return {each.name: getattr(words, each.name) for each in fields(words if shared is None else shared)}

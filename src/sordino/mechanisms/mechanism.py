"""The contract that every mechanism keeps, and the two small things that all of them share.

A mechanism is a frozen dataclass. It stores public parameters, checks them when it is built, and has three verbs.
Nothing in it is data, so it may be printed, compared, hashed and logged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, runtime_checkable

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.errors import GrantError


@runtime_checkable
class Mechanism(Protocol):
    """Something that releases an answer about people and names what that costs.

    **Guarantee**: on any two neighbouring data sets under `bound`, the outputs of `release` are as hard to tell apart
    as the curves of `event(bound)` say. What `release` returns, its type, its shape and its errors depend on the data
    through that one noisy draw alone.
    **Assumes**: the value that is handed to `release` moves by no more than the grant's bound says.
    """

    def event(self, bound: Bound) -> Event:
        """Return what one release runs when one unit can move the answer by `bound`: a pure function, no data seen."""
        ...

    def release(self, value: Any, grant: Grant) -> Any:
        """Return the noisy answer, and use `grant` up.

        In this order: the kind and shape of `value` are checked (a refusal leaves the grant usable and never shows the
        value), `grant` is used for ``self.event(grant.bound)``, and only then is noise drawn, once.
        """
        ...

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off the answer is, at most, with probability `confidence`: from the law, never from data."""
        ...


def use_grant(mechanism: Mechanism, grant: Grant) -> Bound:
    """Use `grant` up for one release of `mechanism` and return the bound that it was given for."""
    if not isinstance(grant, Grant):
        raise GrantError(
            f"a release needs a grant, not {type(grant).__name__}; reserve one from an account, "
            "or from unlimited('why') for an experiment",
            "SRD-G004",
        )
    grant.use(mechanism.event(grant.bound))
    return grant.bound


M = TypeVar("M")
E = TypeVar("E", bound=Event)


def remembered(event: Callable[[M, Bound], E]) -> Callable[[M, Bound], E]:
    """Keep the event of the last bound asked for, so that releasing again and again computes it once.

    The memory is one tuple beside the dataclass' fields: it takes no part in equality, and its exchange is atomic.
    """

    @wraps(event)
    def recall(self: M, bound: Bound) -> E:
        memory: tuple[Bound, E] | None = self.__dict__.get("_remembered")
        if memory is None or (memory[0] is not bound and memory[0] != bound):
            memory = (bound, event(self, bound))
            self.__dict__["_remembered"] = memory
        return memory[1]

    return recall

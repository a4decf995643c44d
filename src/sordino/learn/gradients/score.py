"""The score of a model: what each call with a parameter is, in order, and where the batch lies in what it meets.

It is found by listening to made-up batches of two sizes: what grows with the batch holds examples, and shows where.
Later passes follow the score, so a model whose calls depend on the data, or whose batch is laid out otherwise than in
the rehearsal, does not get through.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from .place import Place, place_of

RULE, SPREAD, DERIVED = "rule", "spread", "derived"
"""What a call with a parameter can be: met by a rule, spread over the batch, or made of parameters alone."""

_LAYER, _POINTWISE = "layer", "pointwise"
Shape = tuple[int, ...]


class UnheardError(Exception):
    """A call with parameters for which there is no rule; `name` says which function it was."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class UnforeseenError(Exception):
    """A pass whose calls are not those of the rehearsal."""


@dataclass(frozen=True)
class Heard:
    """A call as it is heard: the function's name, its kind, the shape that decides, and those of data beside it."""

    name: str
    kind: str
    shape: Shape
    beside: tuple[Shape, ...] = ()

    def role(self, grows: list[bool]) -> str:
        """Return what the call is, given whether each of the shapes grows with the batch."""
        decisive, *companions = grows
        if self.kind == _LAYER:
            return RULE if decisive else DERIVED
        if self.kind != _POINTWISE and any(companions):
            raise UnheardError(self.name)
        return SPREAD if decisive else DERIVED


def layer(name: str, data: Shape) -> Heard:
    """Return what is heard of a call that has a rule."""
    return Heard(name, _LAYER, data)


def pointwise(name: str, wide: Shape) -> Heard:
    """Return what is heard of a call that works entry by entry."""
    return Heard(name, _POINTWISE, wide)


def other(name: str, result: Shape, beside: tuple[Shape, ...]) -> Heard:
    """Return what is heard of any other call."""
    return Heard(name, "other", result, beside)


@dataclass(frozen=True)
class Step:
    """What one call is, and where the batch lies in what it meets."""

    name: str
    role: str
    place: Place | None = None


class Reading(Protocol):
    """Says what a call is, as calls come."""

    def next(self, heard: Heard) -> Step:
        """Return what this call is."""


class Following:
    """Reads from a finished score."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps
        self._at = 0

    def next(self, heard: Heard) -> Step:
        """Return the next step of the score, which must be this call."""
        if self._at >= len(self._steps) or self._steps[self._at].name != heard.name:
            raise UnforeseenError
        self._at += 1
        return self._steps[self._at - 1]

    @property
    def finished(self) -> bool:
        """Whether every step was heard."""
        return self._at == len(self._steps)


class Guessing:
    """Writes a score while it listens to a batch of `size`: first as `roles` says, then by guessing.

    A shape with a multiple of the size in it is guessed to grow with the batch; two batches show whether it does.
    """

    def __init__(self, size: int, roles: list[str]) -> None:
        self._size = size
        self.roles = list(roles)
        self.heard: list[Heard] = []

    def next(self, heard: Heard) -> Step:
        """Return a guess."""
        at = len(self.heard)
        self.heard.append(heard)
        if at == len(self.roles):
            shapes = [heard.shape, *heard.beside]
            self.roles.append(heard.role([any(not size % self._size for size in shape) for shape in shapes]))
        return Step(heard.name, self.roles[at])


def compared(small: Guessing, large: Guessing, sizes: tuple[int, int]) -> tuple[list[str], list[Step] | None]:
    """Return the roles as far as they are known now, and the whole score if all guesses were right."""
    if [each.name for each in small.heard] != [each.name for each in large.heard]:
        raise UnforeseenError
    steps = []
    for at, (one, two) in enumerate(zip(small.heard, large.heard, strict=True)):
        pairs = zip([one.shape, *one.beside], [two.shape, *two.beside], strict=True)
        role = one.role([first != second for first, second in pairs])
        if role != small.roles[at]:
            return [*small.roles[:at], role], None
        place = None if role == DERIVED else place_of(one.shape, two.shape, sizes)
        if role != DERIVED and place is None:
            raise UnheardError(one.name)
        steps.append(Step(one.name, role, place))
    return small.roles, steps


def scattered(step: Step) -> Step:
    """Return the step with the examples' entries laid out one after another instead of together."""
    if step.place is None:
        return step
    return replace(step, place=replace(step.place, together=False))

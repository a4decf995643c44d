"""What a measurement found: a bound on ε, a verdict on the claim, and a witness that anyone can draw again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .betting import least_refutable
from .claim import Claim
from .confidence import epsilon_at_least
from .subject import Release
from .verdict import CHANCE, Verdict
from .writing import read_again, written

if TYPE_CHECKING:
    from .attacks.floating_point import ImpossibleOutputs
    from .curve import TradeOffBounds
    from .features import View

_LONGEST_INPUT = 60
_BLIND = (
    "outputs never come again and hold no numbers that differ; "
    "give view=…, a function of one output that returns what matters in it"
)


class OutputSet(Protocol):
    """A set of outputs; its text says which."""

    def __call__(self, outputs: Any) -> Any:
        """Return for each output whether it belongs to the set."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the set as plain data, whole."""
        ...


@dataclass(frozen=True)
class Witness:
    """Two inputs and an event that is likelier on the first of them than the claim allows, or the likeliest found.

    `here` and `there` count how often it came in `draws` on each; with exact laws they are its probabilities and
    `draws` is None.
    """

    pair: tuple[Any, Any]
    event: OutputSet
    draws: int | None
    here: int | float | Fraction
    there: int | float | Fraction
    delta: float
    confidence: float

    @property
    def epsilon(self) -> float:
        """What these counts show of ε at `delta` with `confidence`; exact where the probabilities are."""
        if self.draws is not None:
            return epsilon_at_least(int(self.here), int(self.there), self.draws, self.delta, self.confidence)
        excess = float(self.here) - self.delta
        if excess <= 0:
            return 0.0
        return max(0.0, math.log(excess / float(self.there))) if self.there else math.inf

    def reproduce(self, release: Release, draws: int | None = None, seed: int | None = None) -> Witness:
        """Draw afresh on both inputs and count again; a `seed` is handed on to a release that takes one by name.

        The event is fixed before the draws are made, so `epsilon` of what is returned is a valid bound by itself.
        """
        wanted = draws if draws is not None else self.draws or 10_000
        counts = []
        for place, value in enumerate(self.pair):
            words = {} if seed is None else {"seed": seed + place}
            counts.append(int(np.count_nonzero(self.event(release(value, wanted, **words)))))
        return replace(self, draws=wanted, here=counts[0], there=counts[1])

    def __str__(self) -> str:
        first, second = map(_shown, self.pair)
        if self.draws is None:
            return (
                f"the event {self.event} has probability {float(self.here):.4g} on {first} "
                f"and {float(self.there):.4g} on {second}"
            )
        return (
            f"the event {self.event} came {self.here:,} times of {self.draws:,} on {first} "
            f"and {self.there:,} of {self.draws:,} on {second}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the witness as plain data."""
        whole = self.draws is not None
        return {
            "pair": [written(value) for value in self.pair],
            "words": str(self.event),
            "event": self.event.to_json(),
            "draws": self.draws,
            "here": int(self.here) if whole else float(self.here),
            "there": int(self.there) if whole else float(self.there),
            "delta": self.delta,
            "confidence": self.confidence,
            "epsilon": _finite(self.epsilon),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], *, view: View | None = None) -> Witness:
        """Return the witness that was written by `to_json`, ready to be drawn again.

        `view` is the function that outputs were seen through, if one was; only its name is written.
        """
        from .events import Event
        from .exact import OutcomeSet

        event: OutputSet = (
            OutcomeSet.from_json(plain["event"])
            if "outcomes" in plain["event"]
            else Event.from_json(plain["event"], view)
        )
        first, second = (read_again(value) for value in plain["pair"])
        counts = {name: plain[name] for name in ("draws", "here", "there", "delta", "confidence")}
        return cls((first, second), event, **counts)


@dataclass(frozen=True)
class Measured:
    """What was measured of one mechanism.

    **Guarantee**: with probability `confidence` or more the mechanism loses at least `epsilon` at `delta` on some pair
    that was tried (exactly, where `exact`); and a mechanism that keeps its claim on these pairs is `refuted` with a
    chance of at most one in a million, all searching included. *Not refuted* promises nothing.
    **Assumes**: what `Subject` assumes.
    """

    epsilon: float
    delta: float
    confidence: float
    refuted: bool
    claim: Claim | None
    draws: int
    """Outputs drawn on each side, on all pairs together."""
    draws_to_refute: int | None = None
    witness: Witness | None = None
    exact: bool = False
    holds: bool = False
    """Whether the claim is known to hold on these pairs, all of it; only where `exact`."""
    trade_off: TradeOffBounds | None = None
    name: str = "mechanism"
    counted: bool = True
    """Whether anything could be counted: some label came again, or some number differed."""
    low_bits: ImpossibleOutputs | None = None
    """What the last bits of doubles give away, where outputs are doubles and inputs numbers; always told."""
    least_draws: int = 0
    """Draws made on that pair which got the fewest."""

    @property
    def verdict(self) -> Verdict:
        """The verdict in one word."""
        if self.refuted:
            return Verdict.REFUTED
        if not self.counted:
            return Verdict.NOTHING_COUNTED
        return Verdict.HOLDS if self.holds else Verdict.NOT_REFUTED

    @property
    def least_refutable(self) -> float | None:
        """How likely, at least, an event that one input alone can cause must be for these draws to refute the claim.

        What happens more seldom on every pair could hardly have been found, even by somebody who knew of it. None where
        nothing is claimed, or nothing was drawn.
        """
        if self.claim is None or self.exact:
            return None
        return least_refutable(self.least_draws, self.claim.points)

    def __str__(self) -> str:
        at = f" at δ = {self.delta:g}" if self.delta else ""
        sure = "" if self.exact else f" ({100 * self.confidence:g} %)"
        shown = f"ε {'=' if self.exact else '≥'} {self.epsilon:.3g}{at}{sure}"
        if not self.counted:
            lines = [f"{self.name}: {self.verdict}: {_BLIND}"]
        elif self.claim is None:
            lines = [f"{self.name}: {shown}; nothing was claimed"]
        else:
            promised = self.claim.epsilon_at(self.delta)
            lines = [f"{self.verdict}: {shown} where {promised:.4g} was claimed{self._remark(promised)}"]
        if self.witness is not None:
            lines[0] += f"; {self.witness}"
        if self.draws_to_refute is not None:
            lines.append(
                f"certain after {self.draws_to_refute:,} draws on each side; "
                f"an honest mechanism is accused with a chance of at most {CHANCE:g}"
            )
        return "\n".join([*lines, *self._further])

    @property
    def _further(self) -> Iterator[str]:
        """What else there is to say: what could not have been found, and what low bits give away."""
        least = None if self.refuted or not self.counted else self.least_refutable
        if least is not None:
            yield (
                f"with {self.least_draws:,} draws on each side of a pair nothing could be refuted that happens on one "
                f"input alone with a probability below {least:.1g}"
            )
        if self.low_bits is not None and self._bits_refute:
            yield (
                f"in floating point: {self.low_bits}; "
                "this is judged too where low_bits=True, as the program's noise, not its formula, is at fault"
            )

    @property
    def _bits_refute(self) -> bool:
        points = self.claim.points if self.claim is not None else ((0.0, self.delta),)
        return self.low_bits is not None and any(self.low_bits.refutes(epsilon, delta) for epsilon, delta in points)

    def _remark(self, promised: float) -> str:
        if self.refuted and self.epsilon <= promised and not self.exact:
            return " (all bets together refute it; fresh draws of one event show this much)"
        if self.refuted or self.exact or self.epsilon <= promised:
            return ""
        return " (more than that, but an honest mechanism may show this by chance: draw more to be certain)"

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "name": self.name,
            "verdict": str(self.verdict),
            "epsilon": _finite(self.epsilon),
            "delta": self.delta,
            "confidence": self.confidence,
            "refuted": self.refuted,
            "exact": self.exact,
            "claim": None if self.claim is None else self.claim.to_json(),
            "draws": self.draws,
            "draws_to_refute": self.draws_to_refute,
            "witness": None if self.witness is None else self.witness.to_json(),
            "counted": self.counted,
            "least_refutable": self.least_refutable,
            "low_bits": None if self.low_bits is None else self.low_bits.to_json(),
            "trade_off": None if self.trade_off is None else self.trade_off.to_json(),
        }


def _finite(number: float) -> float | str:
    """Return a number as JSON may hold it."""
    return number if math.isfinite(number) else "∞"


def _shown(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST_INPUT else f"{text[: _LONGEST_INPUT - 1]}…"

"""Impossible numbers: outputs of a noisy answer in floating point that only one of two true answers can give.

Whoever adds a double to a double leaves traces in the low bits. Three kinds of events are tried, each named before the
outputs that judge it are looked at, so that a finding holds whatever the mechanism really does:

*rounding*   the output is not the neighbour plus any double at all;
*sampler*    the output is not the neighbour plus a double that a given sampler can make;
*low bits*   the output, or its distance from either true answer, lies on a finer grid of powers of two than some step.

**Source**: Mironov 2012; Jin, McMurtry, Rubinstein, Ohrimenko 2022; Haney, Desfontaines, Hartman, Shrestha, Hay 2022
(attacks by precision, which are the low bits here).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.arguments import Number, numbers, probability, rational, whole
from sordino.audit.verdict import CHANCE
from sordino.errors import ArgumentError

from .doubles import ANY_DOUBLE, FloatSampler, lowest_bit, reachable
from .drawing import PRIVATE, RAW, Axes, Figure, side_by_side
from .rates import Rate, share_of

Draw = Callable[[float, int], Any]
"""Returns so many independent outputs for a true answer."""

_STEPS = np.array([*range(-120, -20, 2), *range(-20, 21)])


@dataclass(frozen=True)
class Trace:
    """One kind of output, in words, and how often it was seen under either true answer."""

    words: str
    under_value: Rate
    under_neighbour: Rate

    @property
    def only_one(self) -> bool:
        """Whether one of the two true answers never gave such an output, and the other did."""
        return (self.under_value.hits > 0) != (self.under_neighbour.hits > 0)

    @property
    def share(self) -> float:
        """How often it was seen where it was seen more often."""
        return max(self.under_value.share, self.under_neighbour.share)

    def epsilon(self, confidence: Number) -> float:
        """Return a lower bound on the ε of whatever draws so, by exact intervals; 0 where nothing is shown."""
        (low, high), (other_low, other_high) = self._intervals(confidence)
        return max(0.0, _log_ratio(low, other_high), _log_ratio(other_low, high))

    def excess(self, epsilon: float, delta: float, confidence: Number) -> float:
        """Return by how much, at least, the chance of such an output exceeds what (ε, δ) allows; 0 or less if not."""
        (low, high), (other_low, other_high) = self._intervals(confidence)
        factor = math.exp(min(epsilon, 700.0))
        return max(low - factor * other_high, other_low - factor * high) - delta

    def _intervals(self, confidence: Number) -> tuple[tuple[float, float], tuple[float, float]]:
        each = 1 - (1 - probability("confidence", confidence)) / 2
        return self.under_value.interval(each), self.under_neighbour.interval(each)

    def __str__(self) -> str:
        return f"{self.words}: {self.under_value.share:.1%} against {self.under_neighbour.share:.1%}"


@dataclass(frozen=True)
class ImpossibleOutputs:
    """What low bits give away: `traces` with the strongest first, and the lower bound on ε that they prove together."""

    value: float
    neighbour: float
    draws: int
    confidence: float
    traces: tuple[Trace, ...]
    epsilon: float
    sample: tuple[NDArray[np.int64], NDArray[np.int64]]
    """The finest grid that each output lies on, under either true answer: for the figure."""

    @property
    def share(self) -> float:
        """The largest share of outputs that give the true answer away: of a kind that only one of the two ever gave.

        Kinds so rare that this may be chance do not count.
        """
        sure = [trace for trace in self.traces if trace.only_one and trace.epsilon(self._surely)]
        return max((trace.share for trace in sure), default=0.0)

    def refutes(self, epsilon: Number, delta: Number = 0, *, chance: float = CHANCE) -> bool:
        """Tell whether a claim of (ε, δ) is refuted, up to `chance`, whatever confidence was asked for."""
        claimed = float(rational("epsilon", epsilon, least=0)), float(rational("delta", delta, least=0, most=1))
        surely = 1 - chance / len(self.traces)
        return any(trace.excess(*claimed, surely) > 0 for trace in self.traces)

    def to_json(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        traces = [
            {"words": each.words, "under_value": each.under_value.hits, "under_neighbour": each.under_neighbour.hits}
            for each in self.traces
        ]
        return {
            "value": self.value,
            "neighbour": self.neighbour,
            "draws": self.draws,
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "share": self.share,
            "traces": traces,
        }

    @property
    def _surely(self) -> float:
        """The confidence that each trace needs so that all of them together err once in a million."""
        return 1 - CHANCE / len(self.traces)

    def __str__(self) -> str:
        best = self.traces[0]
        found = f"{self.share:.0%} of outputs give away whether the answer was {self.value:g} or {self.neighbour:g}"
        return f"{found}; ε ≥ {self.epsilon:.1f} at {self.confidence:.0%} ({best})"

    @property
    def headline(self) -> str:
        """What the figure says."""
        return f"{self.share:.0%} of the outputs give the true answer away"

    def figure(self, beside: ImpossibleOutputs | None = None) -> Figure:
        """Return on which grids the outputs lie, under either true answer: private noise gives one picture, not two."""
        return side_by_side("The low bits of the outputs", self, beside)

    def draw(self, axes: Axes) -> None:
        """Draw the shares of grids on a plot."""
        low = min(int(each.min()) for each in self.sample)
        high = max(int(each[each < 1000].max(initial=low)) for each in self.sample)
        edges = np.arange(low - 0.5, high + 1.5)
        labels = (f"true answer {self.value:g}", f"true answer {self.neighbour:g}")
        for each, colour, label in zip(self.sample, (RAW, PRIVATE), labels, strict=True):
            heights = np.histogram(each, edges)[0] / len(each)
            axes.stairs(heights, edges, color=colour, fill=True, alpha=0.25)
            axes.stairs(heights, edges, color=colour, linewidth=1.8, label=label)
        axes.set(xlabel="k, where the output is an odd multiple of 2^k", ylabel="share of outputs", yscale="log")
        axes.tick_params(which="both", length=0)
        axes.legend(frameon=False, fontsize=9)


def impossible_outputs(
    draw: Draw,
    value: float,
    neighbour: float,
    *,
    draws: int = 100_000,
    sampler: FloatSampler | None = None,
    scale: float = 1.0,
    confidence: Number = "0.99",
) -> ImpossibleOutputs:
    """Return what the low bits of `draw(value, n)` give away about which of two true answers was noised.

    Half of the draws choose which grids to look at, the other half judge. `sampler`, with the `scale` of its noise,
    adds the question whether that very sampler can reach an output (`TEXTBOOK`, `NUMPY`, or one of your own).

    **Guarantee**: `epsilon` is exceeded by the true ε with the confidence given, if outputs are independent; samplers
    only propose what to count. **Assumes**: `draw` returns finite doubles.

    >>> from sordino.audit.dice import dice
    >>> naive = impossible_outputs(lambda v, n: v + dice(1).laplace(0, 1, n), 0.0, 1.0)
    >>> naive.share > 0.4 and naive.refutes(1)
    True
    """
    one, other = float(rational("value", value)), float(rational("neighbour", neighbour))
    half = whole("draws", draws, least=2) // 2
    chance = 1 - probability("confidence", confidence)
    explored = _outputs(draw, one, half), _outputs(draw, other, half)
    judged = _outputs(draw, one, half), _outputs(draw, other, half)
    events = [*_out_of_reach(one, other, sampler, float(rational("scale", scale, above=0)))]
    events += [_finest_difference(*explored, centre) for centre in dict.fromkeys((0.0, one, other))]
    traces = [Trace(words, share_of(event(judged[0])), share_of(event(judged[1]))) for words, event in events]
    each = 1 - chance / len(traces)
    traces.sort(key=lambda trace: (trace.epsilon(each), trace.share), reverse=True)
    bits = lowest_bit(judged[0]), lowest_bit(judged[1])
    return ImpossibleOutputs(one, other, half, float(1 - chance), tuple(traces), traces[0].epsilon(each), bits)


Event = Callable[[Floats], NDArray[np.bool_]]


def _out_of_reach(
    value: float, neighbour: float, sampler: FloatSampler | None, scale: float
) -> Iterator[tuple[str, Event]]:
    for way in (ANY_DOUBLE, sampler):
        if way is None:
            continue
        for centre in (value, neighbour):
            yield (
                f"not {centre:g} plus {way.name}",
                lambda outputs, way=way, centre=centre: ~reachable(outputs, centre, way, scale),  # type: ignore[misc]
            )


def _finest_difference(one: Floats, other: Floats, centre: float) -> tuple[str, Event]:
    """Return the event, among grids about `centre`, that tells two explored samples apart best."""
    bits = lowest_bit(one - centre), lowest_bit(other - centre)
    shares = [np.searchsorted(np.sort(each), _STEPS, side="left") / len(each) for each in bits]
    # The ratio decides, but a share must be large enough to be seen again: half an output is added to both.
    smooth = [np.log(share + 0.5 / len(one)) for share in shares]
    step = int(_STEPS[np.argmax(np.abs(smooth[0] - smooth[1]))])
    name = f"less {centre:g} " if centre else ""
    return f"{name}not a multiple of 2^{step}", lambda outputs: lowest_bit(outputs - centre) < step


def _outputs(draw: Draw, value: float, count: int) -> Floats:
    found = numbers("the outputs of draw", draw(value, count)).astype(float).ravel()
    if len(found) != count or not np.isfinite(found).all():
        raise ArgumentError(f"draw(value, n) must return n finite numbers; asked for {count}", "SRD-V014")
    return found


def _log_ratio(low: float, high: float) -> float:
    return math.log(low / high) if low > 0 else 0.0

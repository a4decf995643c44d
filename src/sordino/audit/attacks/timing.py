"""Time as a side channel: whether how long a call takes depends on the secret that it was given, or on what it drew.

**Source**: Jin, McMurtry, Rubinstein, Ohrimenko 2022, *Are we there yet? Timing and floating-point attacks on
differential privacy systems*; Haeberlen, Pierce, Narayan 2011 for queries. The statistics: Kruskal, Wallis 1952.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.arguments import numbers, whole
from sordino.audit.dice import dice
from sordino.errors import ArgumentError

from .dependence import Dependence, dependence
from .drawing import INK, PRIVATE, RAW, Axes, Figure, side_by_side

Clock = Callable[[], float]
_COLOURS = (RAW, PRIVATE, "#3a8f5c", "#8a5fbf", "#b7791f")


@dataclass(frozen=True)
class Timed:
    """How long calls took, by the class of their secret, and whether the two depend on each other."""

    labels: tuple[str, ...]
    classes: NDArray[np.int64]
    times: Floats
    judged: Dependence

    @property
    def depends(self) -> bool:
        """Whether time tells something of the secret, with a chance of at most one in a million to say so in vain."""
        return self.judged.certain

    def __str__(self) -> str:
        verdict = "depends on the secret" if self.depends else "is not seen to depend on the secret"
        return f"time {verdict}: {self.judged}, {len(self.times):,} calls"

    @property
    def headline(self) -> str:
        """What the figure says."""
        said = "depends on the secret" if self.depends else "is not seen to depend on the secret"
        return f"time {said}, {self.judged.bits:.3f} bits"

    def figure(self, beside: Timed | None = None) -> Figure:
        """Return, for each class, the share of calls that had ended by each time: one curve if nothing leaks."""
        return side_by_side("Does time tell?", self, beside)

    def draw(self, axes: Axes) -> None:
        """Draw the curves on a plot."""
        for number, label in enumerate(self.labels):
            mine = np.sort(self.times[self.classes == number])
            colour = _COLOURS[number % len(_COLOURS)]
            axes.step(mine, (np.arange(len(mine)) + 1) / len(mine), where="post", color=colour, label=label)
        low, high = np.quantile(self.times, [0.0, 0.99])
        axes.set(xlabel="time of a call, in units of the clock", ylabel="share of calls that have ended")
        axes.set(xscale="log" if low > 0 else "linear", xlim=(low, high if high > low else low + 1))
        axes.tick_params(which="both", length=0)
        axes.legend(loc="lower right", frameon=False, fontsize=9, labelcolor=INK)


def timing(
    call: Callable[[Any], Any],
    inputs: Sequence[Any],
    *,
    rounds: int = 500,
    clock: Clock = time.perf_counter_ns,
    warm_up: int = 20,
    seed: int | None = None,
) -> Timed:
    """Return whether the time of ``call(secret)`` depends on which of `inputs` the secret is.

    Every round calls each input once, in an order drawn afresh, so that a machine that slows down or warms up favours
    none of them. Labels of the figure are numbers, never the inputs themselves.

    **Guarantee**: if time does not depend on the input, *depends* is said with a chance of at most one in a million,
    whatever the load of the machine does, as long as it does not follow the order of the calls.
    """
    secrets = list(inputs)
    if len(secrets) < 2:
        raise ArgumentError("timing compares at least two inputs", "SRD-A001")
    count, before = whole("rounds", rounds, least=8), whole("warm_up", warm_up, least=0)
    orders = dice(seed).permuted(np.tile(np.arange(len(secrets)), (count + before, 1)), axis=1)
    taken = np.array([_stopwatch(partial(call, secrets[at]), clock)[0] for at in orders.ravel().tolist()])
    times = taken.reshape(orders.shape)
    labels = tuple(f"input {number + 1}" for number in range(len(secrets)))
    judged = dependence(orders[before:], times[before:], rounds=True, seed=seed)
    return Timed(labels, orders[before:].ravel(), times[before:].ravel(), judged)


def timing_of_outcomes(
    call: Callable[[], Any],
    *,
    secret: Callable[[Any], float] = abs,
    classes: int = 4,
    calls: int = 4000,
    clock: Clock = time.perf_counter_ns,
    warm_up: int = 100,
    seed: int | None = None,
) -> Timed:
    """Return whether the time of ``call()`` depends on what it returned: on ``secret(outcome)``, by default its size.

    A sampler that takes longer for larger noise lets whoever holds a stopwatch take the noise away again. Outcomes are
    put into so many `classes` of equal size, where ties allow. **Assumes**: draws are independent of each other.
    """
    total, before = whole("calls", calls, least=16), whole("warm_up", warm_up, least=0)
    drawn = [_stopwatch(call, clock) for _ in range(total + before)][before:]
    sizes = numbers("secret(outcome)", [float(secret(outcome)) for _, outcome in drawn]).astype(float)
    inner = np.quantile(sizes, np.linspace(0, 1, whole("classes", classes, least=2) + 1)[1:-1])
    groups = np.unique(np.searchsorted(np.unique(inner), sizes, side="left"), return_inverse=True)[1]
    if not groups.any():
        raise ArgumentError("all outcomes are alike, so nothing can depend on them; draw more", "SRD-A001")
    labels = tuple(f"outcomes up to {sizes[groups == number].max():g}" for number in range(int(groups.max()) + 1))
    times = np.array([taken for taken, _ in drawn], dtype=float)
    return Timed(labels, groups, times, dependence(groups, times, seed=seed))


def _stopwatch(call: Callable[[], Any], clock: Clock) -> tuple[float, Any]:
    """Return how long a call took, and what it returned."""
    begun = clock()
    outcome = call()
    return float(clock() - begun), outcome

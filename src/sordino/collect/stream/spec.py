"""What a stream counts, in the words of its user: `counting`, `summing`, `histogram`, `top_k`.

All of it is public and declared before the first step: how many steps there are at most, and what one person can add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.arguments import Number, one_of, rational, whole
from sordino.errors import ArgumentError
from sordino.mechanisms.grid import floor_log2

from .buffered_sum import Buffered
from .people import MOST_STEPS, Arrivals
from .square_root import SquareRoot
from .strategy import Strategy
from .tree import Tree

if TYPE_CHECKING:
    from sordino.data.account import DataAccount

    from .price import StreamPrice
    from .stream import Stream

STRATEGIES = ("buffered", "square-root", "tree", "weighted-tree")
MOST_EVENTS_A_STEP = 100_000
_UNITS = 20
"""A sum is counted in units that are 2^20 times finer than the larger of its bounds."""


@dataclass(frozen=True)
class StreamSpec:
    """A stream as it was declared; build it with `counting`, `summing`, `histogram` or `top_k`.

    `exponent` says in which units sums are counted: 2^exponent. `low` and `high` are the bounds of one event's value in
    these units; a count's are 0 and 1. With `enforced` the stream itself leaves out a person's events beyond what was
    declared. `window` asks for the last so many steps instead of all, `top` for the largest
    cells alone.
    """

    steps: int
    arrivals: Arrivals
    low: int = 0
    high: int = 1
    exponent: int = 0
    keys: tuple[str, ...] | None = None
    top: int | None = None
    window: int | None = None
    strategy: str = "buffered"
    buffers: int = 8
    enforced: bool = False

    @property
    def unit(self) -> Fraction:
        """What one unit is worth."""
        return Fraction(2) ** self.exponent

    def tactics(self) -> Strategy:
        """Return the strategy with the numbers that it multiplies with."""
        if self.strategy == "square-root":
            return SquareRoot(self.steps)
        if self.strategy == "buffered":
            horizon = None if self.window is None else 2 * self.window
            return Buffered.over(self.steps, self.buffers, horizon)
        return Tree(self.steps, weighted=self.strategy == "weighted-tree")

    def price(
        self,
        budget: Any = None,
        *,
        rho: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
    ) -> StreamPrice:
        """Return what the whole stream costs and how far off its numbers will be; nothing is charged.

        `budget` is the account that it would be charged to, if it is known already.
        """
        from .price import price_stream

        return price_stream(budget, self, rho=rho, epsilon=epsilon, delta=delta)

    def opened_on(self, account: DataAccount[Any], /, **words: Any) -> Stream:
        """Open the stream on an account, as `open_stream` does: ``budget.stream(counting(steps=…), rho=…)``."""
        from .opening import open_stream

        return open_stream(account, self, **words)


def counting(
    steps: int,
    *,
    events: int = 1,
    apart: int = 0,
    most: int = MOST_EVENTS_A_STEP,
    window: int | None = None,
    strategy: str = "buffered",
    buffers: int = 8,
    enforced: bool = False,
) -> StreamSpec:
    """Return a stream of running counts: how many events there were until each step.

    Args:
        steps: how many steps there are at most; longer is another stream, charged anew.
        events: the most events of one person in the whole stream. With 1, and a person of many events, it is single
            events that are protected.
        apart: how many steps any two events of one person are apart, at least; 0 if they may share a step.
        most: the most events that a step can hold; what is above is not counted.
        window: count the last so many steps alone, up to 2,048.
        strategy: "buffered", or for comparison "square-root" (short streams), "tree", "weighted-tree".
        buffers: how many exponentials "buffered" has.
        enforced: hand over single events with their people's ids (`add_events`): the stream counts how often each
            person came, and leaves out what is beyond `events` and `apart`. Else whoever counts must see to that.

    >>> counting(steps=10**6).arrivals.events
    1
    """
    return _declared(steps, None, events, apart, most, window, strategy, buffers, enforced)


def summing(
    steps: int,
    bounds: tuple[Number, Number],
    *,
    events: int = 1,
    apart: int = 0,
    most: int = MOST_EVENTS_A_STEP,
    window: int | None = None,
    strategy: str = "buffered",
    buffers: int = 8,
    enforced: bool = False,
) -> StreamSpec:
    """Return a stream of running sums of events' values, each clipped to `bounds`; see `counting` for the rest.

    >>> summing(100, bounds=(0, 60)).exponent
    -15
    """
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ArgumentError("bounds must be two numbers, (low, high)", "SRD-A001")
    low, high = rational("bounds", bounds[0]), rational("bounds", bounds[1])
    if low > high or not (low or high):
        raise ArgumentError("bounds must be (low, high) with low below high, and not both 0", "SRD-A003")
    return _declared(steps, (low, high), events, apart, most, window, strategy, buffers, enforced)


def histogram(
    steps: int,
    keys: Sequence[str],
    *,
    events: int = 1,
    apart: int = 0,
    most: int = MOST_EVENTS_A_STEP,
    window: int | None = None,
    strategy: str = "buffered",
    buffers: int = 8,
    enforced: bool = False,
    top: int | None = None,
) -> StreamSpec:
    """Return a stream of running counts for each of `keys`, which are public; an event has one of them.

    With `top`, only the keys with so many largest counts are released after each step. See `counting` for the rest.

    >>> histogram(100, ["bus", "tram"]).arrivals.cells
    2
    """
    named = tuple(keys) if isinstance(keys, Sequence) and not isinstance(keys, str) else ()
    plain = all(isinstance(each, str) and not any("\ud800" <= letter <= "\udfff" for letter in each) for each in named)
    if not named or not plain or len(set(named)) != len(named):
        raise ArgumentError("keys must be Unicode texts, one or more, no two alike", "SRD-A001")
    largest = None if top is None else whole("top", top, least=1, most=len(named))
    return _declared(steps, None, events, apart, most, window, strategy, buffers, enforced, named, largest)


def top_k(steps: int, keys: Sequence[str], k: int, **options: Any) -> StreamSpec:
    """Return a stream of the `k` keys with the largest counts so far, and these; options as for `histogram`.

    >>> top_k(100, ["bus", "tram", "train"], 2).top
    2
    """
    return histogram(steps, keys, top=k, **options)


def _declared(
    steps: int,
    bounds: tuple[Fraction, Fraction] | None,
    events: int,
    apart: int,
    most: int,
    window: int | None,
    strategy: str,
    buffers: int,
    enforced: bool,
    keys: tuple[str, ...] | None = None,
    top: int | None = None,
) -> StreamSpec:
    exponent, low, high = 0, 0, 1
    if bounds is not None:
        exponent = floor_log2(max(map(abs, bounds))) - _UNITS
        low, high = (round(each / Fraction(2) ** exponent) for each in bounds)
    each = max(abs(low), abs(high))
    length = whole("steps", steps, least=1, most=MOST_STEPS)
    held = whole("most", most, least=1, most=1 << 26)
    arrivals = Arrivals(1 if keys is None else len(keys), each, each * held, events, apart)
    recent = None if window is None else whole("window", window, least=1, most=2048)
    way = one_of("strategy", strategy, STRATEGIES)
    return StreamSpec(
        length,
        arrivals,
        low,
        high,
        exponent,
        keys,
        top,
        None if recent is None or recent >= length else recent,
        way,
        whole("buffers", buffers, least=1, most=64),
        bool(enforced),
    )

"""The neighbour oracle: the same question to both services, and everything but the noise must be the same.

Where something differs once, it is asked about again and again: only what differs on fresh answers, by more than the
claimed (ε, δ) allows, is a finding. What touches no data has no noise, so there nothing may differ at all.

**Guarantee**: the chance that an honest service is accused of anything by this oracle is at most `CHANCE`, over all
questions and observables: each test takes `CHANCE`/`_MOST_TESTS`, and when that many were made no more are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import numpy as np

from sordino.audit.verdict import CHANCE

from .finding import Notebook, Probed
from .line import Line, Seen, Standing
from .observables import GROUP, Observed, of_budget, of_numbers, of_refusal_or_price, of_run
from .questions import Probe

_CELLS = 4000
_MOST_TESTS = 1000
_ROUNDS = ((4, 0.9), (24, 0.05), (120, 0.0))
"""How often both are asked again, each time afresh, and the chance below which it goes on to the next round."""
_ROUNDS_OF_GROUPS = ((24, 0.3), (120, 0.0))
"""The same for groups that come and go."""
_MOST_AT_ONCE = 12
_LOOKS_AT_GROUPS = 15
"""How often a question with private keys is asked again to see groups that show now and then."""
_LOOKS_AT_BUDGETS = 3
"""A budget may begin anew between two looks at it; what depends on a person differs whenever one looks."""
_MOST_OF_ONE = 4
"""How often one observable is looked at at length: what proves random so often is noise, such as bounds found."""
_REFUSED = (400, 401, 402, 403, 404, 409, 413, 422, 429, 503)
"""What is said before data is touched; all else than these and 200 came after."""

Asking = Callable[[Line], Observed]


@dataclass(frozen=True)
class Promise:
    """What a difference may amount to."""

    epsilon: float = 0.0
    delta: float = 0.0


class Oracle:
    """Two services, with and without one person, asked side by side."""

    def __init__(self, with_: Line, without: Line, dataset: str, epsilon: str) -> None:
        self._lines = with_, without
        self._dataset = dataset
        self._epsilon = epsilon
        self._note = Notebook("neighbour oracle")
        self._charging = Notebook("charging")
        self._tests = 0
        self._random: Counter[str] = Counter()
        self._granted = [0, 0]
        self.answered = 0
        """Questions that both services answered."""

    def ask(self, question: Probe) -> None:
        """Price a question and run it at both services; compare all that is seen, and what was charged."""
        asked = question.asked(self._dataset, self._epsilon)
        prices = [line.price(asked) for line in self._lines]
        self._compare(
            [of_refusal_or_price(price) for price in prices],
            lambda line: of_refusal_or_price(line.price(asked)),
            Promise(),
            prices[0].request,
        )
        promise = _promised(prices[0], self._epsilon)
        runs = [self._charged(line, asked, price) for line, price in zip(self._lines, prices, strict=True)]
        answered = all(seen.status == 200 for seen in runs)
        self.answered += answered

        def again(line: Line) -> Observed:
            return of_run(self._run(line, asked), question)

        seen = [of_run(run, question) for run in runs]
        if answered and not question.public:
            for line, found in zip(self._lines, seen, strict=True):
                for _ in range(_LOOKS_AT_GROUPS):
                    found |= {name: said for name, said in again(line).items() if name.startswith(GROUP)}
        self._compare(seen, again, promise, runs[0].request)
        if answered and question.public and self.in_step:
            self._compare_numbers(runs, asked, question, promise)
        if self.in_step:
            self._compare_budgets()

    def _compare_numbers(self, runs: list[Seen], asked: Mapping[str, Any], question: Probe, promise: Promise) -> None:
        """Look for numbers, and widths of intervals, that stay as they are and yet differ: there is no noise on them.

        Most change with every answer, so both are asked once more before anything is looked at at length.
        """

        def again(line: Line) -> Observed:
            seen = self._run(line, asked)
            return of_numbers(seen, question) if seen.status == HTTPStatus.OK else {}

        first, second = [of_numbers(run, question) for run in runs], [again(line) for line in self._lines]
        still = [
            {name: said for name, said in once.items() if twice.get(name) == said}
            for once, twice in zip(first, second, strict=True)
        ]
        fixed = still[0].keys() & still[1].keys()
        self._compare([{name: side[name] for name in sorted(fixed)} for side in still], again, promise, runs[0].request)

    @property
    def in_step(self) -> bool:
        """Whether both services have answered as often; if not, their budgets say nothing any more."""
        return self._granted[0] == self._granted[1]

    def _run(self, line: Line, asked: Mapping[str, Any]) -> Seen:
        seen = line.run(asked)
        self._granted[self._lines.index(line)] += seen.status == 200
        return seen

    def _compare_budgets(self) -> None:
        differs: list[str] = []
        for _ in range(_LOOKS_AT_BUDGETS):
            differs = _differing(*(of_budget(line.standing(self._dataset)) for line in self._lines))
            if not differs:
                break
        words = f"{', '.join(differs)}, after the same runs"
        self._note.check(not differs, "a balance depends on one person", words, f"GET {self._path} at both services")

    def catalogue(self) -> None:
        """Compare what is listed about the data set."""
        path = f"/datasets/{self._dataset}"

        def look(line: Line) -> Observed:
            seen = line.get(path)
            body = seen.body if isinstance(seen.body, dict) else {}
            return {"status": str(seen.status)} | {
                name: repr(value) for name, value in body.items() if name not in ("registered", "budget")
            }

        here, there = (look(line) for line in self._lines)
        differs = _differing(here, there)
        self._note.check(
            not differs,
            "the catalogue depends on one person",
            ", ".join(differs),
            f"GET /api/v1{path} at both services",
        )

    def probed(self) -> tuple[Probed, Probed]:
        """Return what was found: differences, and charges that were not as they must be."""
        ended = None if self.in_step else "ended when one service had answered more often than the other"
        return self._note.probed(ended), self._charging.probed()

    @property
    def _path(self) -> str:
        return f"/api/v1/budgets/dataset/{self._dataset}"

    # ---- charging

    def _charged(self, line: Line, asked: Mapping[str, Any], price: Seen) -> Seen:
        """Run a question between two looks at the budget."""
        before = line.standing(self._dataset)
        seen = self._run(line, asked)
        after = line.standing(self._dataset)
        self._check_charge(seen, price, before, after)
        return seen

    def _check_charge(self, seen: Seen, price: Seen, before: Standing, after: Standing) -> None:
        new = after.charges - before.charges
        moved = after.used != before.used or new != 0
        steps = f"GET {self._path}", seen.request, f"GET {self._path}"
        words = f"status {seen.status}, {new} new charges, used part changed by {after.used - before.used:.3g}"
        if seen.status == 200:
            self._charging.check(new == 1 and after.used > before.used, "answered without a charge", words, *steps)
        elif seen.status in _REFUSED:
            self._charging.check(not moved, "refused and charged", words, *steps)
        elif price.status == 200:
            self._charging.check(new == 1, "failed after it was priced, and not charged", words, *steps)

    # ---- differences

    def _compare(self, seen: list[Observed], again: Asking, promise: Promise, request: str) -> None:
        """Look for differences, and at those that are new at length."""
        here, there = seen
        self._note.check(holds=True, name="", seen="")
        names = [name for name in _differing(here, there) if self._new(_title(name))]
        if names:
            pairs = {name: (here.get(name), there.get(name)) for name in names[:_MOST_AT_ONCE]}
            self._random.update({_title(name) for name in pairs})
            self._confirm(pairs, again, promise, request)

    def _new(self, title: str) -> bool:
        return self._random[title] < _MOST_OF_ONE and not self._note.found(title)

    def _confirm(
        self, pairs: Mapping[str, tuple[str | None, str | None]], again: Asking, promise: Promise, request: str
    ) -> None:
        """Ask again at both services until each difference is certain or gone; the first in order is written down."""
        groups = any(name.startswith(GROUP) for name in pairs)
        for draws, go_on in _ROUNDS_OF_GROUPS if groups else _ROUNDS:
            if self._tests + 2 * len(pairs) > _MOST_TESTS:
                return
            # In turns, so that whatever else the machines do weighs on both alike.
            turns = [[again(line) for line in self._lines] for _ in range(draws)]
            drawn = [list(side) for side in zip(*turns, strict=True)]
            going = {}
            for name, (here, there) in pairs.items():
                least, words = min(
                    self._tested(drawn, name, here, promise), self._tested(drawn[::-1], name, there, promise)
                )
                if least < CHANCE / _MOST_TESTS:
                    self._note.check(False, _title(name), words, f"{request} at both services", chance=least)
                    return
                if least < go_on:
                    going[name] = (here, there)
            if not going:
                return
            pairs = going

    def _tested(self, drawn: list[list[Observed]], name: str, value: str | None, promise: Promise) -> tuple[float, str]:
        self._tests += 1
        first, other = (sum(each.get(name) == value for each in side) for side in drawn)
        draws = len(drawn[0])
        words = f"seen in {first} of {draws} answers of one service and in {other} of {draws} of the other"
        return chance(first, other, draws, promise.epsilon, promise.delta), words


def _differing(here: Observed, there: Observed) -> list[str]:
    return [name for name in {**here, **there} if here.get(name) != there.get(name)]


def _title(name: str) -> str:
    return "a group depends on one person" if name.startswith(GROUP) else f"{name} depends on one person"


def _promised(price: Seen, epsilon: str) -> Promise:
    match price.body:
        case {"epsilon": str(said), "delta": str() | None as delta} if price.status == 200:
            return Promise(float(said), float(delta or 0))
    return Promise(float(epsilon))


def chance(seen: int, seen_without: int, draws: int, epsilon: float = 0.0, delta: float = 0.0) -> float:
    """Return how likely counts like these are at most under (ε, δ)-differential privacy: a p-value.

    Something was seen in `seen` of `draws` answers with the person and in `seen_without` of as many without.

    **Guarantee**: of services whose probabilities keep p ≤ e^ε·p′ + δ, at most a share α has a chance of α or less.
    Proof: P[X ≥ seen] at p and P[Y ≤ seen_without] at p′ are independent p-values, so their product is z or less with
    probability at most z(1 − ln z) (Fisher 1925). The first factor grows with p′, the second falls; so on every cell of
    a partition of [0, 1] the first is taken at the upper end and the second at the lower, and the worst cell counts.

    >>> chance(24, 0, 24) < 1e-12
    True
    >>> chance(14, 10, 24) > 0.05
    True
    """
    from scipy.stats import binom

    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    highest = np.minimum(1.0, np.exp(epsilon) * edges[1:] + delta)
    product = float(np.max(binom.sf(seen - 1, draws, highest) * binom.cdf(seen_without, draws, edges[:-1])))
    return min(1.0, product * (1 - math.log(product))) if product > 0 else 0.0

"""A search for settings as a plan: a random number of trials of which the best is shown, charged as one.

A trial draws settings from a public list, all alike, trains with them and releases a private score. Nothing of it is
shown but, of the trial with the highest score, its settings, weights and score.

**Guarantee**: what leaves is priced by the event of the plan: the best of K runs of one and the same mechanism, where K
has the law of `trials`.
**Proof.** One trial is: settings by public coins, then the training, then the score. Whatever the settings, the
training costs at most what `pace` costs (`dominating`), and a mixture that shows which part it is of costs at most
what its dearest part costs; so the trial is at most `pace` composed with the score. Trials are run alike and
independently, ordered by score, ties are broken by a fair draw, and a trial that fails ranks below all others: the best
of K (``accounting.searched``).
**Assumes**: nobody watches the trials. Their number shows in how long a search takes; see the known limits.
**Source**: Papernot, Steinke 2022.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from sordino.accounting.account import unlimited
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Composed, Gaussian
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan
from sordino.accounting.relation import charged_as
from sordino.accounting.work import Work, carry_out
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, GrantError

from .examples import Examples
from .plan import TrainingPlan
from .pricing import used_whole
from .sampling import Poisson, Sampler
from .score import Score, ScorePlan
from .trials import Trials

Value = bool | int | float | str | None
Settings = Mapping[str, Value]
"""One choice of settings, by name: public."""
Space = Mapping[str, Sequence[Value]]
"""For each setting the values that it may take: all combinations are candidates, and equally likely."""

MOST_CANDIDATES = 1000


def candidates_of(space: Space) -> list[dict[str, Value]]:
    """Return all combinations of values; refuse what is no space, or too large a one to be tried beforehand."""
    if not isinstance(space, Mapping) or not space or not all(_is_list(values) for values in space.values()):
        raise ArgumentError('space must be a dict from names to lists of values: {"rate": [0.1, 0.5]}', "SRD-A001")
    if not all(isinstance(name, str) and all(map(_is_value, values)) for name, values in space.items()):
        raise ArgumentError("a setting has a name, and numbers, texts, True, False or None for values", "SRD-A001")
    number = math.prod(len(values) for values in space.values())
    if number > MOST_CANDIDATES:
        raise ArgumentError(
            f"the space has {number} combinations, and at most {MOST_CANDIDATES} are tried on made-up data before "
            "anything is charged; leave values out",
            "SRD-A002",
        )
    return [dict(zip(space, values, strict=True)) for values in product(*space.values())]


def _is_list(values: object) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0


def _is_value(value: object) -> bool:
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


@dataclass(frozen=True)
class Pace:
    """How long and on which samples a candidate trains: what its price depends on beside the noise."""

    sampler: Sampler
    steps: int

    def event(self, multiplier: Fraction) -> Event:
        """Return what the training runs with this noise, in units of what one unit can move a sum by."""
        return self.sampler.event(Gaussian(multiplier**2), self.steps)


def dominating(paces: Sequence[Pace]) -> Pace:
    """Return a pace that costs at least what each of `paces` costs, whatever the noise: the dearest of all.

    With Poisson samples that is the largest batch and the most steps. **Proof**: what is sampled at rate q ≤ r is that
    sampled at r with probability q/r, else what runs without the unit, so divergences are at most those at r (joint
    convexity); and fewer steps are a part of more. Other samplers are taken only if all candidates agree.
    """
    if any(each.sampler.neighbours is not Neighbours.ADD_REMOVE for each in paces):
        raise ArgumentError(
            "a search needs samples that are priced for units that come and go, as its scores are: sampling='poisson' "
            "or 'one-pass'",
            "SRD-A003",
        )
    first = paces[0]
    if all(each == first for each in paces):
        return first
    samplers = [each.sampler for each in paces]
    if not all(isinstance(each, Poisson) for each in samplers):
        raise ArgumentError(
            "settings may differ in batch or number of steps only with sampling='poisson'; fix both", "SRD-A003"
        )
    batch = max(each.batch for each in samplers)
    widest = next(each for each in samplers if each.batch == batch)
    return Pace(widest, max(each.steps for each in paces))


def check_rule(budget: Budget | None) -> None:
    """Refuse an account that cannot price a search of trainings: it takes Rényi divergences of all orders."""
    if budget is not None and budget.calculus != "renyi":
        raise ArgumentError(
            f"a search is priced in (ε, δ) budgets, and this account has {budget}; open one with "
            "budget(epsilon=…, delta=…)",
            "SRD-A003",
        )


def check_trial(plan: TrainingPlan, pace: Pace, multiplier: Fraction) -> None:
    """Refuse a training that runs anything but Gaussian steps of this pace and noise, as settings might have it."""
    step = plan.recipe.step
    plain = isinstance(step, Gaussian) and step.variance == multiplier**2 * step.sensitivity_squared
    if not plain or plan.event() != pace.sampler.event(step, pace.steps):
        raise ArgumentError(
            "settings of a search may change what is trained, never how noise is made or paid",
            "SRD-A003",
        )


def least_search_multiplier(pace: Pace, score: ScorePlan, trials: Trials, budget: Budget, held: Neighbours) -> Fraction:
    """Return the least noise of the trials' training with which the whole search fits `budget`, held under `held`."""
    paid = score.event()

    def build(noise: Fraction) -> Event:
        return charged_as(trials.event(Composed((pace.event(noise), paid))), Neighbours.ADD_REMOVE, held)

    return used_whole(build, Filter.open(budget))


@dataclass(frozen=True)
class SearchPlan:
    """A search, charged whole before its first trial."""

    dataset: str
    unit: Unit
    trials: Trials
    pace: Pace
    multiplier: Fraction
    score: ScorePlan
    candidates: str
    """The digest of all settings and of the recipe that each of them trains by."""

    kind: ClassVar[str] = "search"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @property
    def bound(self) -> Bound:
        """What one unit can change of the score; of a sum of gradients, the recipes say it."""
        return self.score.bound

    def event(self) -> Event:
        """Return the best of a random number of trials."""
        return self.trials.event(Composed((self.pace.event(self.multiplier), self.score.event())))

    def digest(self) -> str:
        """Return the digest of all that is public about the search."""
        return digest_of((self.kind, self))


class TrialAccount(DataAccount[Examples]):
    """What one trial spends: exactly the plans that the search was charged for, each of them once, in memory."""

    def __init__(self, examples: Examples, *plans: str) -> None:
        super().__init__(examples, unlimited("one trial of a search that was charged as a whole"))
        self._plans = set(plans)

    def begin(self, plan: Plan) -> Work:
        """Begin one of the plans; refuse any other."""
        digest = plan.digest()
        if digest not in self._plans:
            raise GrantError("a trial runs what its search was charged for, and nothing else", "SRD-G002")
        self._plans.remove(digest)
        return super().begin(plan)

    def resume(self, identifier: str, plan: Plan) -> Work:  # noqa: ARG002
        """Refuse: trials leave nothing to go on from."""
        raise GrantError("a trial is run once, from its beginning", "SRD-G002")

    def carry_out(self, plan: Plan, run: Any) -> Any:
        """Begin one of the plans, run it for the grant, and keep what it releases to itself."""
        return carry_out(self, plan, run)


@dataclass(frozen=True, eq=False)
class Found:
    """What a search shows: the best trial's settings, its model, and its noisy score."""

    settings: Settings
    model: Any
    score: Score
    weights: str
    """The digest of the model's weights."""
    plan: SearchPlan
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return the manifest: nothing about other trials, nor how many there were."""
        manifest = {
            "settings": dict(self.settings),
            "score": json.loads(self.score.to_json()),
            "weights": self.weights,
            "trials": self.plan.trials.name,
            "noise multiplier": float(self.plan.multiplier),
            "candidates": self.plan.candidates,
        }
        return json.dumps(manifest, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Found:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)

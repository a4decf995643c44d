"""From a question and a price to a plan: the bounding, the encoding and the division of ε that make the error least.

A pure function of the question and public metadata. Every candidate (way of bounding × encoding × noise) is judged by
the error that it will have, which is known before any data is seen; see ``strategy.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.gaussian import analytic_sigma
from sordino.data.kinds import Range
from sordino.data.metadata import Limits
from sordino.errors import ArgumentError, QuestionError
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.grid import INTEGERS, Grid
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.partition import GaussianThreshold
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Expression
from sordino.query.model.question import Question
from sordino.query.model.task import Histogram, Measure, Monomial, Task

from . import limits as contribution
from .aggregates import COLLECT, Needs
from .choices import CHOICES, ChoiceNeed, Terms, build_choice, needs_of
from .encoding import Block, Distinct, weight_unit
from .layouts import Layout, Layouts
from .personal import check_personal, personal_noise, weight_measure
from .plan import Additive, Choice, NoisyBlock, NoisyHistogram, QueryPlan, Reading
from .selection import Selection, counts_of_people, threshold_for
from .sensitivity import block_bound, histogram_bound, people_bound
from .spend import Spend, cut
from .strategy import Design, Division, Target, about_sigma, divide

_KEYS_SHARE = 0.55
"""The part of the price that finds private keys, beside aggregates that are no counts of people: a key that is not
shown has no answer at all. Where everything asked for comes along with the keys, they get all of it."""
_SURELY = Fraction(95, 100)
_SLACK = 1 + Fraction(1, 2**40)


@dataclass(frozen=True)
class Wishes:
    """What the analyst may say about how a question is planned; everything has a default."""

    bounding: Bounding | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    """How much the error of each output column matters; 1 where nothing is said."""
    noise: str | None = None
    """"laplace" or "gaussian" instead of the better one."""
    limits: Limits | None = None
    ranges: Mapping[Expression, Range] = field(default_factory=dict)
    intervals: bool = True
    """Whether quantiles and extremes spend a part of their price on intervals."""
    flips: bool = False
    """Whether permute-and-flip costs the account no more than the exponential mechanism: it counts pure ε."""

    def __post_init__(self) -> None:
        if self.noise not in (None, "laplace", "gaussian"):
            raise ArgumentError('noise must be "laplace" or "gaussian", or left out for the better one', "SRD-A002")


@dataclass(frozen=True)
class _Candidate:
    """A bounding, a layout and a family of noise, with the error that they lead to, and how private keys are found."""

    bounding: Bounding
    layout: Layout
    gaussian: bool
    division: Division
    objective: float
    selection: Selection | None = None
    amount: Fraction = Fraction(0)
    """What is left for everything but keys."""


def plan(question: Question, spend: Spend, wishes: Wishes | None = None) -> QueryPlan:
    """Return the plan with the least expected error for this price.

    Raises `QuestionError` where bounds or limits are missing, naming what to declare.
    """
    return _Planner(question, spend, wishes or Wishes()).build()


class _Planner:
    def __init__(self, question: Question, spend: Spend, wishes: Wishes) -> None:
        self.question, self.spend, self.wishes = question, spend, wishes
        self.needs = Needs(question.relation.columns, wishes.ranges)
        self.choice_needs: list[ChoiceNeed] = []
        self.places: list[tuple[int, ...]] = [()] * len(question.aggregates)
        # Counts come last: if their value is a measure of another aggregate, they share it.
        for index, aggregate in sorted(enumerate(question.aggregates), key=lambda each: each[1].function == "count"):
            if aggregate.function in CHOICES:
                self.choice_needs += needs_of(index, aggregate, question, wishes.ranges)
            else:
                self.places[index] = COLLECT[aggregate.function](self.needs, aggregate)
        self.private_keys = not contribution.keys_are_public(question)
        self.demands = contribution.Demands(
            rows=any(each.function != "count_people" for each in question.aggregates),
            people=self.needs.people or self.private_keys,
            distincts=bool(self.needs.distincts),
        )
        if question.schema.personal is not None:
            check_personal(question, question.schema.personal, private_keys=self.private_keys)
        self.weights = self._aggregate_weights()
        self.layouts = Layouts(question, self.needs, self.places, self._weight_of)

    def build(self) -> QueryPlan:
        """Choose among the candidates and put the plan together."""
        contribution.check_keys(self.question, self.spend)
        if not self.question.aggregates and not self.private_keys:
            raise QuestionError(
                "all keys are public, so there is nothing to ask; add an aggregate, such as COUNT(*)", "SRD-Q308"
            )
        best = min(self._candidates(), key=lambda candidate: candidate.objective, default=None)
        if best is None:
            raise self._nothing_suits()
        return self._put_together(best)

    def _nothing_suits(self) -> QuestionError:
        if self._boundings():
            return QuestionError(
                "no noise suits this question at this price: bounding by norm, and Gaussian noise, need rho, or "
                "epsilon with a delta; choices such as quantiles need no Gaussian noise",
                "SRD-Q306",
            )
        return contribution.missing(self.question, self.demands)

    # ---- candidates ------------------------------------------------------------------------------------------------

    def _boundings(self) -> list[Bounding]:
        if self.wishes.bounding is not None:
            return [contribution.check(self.question, self.demands, self.wishes.bounding)]
        found = self.wishes.limits or contribution.declared(self.question)
        return contribution.candidates(self.question, self.demands, found)

    def _candidates(self) -> Iterator[_Candidate]:
        for bounding in self._boundings():
            families = self._families(bounding)
            for selection, rest in self._selections(bounding):
                lost = 0.0 if selection is None else self._selection_error(selection)
                if not rest:
                    yield _Candidate(bounding, Layout((), (), ()), False, Division((), 0.0), lost, selection)
                    continue
                for layout in self.layouts.suitable(bounding, () if selection is None else selection.counted):
                    for gaussian in families:
                        candidate = self._judge(bounding, layout, gaussian, float(rest))
                        if candidate is not None:
                            objective = candidate.objective + lost
                            yield replace(candidate, objective=objective, selection=selection, amount=rest)

    def _selections(self, bounding: Bounding) -> Iterator[tuple[Selection | None, Fraction]]:
        """Yield how private keys can be found under a bounding, each with what is left of the price for all else."""
        amount = self.spend.amount
        if not self.private_keys:
            yield None, amount
            return
        bound = people_bound(self.question, bounding)
        counted = counts_of_people(self.question.aggregates, self.places, bounding)
        alone = len(counted) == len(self.question.aggregates)
        keys, rest = (amount, Fraction(0)) if alone else cut(amount, (_KEYS_SHARE, 1 - _KEYS_SHARE))
        at_delta = self.spend.rho is None and bool(self.spend.gaussian_delta)
        if self.wishes.noise != "gaussian" or not at_delta:
            yield Selection(threshold_for(self.spend, keys, bound), bound, counted), rest
        if at_delta and self.wishes.noise != "laplace":
            # Gaussian noise is calibrated to (ε, δ) once: for the counts that show keys, or for everything but keys.
            if alone and counted:
                rule = GaussianThreshold.for_rho(self._rho(amount), self.spend.keys_delta, bound)
                yield Selection(rule, bound, counted), rest
            else:
                yield Selection(threshold_for(self.spend, keys, bound), bound, ()), rest

    def _selection_error(self, selection: Selection) -> float:
        """Return how many people a private key needs to be shown, squared (what smaller groups lose), and the error of
        the counts that come along."""
        weights = sum(self._weight_of(place) ** 2 for place in selection.counted)
        return selection.size_shown(_SURELY) ** 2 + weights * selection.mechanism.variance_of_error

    def _families(self, bounding: Bounding) -> list[bool]:
        """Return the families of noise that the price allows: False for Laplace, True for Gaussian."""
        allowed = [] if self.spend.rho is not None else [False]
        if self.spend.rho is not None or self.spend.gaussian_delta:
            allowed.append(True)
        if bounding.l1 is None:
            allowed = [each for each in allowed if each]
        if self.wishes.noise is not None:
            allowed = [each for each in allowed if each == (self.wishes.noise == "gaussian")]
            if not allowed:
                raise QuestionError(
                    f"{self.wishes.noise} noise does not suit this price: Gaussian noise needs rho, or epsilon with a "
                    "delta; Laplace noise needs epsilon",
                    "SRD-Q306",
                )
        return allowed

    def _judge(self, bounding: Bounding, layout: Layout, gaussian: bool, amount: float) -> _Candidate | None:
        units = [
            self._deviation(block_bound(self.question, bounding, block), gaussian) / weight_unit(block, bounding)
            for block in layout.blocks
        ]
        if self._histogram_needs:
            spread = self._deviation(histogram_bound(self.question, bounding), gaussian) / bounding.unit
            units += [spread] * len(self._histogram_needs)
        design = self._design(layout)
        # At ρ a choice has ε = √(8ρ).
        scale = 8.0 if self.spend.rho is not None else 1.0
        drawn = [
            need.squared_error(bounding, intervals=self.wishes.intervals) * self._weight_of(need.aggregate) ** 2 / scale
            for need in self._drawn_needs
        ]
        division = divide(design, units, drawn, gaussian=gaussian and self.spend.rho is not None)
        if division is None:
            return None
        if self.spend.rho is not None:
            return _Candidate(bounding, layout, gaussian, division, division.objective / amount)
        if not gaussian:
            return _Candidate(bounding, layout, gaussian, division, division.objective / amount**2)
        return self._gaussian_at_delta(bounding, layout, design, units, drawn, division, amount)

    def _design(self, layout: Layout) -> Design:
        """Return how everything that gets noise is read: the blocks, and the counts of each histogram by themselves."""
        if not self._histogram_needs:
            return layout.design
        marks = [Distinct(-1 - place) for place in range(len(self._histogram_needs))]
        blocks = (*layout.blocks, *(Block((((mark, 1),),), 1) for mark in marks))
        weights = [self._weight_of(need.aggregate) for need in self._histogram_needs]
        counts = [Target(((mark, 1.0),), weight) for mark, weight in zip(marks, weights, strict=True)]
        return Design(blocks, (*layout.targets, *counts), layout.steps)

    def _gaussian_at_delta(
        self,
        bounding: Bounding,
        layout: Layout,
        design: Design,
        units: list[float],
        drawn: list[float],
        division: Division,
        amount: float,
    ) -> _Candidate | None:
        """Gaussian noise at (ε, δ): choices take pure parts of ε, and the blocks divide the ρ that the rest allows."""
        blocks = design.blocks
        choice_share = sum(division.shares[len(blocks) :])
        if not blocks:
            return None
        inner = divide(design, units, [], gaussian=True)
        if inner is None:
            return None
        sigma = about_sigma(amount * (1 - choice_share), float(self.spend.gaussian_delta))
        objective = inner.objective * 2 * sigma**2
        for error, share in zip(drawn, division.shares[len(blocks) :], strict=True):
            objective += error / (share * amount) ** 2
        shares = (*(share * (1 - choice_share) for share in inner.shares), *division.shares[len(blocks) :])
        return _Candidate(bounding, layout, True, Division(shares, objective), objective)

    def _rho(self, epsilon: Fraction) -> Fraction:
        """Return the ρ of Gaussian noise that is (ε, δ)-private, rounded down."""
        deviation = Fraction(analytic_sigma(epsilon, self.spend.gaussian_delta)) * _SLACK
        return 1 / (2 * deviation**2)

    @staticmethod
    def _deviation(bound: Bound, gaussian: bool) -> float:
        """Return the standard deviation of the noise at ε = 1 or ρ = 1."""
        return math.sqrt(float(bound.l2_squared) / 2) if gaussian else math.sqrt(2) * float(bound.l1)

    def _aggregate_weights(self) -> dict[int, float]:
        """Return for each aggregate the largest weight of an output column that uses it."""
        names = {output.name for output in self.question.outputs}
        unknown = set(self.wishes.weights) - names
        if unknown:
            raise QuestionError(
                f"weights speak of {sorted(unknown)}, but the answer's columns are {sorted(names)}", "SRD-Q307"
            )
        weights: dict[int, float] = {}
        for output in self.question.outputs:
            weight = float(self.wishes.weights.get(output.name, 1.0))
            if not 1e-6 <= weight <= 1e6:
                raise QuestionError("weights must be numbers from a millionth to a million", "SRD-Q307")
            for name in output.expression.columns:
                if name.startswith("a"):
                    index = int(name[1:])
                    weights[index] = max(weight, weights.get(index, 0.0))
        return weights

    def _weight_of(self, index: int) -> float:
        return self.weights.get(index, 1.0)

    # ---- the plan --------------------------------------------------------------------------------------------------

    @property
    def _histogram_needs(self) -> list[ChoiceNeed]:
        return [need for need in self.choice_needs if need.additive]

    @property
    def _drawn_needs(self) -> list[ChoiceNeed]:
        return [need for need in self.choice_needs if not need.additive]

    def _histograms(self) -> tuple[Histogram, ...]:
        """Return the histograms that are needed, each once."""
        return tuple(dict.fromkeys(need.histogram for need in self.choice_needs))

    def _put_together(self, best: _Candidate) -> QueryPlan:
        blocks, histograms, drawn = self._noise(best) if best.amount else ((), (), ())
        reading = self._reading(best, blocks)
        task = self._task(best.bounding, best.layout)
        return QueryPlan(
            self.question, self.spend, task, best.bounding, blocks, histograms, drawn, best.selection, reading
        )

    def _noise(self, best: _Candidate) -> tuple[tuple[NoisyBlock, ...], tuple[NoisyHistogram, ...], tuple[Choice, ...]]:
        bounding = best.bounding
        amounts = cut(best.amount, best.division.shares)
        count = len(best.layout.blocks)
        additive = count + len(self._histogram_needs)
        noisy = amounts[:additive]
        if best.gaussian and self.spend.rho is None and additive:
            noisy = cut(self._rho(sum(noisy, Fraction(0))), [float(each) for each in noisy])
        blocks = tuple(
            NoisyBlock(block, mechanism, bound)
            for block, amount in zip(best.layout.blocks, noisy, strict=False)
            for bound in [block_bound(self.question, bounding, block)]
            for mechanism in [self._additive(best.gaussian, amount, bound)]
        )
        shared = self._histograms()
        places = {id(need): shared.index(need.histogram) for need in self.choice_needs}
        histograms = tuple(
            NoisyHistogram(need.aggregate, places[id(need)], self._additive(best.gaussian, amount, bound), bound)
            for need, amount in zip(self._histogram_needs, noisy[count:], strict=True)
            for bound in [histogram_bound(self.question, bounding, need.histogram.buckets)]
        )
        terms = Terms(self.spend.rho is not None, self.wishes.flips, self.wishes.intervals)
        choices = tuple(
            build_choice(need, places[id(need)], amount, histogram_bound(self.question, bounding), terms)
            for need, amount in zip(self._drawn_needs, amounts[additive:], strict=True)
        )
        return blocks, histograms, choices

    def _additive(self, gaussian: bool, amount: Fraction, bound: Bound) -> Additive:
        """Return the noise that costs `amount` (ε, or ρ) under `bound`, on a grid as coarse as it may be."""
        deviation = Fraction(math.sqrt(float(bound.l2_squared / (2 * amount)))) if gaussian else bound.l1 / amount
        exponent = Grid.fitting(deviation, bound).exponent
        if self.question.schema.personal is not None:
            return personal_noise(self.question.schema.personal, gaussian, amount, bound, exponent)
        grid = Grid(exponent) if exponent > 0 else INTEGERS
        return Gaussian.for_rho(amount, bound, grid) if gaussian else Laplace.for_epsilon(amount, bound, grid)

    def _reading(self, best: _Candidate, blocks: tuple[NoisyBlock, ...]) -> Reading:
        layout = best.layout
        counted = () if best.selection is None else best.selection.counted
        deviations = [
            math.sqrt(noisy.mechanism.variance_of_error) / weight_unit(noisy.block, best.bounding) for noisy in blocks
        ]
        coefficients = layout.design.coefficients(deviations) if blocks else None
        if coefficients is None:
            coefficients = np.zeros((0, 0))
        return Reading(
            layout.targets,
            coefficients,
            layout.steps,
            tuple(self.places),
            self.layouts.rows(layout, counted),
            self.layouts.weight_place,
        )

    def _task(self, bounding: Bounding, layout: Layout) -> Task:
        monomials = dict.fromkeys(
            statistic for block in layout.blocks for statistic in block.statistics if isinstance(statistic, Monomial)
        )
        measures = tuple(
            Measure(need.expression, need.range, steps, not need.nullable)
            for need, steps in zip(self.needs.measures, layout.steps, strict=False)
        )
        if self.question.schema.personal is not None:
            measures = (*measures, weight_measure(self.question.schema.personal))
        return Task(
            relation=self.question.relation,
            keys=self.question.keys,
            bounding=bounding,
            measures=measures,
            monomials=tuple(monomials),
            people=self.needs.people or self.private_keys,
            distincts=tuple(self.needs.distincts),
            histograms=self._histograms(),
            key_table=self.question.key_table,
        )

"""The encodings that suit a question: all columns together, columns that belong together, every statistic by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sordino.query.model.bounding import Bounding
from sordino.query.model.question import Question
from sordino.query.model.task import Monomial

from .aggregates import Needs, targets
from .choices import CHOICES
from .encoding import Block, Encoder, Statistic, Variable
from .personal import STEPS, weighted_block, weighted_target
from .strategy import Design, Target, magnitude

_PRODUCT_BITS = 60
_MOST_STEP_BITS = 20
_LEAST_STEP_BITS = 11
_MOST_FEATURES = 64


@dataclass(frozen=True)
class Layout:
    """One encoding: the measures' steps, the blocks, and what is wanted of them."""

    steps: tuple[int, ...]
    blocks: tuple[Block, ...]
    targets: tuple[Target, ...]

    @cached_property
    def design(self) -> Design:
        """How the targets are read off the blocks."""
        return Design(self.blocks, self.targets, self.steps)


class Layouts:
    """Builds the encodings of one question. `weight_of` says how much each aggregate's error matters."""

    def __init__(
        self, question: Question, needs: Needs, places: Sequence[tuple[int, ...]], weight_of: Callable[[int], float]
    ) -> None:
        self.question, self.needs, self.places, self.weight_of = question, needs, places, weight_of
        self.personal = question.schema.personal
        self._encoder = Encoder(len(needs.measures) + (self.personal is not None))
        self._built: dict[tuple[Any, ...], Layout | None] = {}

    @property
    def weight_place(self) -> int | None:
        """Where the weight of each row's class stands among the measures, if people are protected by classes."""
        return None if self.personal is None else len(self.needs.measures)

    def suitable(self, bounding: Bounding, counted: Collection[int] = ()) -> Iterator[Layout]:
        """Yield all columns together, columns that belong together, and every statistic by itself.

        The aggregates at `counted` are known already.
        """
        everything = (frozenset(range(len(self.needs.measures))),) if self.needs.measures else ()
        seen = set()
        for parts in dict.fromkeys((everything, self._components(), None)):
            layout = self._layout(parts, bounding, counted)
            if layout is not None and layout.blocks not in seen:
                seen.add(layout.blocks)
                yield layout

    def _components(self) -> tuple[frozenset[int], ...]:
        parts = [frozenset((place,)) for place in range(len(self.needs.measures))]
        for joint in self.needs.joint:
            touched = [part for part in parts if part & joint]
            parts = [part for part in parts if not part & joint] + [frozenset().union(*touched)]
        return tuple(parts)

    def _layout(
        self, parts: tuple[frozenset[int], ...] | None, bounding: Bounding, counted: Collection[int]
    ) -> Layout | None:
        degrees = [need.degree for need in self.needs.measures]
        if parts is None:
            degree = 2 if any(each == 2 for each in degrees) or self.needs.joint else 1
        else:
            degree = max((sum(degrees[place] for place in part) for part in parts), default=0)
        steps = self._steps(max(degree, 1), bounding)
        if steps is None:
            return None
        if self.personal is not None:
            steps = (*steps, STEPS)
        known = (parts, steps, tuple(counted))  # which several boundings share
        if known not in self._built:
            self._built[known] = self._build(parts, steps, counted)
        return self._built[known]

    def _build(
        self, parts: tuple[frozenset[int], ...] | None, steps: tuple[int, ...], counted: Collection[int]
    ) -> Layout | None:
        wanted = self._targets(list(steps), counted)
        blocks = self._special_blocks(wanted)
        if parts is None:
            statistics = dict.fromkeys(statistic for target in wanted for statistic, _ in target.terms)
            singles = [each for each in statistics if isinstance(each, Monomial)]
            blocks += [self._encoder.single(each, int(magnitude(each, steps))) for each in singles]
        else:
            blocks += self._tensors(parts, steps, wanted)
            if sum(len(block.features) for block in blocks) > _MOST_FEATURES:
                return None
        place = self.weight_place
        if place is not None:
            blocks = [weighted_block(block, place) for block in blocks]
        return Layout(steps, tuple(blocks), tuple(self._weighted(target) for target in wanted))

    def _tensors(self, parts: tuple[frozenset[int], ...], steps: tuple[int, ...], wanted: list[Target]) -> list[Block]:
        needed = {each for target in wanted for each, _ in target.terms if isinstance(each, Monomial)}
        if not parts:
            return [self._encoder.single(self._encoder.one, 1)] if needed else []
        blocks = []
        for part in parts:
            variables = [
                Variable(place, steps[place], self.needs.measures[place].degree, self.needs.measures[place].nullable)
                for place in sorted(part)
            ]
            optional = {variable.place for variable in variables if variable.nullable}
            whole = any(self._about(each) <= part and not optional <= each.present for each in needed)
            blocks.append(self._encoder.tensor(variables, count_missing=whole))
        return blocks

    @staticmethod
    def _about(monomial: Monomial) -> frozenset[int]:
        return monomial.present | {place for place, power in enumerate(monomial.powers) if power}

    def _special_blocks(self, wanted: list[Target]) -> list[Block]:
        statistics = dict.fromkeys(statistic for target in wanted for statistic, _ in target.terms)
        return [self._encoder.single(each, 1) for each in statistics if not isinstance(each, Monomial)]

    def _steps(self, degree: int, bounding: Bounding) -> tuple[int, ...] | None:
        """Return each measure's steps: exact for whole numbers where they fit, else a power of two."""
        bits = min(_MOST_STEP_BITS, (_PRODUCT_BITS - self._weight_bits(bounding)) // degree)
        steps = []
        for need in self.needs.measures:
            width = need.range.high - need.range.low
            if need.degree == 0:
                steps.append(1)
            elif need.whole and need.range.low.denominator == need.range.high.denominator == 1 and width <= 2**bits:
                steps.append(int(width))
            elif bits < _LEAST_STEP_BITS:
                return None
            else:
                steps.append(2**bits)
        return tuple(steps)

    def _weight_bits(self, bounding: Bounding) -> int:
        personal = 0 if self.personal is None else STEPS.bit_length() - 1
        return bounding.unit.bit_length() - 1 + personal

    def _targets(self, steps: list[int], counted: Collection[int]) -> list[Target]:
        weights: dict[tuple[tuple[Statistic, float], ...], float] = {}
        for index, aggregate in enumerate(self.question.aggregates):
            if aggregate.function in CHOICES or index in counted:
                continue
            for target in targets(aggregate, self.places[index], self.needs, self._encoder, steps):
                weight = target.weight * self.weight_of(index)
                weights[target.terms] = max(weight, weights.get(target.terms, 0.0))
        return [Target(terms, weight) for terms, weight in weights.items()]

    def rows(self, layout: Layout, counted: Collection[int] = ()) -> tuple[tuple[int, ...], ...]:
        """Return for each aggregate which of the layout's targets it is computed from; none for those at `counted`."""
        order = {target.terms: row for row, target in enumerate(layout.targets)}
        return tuple(
            ()
            if aggregate.function in CHOICES or index in counted
            else tuple(
                order[self._weighted(each).terms]
                for each in targets(aggregate, places, self.needs, self._encoder, list(layout.steps))
            )
            for index, (aggregate, places) in enumerate(zip(self.question.aggregates, self.places, strict=True))
        )

    def _weighted(self, target: Target) -> Target:
        return target if self.weight_place is None else weighted_target(target, self.weight_place)

"""What one unit can change in everything that a question releases, from how it is bounded and encoded."""

from __future__ import annotations

from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.query.model.bounding import Bounding
from sordino.query.model.question import Question

from . import limits as contribution
from .encoding import Block, People, weight_unit

_ANY = 2**31


def groups_touched(question: Question, bounding: Bounding) -> int:
    """Return the number of groups in which one unit can change anything."""
    known = contribution.public_groups(question)
    return min(each for each in (bounding.l0, known, _ANY) if each is not None)


def people_bound(question: Question, bounding: Bounding) -> Bound:
    """Return the bound of a count of people in each group: one in each group that a person is in.

    Under row-level privacy rows are counted, and one row can become several, in one group or in many.
    """
    if bounding.method == "row":
        return _scaled(question, bounding, groups_touched(question, bounding), 1)
    groups = groups_touched(question, bounding)
    return Bound(groups, Fraction(groups), Fraction(groups), Fraction(1), unit=question.schema.unit)


def block_bound(question: Question, bounding: Bounding, block: Block) -> Bound:
    """Return the bound of a block's features, over all groups.

    A row of weight 1 adds a vector of 1-norm at most `reach`; rows of one group add at most their weight times that,
    and the weights by group obey the bounding's norms. So each norm is that of the bounding times `reach`.
    """
    if isinstance(block.features[0][0][0], People):
        return people_bound(question, bounding)
    coordinates = groups_touched(question, bounding) * len(block.features)
    return _scaled(question, bounding, coordinates, block.reach * weight_unit(block, bounding))


def histogram_bound(question: Question, bounding: Bounding, buckets: int = 1) -> Bound:
    """Return the bound of a histogram in each group: each row of weight 1 adds 1 to one bucket."""
    return _scaled(question, bounding, groups_touched(question, bounding) * buckets, bounding.unit)


def _scaled(question: Question, bounding: Bounding, coordinates: int, scale: int) -> Bound:
    largest = Fraction(bounding.linf * scale)
    total = coordinates * largest if bounding.l1 is None else Fraction(bounding.l1 * scale)
    return Bound(coordinates, total, Fraction(bounding.l2_squared * scale**2), largest, unit=question.schema.unit)

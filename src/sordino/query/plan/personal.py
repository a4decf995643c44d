"""Personalised privacy: people of each public class are protected by an ε of their own.

The class with the largest ε counts in full; everyone else's rows weigh ε_class/ε_largest. All that is released adds up
rows under a bound and gets noise in proportion to it, so a person whose rows weigh a tenth moves every release by a
tenth, and the loss towards that person is a tenth of the price.

**Guarantee**: a question of price ε is (ε·ε_class/ε_largest)-differentially private towards a person of that class, and
ε towards the account. So a budget of ε_largest keeps every class within its own ε, over all questions.
**Assumes**: classes are public and do not depend on the rest of the data; all rows of one person are of one class.
**Proof**: ``encoding.py``'s features are multiplied by a whole weight w ≤ ⌊S·ε_class/ε_largest⌋ of S steps, so that
person's contribution is at most that part of `reach`. Laplace losses are linear in it, and Gaussian ρ quadratic, which
is less. Rounding to the grid is not: it may add a step for whoever weighs little as well. So `personal_noise` takes a
finer grid, and as much noise as the class with the least weight needs for its part of the price, rounding included. ∎
**Source**: Alaggan, Gambs, Kermarrec 2016 (stretching; heterogeneous differential privacy).
Counts and sums are weighted ones and so too low; means are weighted means.
"""

from __future__ import annotations

from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import KeyValue, Personal
from sordino.errors import QuestionError
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.grid import INTEGERS, Grid
from sordino.mechanisms.laplace import Laplace
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.lineage import origin
from sordino.query.model.operations import call
from sordino.query.model.question import Question
from sordino.query.model.task import Measure, Monomial

from .encoding import Block, Statistic
from .strategy import Target

STEPS = 256
"""What the rows of the least protected class weigh; those of others are whole parts of it, rounded down."""

_ALLOWED = frozenset(
    {"count_rows", "count", "sum", "mean", "variance", "deviation", "covariance", "correlation", "regression"}
)


def check_personal(question: Question, personal: Personal, *, private_keys: bool) -> None:
    """Refuse what does not add up weighted rows, and questions in which a person's class is not the declared one."""
    functions = {aggregate.function for aggregate in question.aggregates}
    if private_keys or not functions <= _ALLOWED:
        raise QuestionError(
            "this data set protects people by classes, so only counts of rows, sums, means, variances, covariances and "
            "regressions over public keys can be asked for: they weigh each row by its class",
            "SRD-Q317",
        )
    if personal.column not in question.relation.columns or origin(question.relation, personal.column) != (
        personal.table,
        personal.column,
    ):
        raise QuestionError(
            f"column {personal.column!r} of table {personal.table!r} says how each person is protected; hand it on "
            "unchanged, under its own name, through subqueries and joins",
            "SRD-Q318",
        )


def check_budget(personal: Personal, epsilon: Fraction | None) -> None:
    """Refuse a budget by which people could lose more, over all questions, than their class says."""
    largest = max(each for _, each in personal.classes)
    if epsilon is not None and epsilon > largest:
        raise QuestionError(
            f"the budget is ε = {float(epsilon):g}, and the largest ε of a class of people is {float(largest):g}: they "
            "would lose more than was declared; lower the budget, or declare the classes anew",
            "SRD-Q322",
        )


def weight_measure(personal: Personal) -> Measure:
    """Return the weight of each row, in whole steps: 0 for a class that is not declared."""
    column = ColumnRef(personal.kind, personal.column)
    branches: list[Expression] = []
    for value, steps in _class_steps(personal):
        branches += [call("equal", column, Literal(personal.kind, value)), Literal(Kind.REAL, steps / STEPS)]
    weight = call("case", *branches, Literal(Kind.REAL, 0.0))
    return Measure(weight, Range(Fraction(-1), Fraction(1)), STEPS, missing_is_middle=True)


def personal_noise(
    personal: Personal, gaussian: bool, amount: Fraction, bound: Bound, exponent: int
) -> Laplace | Gaussian:
    """Return noise that costs at most `amount` (ε, or ρ), and towards each class at most its part of that.

    What rounding adds weighs most for the least part, so that class decides.
    """
    finer = exponent - STEPS.bit_length()
    grid = Grid(finer) if finer > 0 else INTEGERS
    least = min(steps for _, steps in _class_steps(personal) if steps)
    part = Fraction(least, STEPS)
    small = Bound(
        bound.l0, bound.l1 * part, bound.l2_squared * part**2, bound.linf * part, bound.neighbours, bound.unit
    )
    moved = grid.sensitivity(small)
    if gaussian:
        return Gaussian(Fraction(moved.l2_squared) / part**2 / (2 * amount) * grid.step**2, grid)
    return Laplace(Fraction(moved.l1) / part / amount * grid.step, grid)


def _class_steps(personal: Personal) -> list[tuple[KeyValue, int]]:
    most = max(epsilon for _, epsilon in personal.classes)
    return [(value, int(epsilon / most * STEPS)) for value, epsilon in personal.classes]


def weighted_block(block: Block, place: int) -> Block:
    """Return a block whose statistics are weighted by the measure at `place`."""
    features = tuple(
        tuple((weighted(statistic, place), coefficient) for statistic, coefficient in feature)
        for feature in block.features
    )
    return Block(features, block.reach * STEPS)


def weighted_target(target: Target, place: int) -> Target:
    """Return a target over weighted statistics, in which a full row counts 1."""
    return Target(tuple((weighted(each, place), weight / STEPS) for each, weight in target.terms), target.weight)


def weighted(statistic: Statistic, place: int) -> Statistic:
    """Return a sum of monomials with each row multiplied by its weight."""
    if not isinstance(statistic, Monomial):
        return statistic
    powers = tuple(power + (each == place) for each, power in enumerate(statistic.powers))
    return Monomial(powers, statistic.present | {place})

"""From what a training may cost to its recipe: the least noise that stays within it, and a clip for every class.

**ε by class** (heterogeneous privacy). All units meet the same noise, so who is promised less is clipped shorter: a
class that needs `m` times the clip as noise for its ε, where the noise is `n` clips, is clipped to n/m of it. Then
leaving out one of that class moves the sum by so much less that its own price, in the same accounting, is its ε.
**Assumes**: classes are public, and do not depend on the data that they protect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sordino.accounting.budget import Budget
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.arguments import Number, one_of, rational, whole
from sordino.errors import ArgumentError
from sordino.learn.run.adaptive import Adaptive, adaptive
from sordino.learn.run.pricing import budget_of_its_own, used_whole
from sordino.mechanisms.classes import Classes

from .noise_shares import SHARES, ServerNoise
from .plan import Recipe
from .populations import CLIENT, Population
from .roster import Quorum

FLAT, ADAPTIVE = "flat", "adaptive"

Epsilon = Number | Mapping[str, Number]
"""What a training may cost, or that for each class of clients by name."""

_SLACK = 1 - Fraction(1, 2**16)
"""Covers that clips end on whole steps."""


def recipe_for(
    population: Population,
    budget: Budget | None = None,
    *,
    parameters: int,
    rounds: int,
    clip: Number,
    clipping: str | Adaptive = FLAT,
    rate: Number = 1,
    epsilon: Epsilon | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    noise: Number | None = None,
    shares: str = "discrete-gaussian",
    quorum: Quorum | None = None,
) -> Recipe:
    """Return the recipe of a training that costs no more than is said; refuse what cannot be promised.

    A pure function of these words: server and members each make it, and take part in what has the same digest. The δ
    is that of `budget`, unless `delta` says another.
    """
    part = rational("rate", rate, above=0, most=1)
    _check_trust(population, quorum, part)
    recipe = Recipe(
        dataset=population.name,
        unit=population.unit,
        neighbours=population.neighbours,
        members=population.members,
        size=population.size,
        rate=part,
        rounds=whole("rounds", rounds, least=1),
        parameters=whole("parameters", parameters, least=1, most=2**30),
        clip=rational("clip", clip, above=0),
        multiplier=Fraction(1),
        noise=ServerNoise.name if quorum is None else one_of("shares", shares, tuple(SHARES)),
        quorum=quorum,
        adaptive=_adaptive(clipping),
    )
    _check_adaptive(recipe, epsilon)
    if noise is not None:
        if epsilon is not None or rho is not None:
            raise ArgumentError(
                "noise says what a training costs: leave out epsilon= and rho=, or noise=; one would be passed over",
                "SRD-A003",
            )
        return _checked(recipe.with_multiplier(rational("noise", noise, above=0)))
    if isinstance(epsilon, Mapping):
        return _by_class(recipe, budget, Classes.of(epsilon), delta)
    return _checked(recipe.with_multiplier(_least(recipe, budget_of_its_own(budget, epsilon, delta, rho))))


def _least(recipe: Recipe, own: Budget) -> Fraction:
    """Return the least noise multiplier with which all rounds fit a budget of their own, as the account counts them."""

    def counted(multiplier: Fraction) -> Event:
        return charged_as(recipe.with_multiplier(multiplier).event(), recipe.bound.neighbours, recipe.neighbours)

    return used_whole(counted, Filter.open(own))


def _by_class(recipe: Recipe, budget: Budget | None, classes: Classes, delta: Number | None) -> Recipe:
    if recipe.unit != CLIENT:
        raise ArgumentError("an ε for each class is for clients; patients of one study share one ε", "SRD-A003")
    needed = {
        name: _least(recipe, budget_of_its_own(budget, epsilon, delta, None)) for name, epsilon in classes.classes
    }
    least = min(needed.values())
    clips = tuple((name, Fraction(1) if m == least else least / m * _SLACK) for name, m in needed.items())
    return replace(recipe, multiplier=least, clips=clips)


def _adaptive(clipping: str | Adaptive) -> Adaptive | None:
    if isinstance(clipping, Adaptive):
        return clipping
    return adaptive() if one_of("clipping", clipping, (FLAT, ADAPTIVE)) == ADAPTIVE else None


def _check_adaptive(recipe: Recipe, epsilon: Epsilon | None) -> None:
    """Refuse a clip that adapts where nothing is proven about it."""
    if recipe.adaptive is None:
        return
    if recipe.quorum is not None:
        raise ArgumentError(
            "a clip that adapts needs a noisy count beside the sum, and members under masks share no noise for one; "
            'take clipping="flat", or, for clients, trust the server and leave out the threshold or roster',
            "SRD-A003",
        )
    if isinstance(epsilon, Mapping):
        raise ArgumentError(
            "an ε for each class is kept by clipping shorter, and the count of those within a clip that adapts costs "
            'everybody the same; take clipping="flat", or one ε for all',
            "SRD-A003",
        )


def _checked(recipe: Recipe) -> Recipe:
    """Return a recipe whose noise can be drawn: a count that costs more than its round is refused here."""
    _ = recipe.law
    return recipe


def _check_trust(given: Population, quorum: Quorum | None, rate: Fraction) -> None:
    if quorum is None:
        if given.unit != CLIENT:
            raise ArgumentError(
                f"a member's sum over its {given.unit.name}s must not be seen by the server: name a quorum, as "
                "threshold=…, so that members mask their sums and add their shares of noise",
                "SRD-A003",
            )
        return
    if quorum.members != given.members:
        raise ArgumentError(
            f"the roster has {quorum.members} members, the population {given.members}; both must name all", "SRD-A003"
        )
    if given.unit == CLIENT and rate < 1:
        raise ArgumentError(
            "under masks the server sees which clients take part, so drawing some of them hides nobody, and too few of "
            "the roster would survive; leave rate=1, or trust the server and leave out the quorum",
            "SRD-A003",
        )
    if given.unit == CLIENT and given.neighbours is Neighbours.ADD_REMOVE:
        raise ArgumentError(
            "under masks everybody knows who takes part, and what is hidden is what a client hands in: declare the "
            "population with neighbours=Neighbours.ZERO_OUT",
            "SRD-A003",
        )

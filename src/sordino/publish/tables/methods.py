"""MST and MWEM beside AIM: simpler ways to spend the same budget, and the table of them all.

**Guarantee**: the purse's, for each of them.
**Source**: MST: McKenna, Miklau, Sheldon 2021 (*Winning the NIST contest*), Algorithm 2; MWEM: Hardt, Ligett, McSherry
2012, Algorithm 1. The choice of MWEM here is the exponential mechanism with the score's own sensitivity; a noisy
maximum of scores with half of it, as in a variant in circulation, is not private as claimed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction

from .aim import Knowledge, Wanted, aim, expected_of
from .fitting import Measured
from .junction import Clique
from .purse import Purse, rounded_down

Method = Callable[[Purse, Wanted, Mapping[Clique, Measured]], Knowledge]

MWEM_ROUNDS = 2
"""Rounds of MWEM for each column."""


def singles(purse: Purse, wanted: Wanted, known: Mapping[Clique, Measured], budget: Fraction) -> Knowledge:
    """Return what is known after every column by itself was measured, for `budget` in all."""
    knowledge = Knowledge(wanted, known)
    missing = [(column,) for column in range(len(wanted.sizes)) if (column,) not in known]
    for clique in missing:
        knowledge.add(clique, purse.measure(clique, rounded_down(budget / len(missing))))
    knowledge.refit()
    return knowledge


def mst(purse: Purse, wanted: Wanted, known: Mapping[Clique, Measured]) -> Knowledge:
    """Measure each column, choose a tree of pairs that are far from independent, measure those; a third for each."""
    third = rounded_down(purse.left / 3)
    knowledge = singles(purse, wanted, known, third)
    columns = range(len(wanted.sizes))
    every: list[Clique] = list(itertools.combinations(columns, 2))
    pairs = [pair for pair in every if knowledge.holds(pair, wanted.most_cells)]
    expected = expected_of(knowledge.model.across, pairs)
    flat, nothing = dict.fromkeys(pairs, 1), dict.fromkeys(pairs, 0.0)
    group, tree = {column: column for column in columns}, list[Clique]()
    for _ in columns[1:]:
        joining = {pair: expected[pair] for pair in pairs if group[pair[0]] != group[pair[1]]}
        if not joining:
            break
        one, other = purse.most_off(joining, flat, nothing, rounded_down(third / (len(columns) - 1)))
        into, gone = group[one], group[other]
        group = {column: into if place == gone else place for column, place in group.items()}
        tree.append((one, other))
    for pair in tree:
        knowledge.add(pair, purse.measure(pair, rounded_down(purse.left / (len(tree) - tree.index(pair)))))
    knowledge.finish()
    return knowledge


def mwem(purse: Purse, wanted: Wanted, known: Mapping[Clique, Measured]) -> Knowledge:
    """Choose the marginal that is most off, measure it, fit, in a number of rounds that is fixed; half for each."""
    rounds = MWEM_ROUNDS * len(wanted.sizes)
    knowledge = singles(purse, wanted, known, rounded_down(purse.left / rounds))
    nothing = dict.fromkeys(wanted.weights, 0.0)
    for done in range(rounds):
        half = rounded_down(purse.left / (rounds - done) / 2)
        small = [each for each in wanted.weights if knowledge.holds(each, wanted.most_cells * (done + 1) / rounds)]
        expected = expected_of(knowledge.model.across, small)
        chosen = purse.most_off(expected, dict.fromkeys(small, 1), nothing, half)
        knowledge.add(chosen, purse.measure(chosen, half))
        knowledge.refit()
    knowledge.finish()
    return knowledge


METHODS: Mapping[str, Method] = {"aim": aim, "mst": mst, "mwem": mwem}

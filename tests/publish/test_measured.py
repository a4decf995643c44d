"""The claim of a tree of ranges, measured from what it releases: not refuted, and refuted with half the noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sordino as so
from sordino.accounting.bound import Bound
from sordino.mechanisms.laplace import Laplace
from sordino.publish.spending import Spend
from sordino.publish.workloads.gram import Workload
from sordino.publish.workloads.range_design import ways

EPSILON = Fraction(1)
COUNTS = np.array([3, 0, 0, 5, 0, 1, 0, 0])


def halved(mechanism: Any) -> Any:
    return Laplace(mechanism.scale / 2, mechanism.grid)


@pytest.mark.long
@pytest.mark.parametrize("honest", [True, False])
def test_the_tree_of_ranges(honest: bool) -> None:
    tree = ways(Workload("ranges", 8), Spend(epsilon=EPSILON), Bound.scalar(1), 1)[0]
    assert not hasattr(tree, "matrix")
    assert len(tree.mechanisms) == 3
    used = [each if honest else halved(each) for each in tree.mechanisms]

    def drawn(value: Any, count: int) -> Any:
        levels = tree.reading.nesting.added_up(np.asarray(value))
        noisy = [
            each + mechanism.law.draw((count, len(each)))
            for each, mechanism in zip(levels[: len(used)], used, strict=True)
        ]
        return np.concatenate(noisy, axis=1)

    pair = (tuple(COUNTS.tolist()), tuple((COUNTS + np.eye(8, dtype=int)[2]).tolist()))
    found = so.audit.measure(drawn, claim=float(EPSILON), pairs=[pair], draws=400_000)
    assert found.refuted is not honest

"""What stands behind counts of graphs, attacked: two neighbouring graphs, as a stranger would tell them apart."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import sordino as so
from sordino.audit.measuring import measure
from sordino.audit.subject import each

WHOLE = np.array(list(combinations(range(5), 2)))
EDGE_LESS = WHOLE[1:]
NODE_LESS = WHOLE[(WHOLE != 0).all(axis=1)]


def publish(make: Any, unit: Any, ends: Any, **words: Any) -> float:
    data = so.account(so.publish.graph("friends", ends, unit=unit, nodes=5), so.unlimited("an audit"))
    made = make(data, **words).run(epsilon=2)
    return float(made.noisy.sum()) if hasattr(made, "noisy") else float(made.value)


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "unit", "less", "words"),
    [
        (so.publish.triangles, "edge", EDGE_LESS, {}),
        (so.publish.stars, "edge", EDGE_LESS, {}),
        (so.publish.degrees, "edge", EDGE_LESS, {}),
        (so.publish.triangles, "node", NODE_LESS, {"caps": (4, 8)}),
        (so.publish.edges, "node", NODE_LESS, {"caps": (1, 4)}),
    ],
)
def test_no_stranger_tells_neighbours_apart(make: Any, unit: str, less: Any, words: dict[str, Any]) -> None:
    inputs = {"whole": WHOLE, "less": less}
    release = each(lambda which: publish(make, unit, inputs[which], **words))
    draws = 4000 if unit == "edge" else 600  # where nodes are protected, each publication solves linear programs
    found = measure(release, claim=2, pairs=[("whole", "less")], draws=draws)
    assert not found.refuted, str(found)


@pytest.mark.long
def test_a_claim_of_too_little_is_refuted() -> None:
    inputs = {"whole": WHOLE, "less": EDGE_LESS}
    release = each(lambda which: publish(so.publish.edges, "edge", inputs[which]))
    assert measure(release, claim="0.5", pairs=[("whole", "less")], draws=4000).refuted

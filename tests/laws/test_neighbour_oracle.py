"""The neighbour oracle: on data with and without one person, everything but the noise is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from laws.cases import CASES
from sordino.accounting.events import Pure
from sordino.accounting.grant import Grant
from sordino.errors import GrantError
from sordino.mechanisms.checks import Case


def kind(released: Any) -> Any:
    """Return all that can be seen of a release without looking at its values."""
    if isinstance(released, np.ndarray):
        return np.ndarray, released.dtype, released.ndim
    if isinstance(released, tuple):
        return type(released), tuple(kind(part) for part in released)
    return type(released)


def refusals(case: Case, value: Any) -> list[str]:
    used = case.grant()
    case.mechanism.release(value, used)
    texts = []
    for grant in (used, Grant(Pure(1), case.bound), None):
        with pytest.raises(GrantError) as refusal:
            case.mechanism.release(value, grant)  # type: ignore[arg-type]
        texts.append(str(refusal.value))
    return texts


def observables(case: Case, value: Any) -> dict[str, Any]:
    mechanism = case.mechanism
    return {
        "kinds": {kind(mechanism.release(value, case.grant())) for _ in range(50)},
        "event": mechanism.event(case.bound).to_json(),
        "error": mechanism.error(0.9),
        "repr": repr(mechanism),
        "refusals": refusals(case, value),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_but_the_noise_is_the_same_on_neighbours(case: Case) -> None:
    here, there = observables(case, case.value), observables(case, case.neighbour)
    assert here == there
    assert len(here["kinds"]) == 1

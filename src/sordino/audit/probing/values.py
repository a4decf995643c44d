"""Values: the noisy answers of one question, again and again from both services, held against the claimed ε.

What is measured is the whole way of an answer: engine, bounding, noise, rounding and JSON. **Guarantee** and limits are
those of `sordino.audit.measure`.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.claim import Claim
from sordino.audit.measured import Measured
from sordino.audit.measuring import measure
from sordino.audit.subject import Subject
from sordino.audit.verdict import CHANCE
from sordino.errors import SordinoError

from .finding import Notebook, Probed
from .line import Line
from .observables import numbers
from .questions import Probe

_AT_A_TIME = 4


class UnansweredError(SordinoError):
    """A service did not answer a question that it answered before."""


def measure_values(
    lines: tuple[Line, Line], dataset: str, question: Probe, epsilon: str, draws: int, seed: int | None
) -> tuple[Probed, Measured | None]:
    """Have one question answered `draws` times by each service, and measure what that tells of one person."""
    note = Notebook("values")
    asked = question.asked(dataset, epsilon)
    price = lines[0].price(asked)
    match price.body:
        case {"epsilon": str(said), "delta": str() | None as delta, "fits": True} if price.status == 200:
            claim = Claim.approximate(said, delta or 0)
        case _:
            return note.probed("the question is not priced here, or does not fit into what is left"), None

    def release(side: int, times: int) -> NDArray[np.float64]:
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            rows = pool.map(lambda _: _answer(lines[side], asked, question), range(times))
            return np.array(list(rows), dtype=np.float64)

    found = measure(Subject(question.sql, release, ((0, 1),), claim), draws=draws, seed=seed)
    words = f"{claim} is claimed; ε ≥ {found.epsilon:.3g} at {found.confidence:.0%} after {found.draws} answers of each"
    note.check(
        not found.refuted, "more is lost than is claimed", words, f"{price.request} at both services", chance=CHANCE
    )
    return note.probed(), found


def _answer(line: Line, asked: Mapping[str, Any], question: Probe) -> list[float]:
    seen = line.run(asked)
    if seen.status != 200:
        raise UnansweredError(
            f"{line.url} answers no more (status {seen.status}); give both services a budget for all the draws",
            "SRD-V043",
        )
    return numbers(seen, question)

"""`audit.service`: two running services, one of them without a person, attacked from outside.

::

    audit.service("http://127.0.0.1:8001", "http://127.0.0.1:8002", token="…", token_without="…", dataset="rides")

Both were started from the same declarations and with the same budget, for the audit alone: it spends, and its last
probe spends everything. First the neighbour oracle asks both the same and compares all that is seen, then values are
measured, then the probes attack the first service: replaying, tampering, refusing, authorization, overspending.
Canaries are listened for all the time.

**Guarantee**: an honest service is accused by the oracle with a chance of at most one in a million, and by the values
with another; what the probes find is no matter of chance. Times, which are compared only when asked, may differ between
two processes for other reasons than their data. A service of which nothing is found may still be broken.
**Assumes**: the second service's data is the first's without exactly one person.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sordino.arguments import one_of, rational, whole
from sordino.audit.dice import dice
from sordino.audit.measured import Measured
from sordino.errors import ArgumentError

from . import tampering
from .authorizing import authorize
from .canaries import Ears
from .finding import Probed, ServiceAudit
from .line import Line, SilentServiceError
from .oracle import Oracle
from .overspending import overspend
from .questions import Grammar
from .refusing import refuse
from .replaying import replay
from .timing import compare_times
from .values import measure_values

Progress = Callable[[float], None]

PROBES = ("oracle", "values", "time", "replaying", "tampering", "refusing", "authorization", "overspending")
"""What may be run, in this order; canaries are listened for whatever is."""


_FEWEST_DRAWS = 200  # of which `measure` makes anything


@dataclass(frozen=True)
class _Plan:
    """What an audit was told."""

    only: tuple[str, ...]
    epsilon: str
    questions: int
    seconds: float
    draws: int
    draws_epsilon: str
    timings: int
    seed: int | None
    owner: str | None
    other: str | None
    auditor: str | None
    key: str | None

    def __post_init__(self) -> None:
        for amount in (self.epsilon, self.draws_epsilon):
            rational("epsilon", amount, above=0)
        for name in self.only:
            one_of("only", name, PROBES)
        for word in ("questions", "draws", "timings"):
            whole(word, getattr(self, word), least=0)
        if self.draws:
            whole("draws", self.draws, least=_FEWEST_DRAWS)


def service(
    with_: str,
    without: str,
    *,
    token: str,
    token_without: str | None = None,
    dataset: str | None = None,
    owner_token: str | None = None,
    other_token: str | None = None,
    auditor_token: str | None = None,
    key: str | None = None,
    canaries: Sequence[str | float] = (),
    epsilon: str = "0.05",
    questions: int = 40,
    seconds: float = 120.0,
    draws: int = 0,
    draws_epsilon: str = "1",
    timings: int = 0,
    only: Sequence[str] = PROBES,
    seed: int | None = None,
    progress: Progress | None = None,
) -> ServiceAudit:
    """Audit a service by its neighbour: two addresses, a token for each, and a data set that both have.

    Args:
        with_: the address of the service on all of the data; the probes attack this one.
        without: the address of the same service on the data without one person.
        token: an analyst's token for the first; `token_without` for the second, if it is another.
        dataset: which to ask about; the only one, if there is one.
        owner_token: an owner's token at the first service, with which a token is issued, revoked and tried.
        other_token: another analyst's token at the first service: what is the first one's must not be seen with it.
        auditor_token: an auditor's token there, with which the whole ledger is hashed again.
        key: the ledger's public key as known from elsewhere; what the service says it is, if left out.
        canaries: texts and numbers that were planted in the data.
        epsilon: what every question spends.
        questions: how many to ask, beside one of every kind.
        seconds: after so many, no more questions are drawn.
        draws: how often one question is answered by each service to measure its ε, at least 200; 0 measures nothing.
        draws_epsilon: what each of these answers spends.
        timings: how many times of runs are compared; 0 compares none.
        only: which probes to run.
        seed: the same questions for the same seed.
        progress: told which part is done.
    """
    begun = time.monotonic()
    plan = _Plan(
        only=tuple(only),
        epsilon=str(epsilon),
        questions=questions,
        seconds=float(seconds),
        draws=draws,
        draws_epsilon=str(draws_epsilon),
        timings=timings,
        seed=seed,
        owner=owner_token,
        other=other_token,
        auditor=auditor_token,
        key=key,
    )
    ears = Ears(canaries)
    with Line(with_, token, ears) as here, Line(without, token_without or token, ears) as there:
        audit = _Audit((here, there), dataset, plan, progress or (lambda _: None))
        probes = (*audit.probes(), ears.probed())
    return ServiceAudit(probes, audit.asked, audit.answered, audit.measured, time.monotonic() - begun)


class _Audit:
    """One audit at work."""

    def __init__(self, lines: tuple[Line, Line], dataset: str | None, plan: _Plan, progress: Progress) -> None:
        self._lines = lines
        self._plan = plan
        self._progress = progress
        self._dataset = _the_one(lines[0], dataset)
        self._check_same_start()
        self._grammar = Grammar(lines[0].get(f"/datasets/{self._dataset}").body, dice(plan.seed))
        self._count = self._grammar.count()
        self._asked = self._count.asked(self._dataset, plan.epsilon)
        self.asked = 0
        self.answered = 0
        self.measured: Measured | None = None

    def probes(self) -> Iterator[Probed]:
        """Run what was asked for, in the order in which it can be run: what spends all comes last."""
        plan, (here, _) = self._plan, self._lines
        first = tampering.checkpoint(here)
        runs: dict[str, Callable[[], Iterable[Probed]]] = {
            "oracle": self._compared,
            "values": self._measured,
            "time": self._timed,
            "replaying": lambda: [
                replay(here, self._dataset, self._count.sql, plan.epsilon, f"replay-{time.time_ns()}")
            ],
            "tampering": lambda: [tampering.tamper(here, self._asked, first, plan.auditor, plan.key)],
            "refusing": lambda: [refuse(here, self._dataset, self._grammar.tables[0], plan.epsilon)],
            "authorization": lambda: [
                authorize(here, self._dataset, self._asked, plan.owner, plan.other, plan.auditor)
            ],
            "overspending": lambda: [overspend(here, self._dataset, self._count.sql)],
        }
        for place, name in enumerate(PROBES):
            if name in plan.only:
                yield from runs[name]()
            self._progress(0.8 + 0.2 * (place + 1) / len(PROBES))

    def _measured(self) -> Iterator[Probed]:
        plan = self._plan
        if plan.draws:
            probed, self.measured = measure_values(
                self._lines, self._dataset, self._count, plan.draws_epsilon, plan.draws, plan.seed
            )
            yield probed

    def _timed(self) -> Iterator[Probed]:
        if self._plan.timings:
            yield compare_times(self._lines, self._asked, self._plan.timings)

    def _compared(self) -> tuple[Probed, Probed]:
        plan = self._plan
        oracle = Oracle(*self._lines, self._dataset, plan.epsilon)
        oracle.catalogue()
        until = time.monotonic() + plan.seconds
        first = self._grammar.first()
        total = len(first) + plan.questions
        for number in range(total):
            if time.monotonic() > until or not oracle.in_step:
                break
            oracle.ask(first[number] if number < len(first) else self._grammar.next())
            self.asked += 1
            self._progress(0.8 * (number + 1) / total)
        self.answered = oracle.answered
        return oracle.probed()

    def _check_same_start(self) -> None:
        here, there = (line.standing(self._dataset) for line in self._lines)
        if (here.used, here.charges) != (there.used, there.charges):
            raise ArgumentError(
                "the two services do not begin alike: start both afresh, from the same declarations and budget, so "
                "that whatever differs later comes from the data",
                "SRD-V044",
            )


def _the_one(line: Line, dataset: str | None) -> str:
    seen = line.get("/datasets")
    if seen.status != 200 or not isinstance(seen.body, dict):
        raise SilentServiceError(
            f"{line.url} lists no data sets (status {seen.status}); give a token that an owner of it issued", "SRD-V040"
        )
    names = [str(each["name"]) for each in seen.body.get("datasets", ())]
    if dataset is None and len(names) == 1:
        return names[0]
    if dataset not in names:
        raise ArgumentError(f"name a data set that the token may ask about: {', '.join(names)}", "SRD-V041")
    return dataset

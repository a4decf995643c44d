"""sordino on one machine: a ledger in a file (or on a server), and data sets whose questions are charged to it.

>>> import tempfile
>>> import pyarrow as pa
>>> import sordino as so
>>> folder = tempfile.TemporaryDirectory()
>>> rides = so.dataset("rides", pa.table({"rider": [1, 1, 2]}), unit="rider", limits=so.limits(rows=2))
>>> with so.open(f"{folder.name}/budget.db") as house:
...     answer = house.account(rides, so.budget(epsilon=1)).sql("SELECT COUNT(*) AS n FROM rides").run(epsilon=0.5)
...     house.verify().sound
True
>>> folder.cleanup()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from sordino.accounting.budget import Budget
from sordino.accounting.neighbours import Neighbours
from sordino.data.account import DataAccount, Protected, blocks_of, check_protected
from sordino.data.dataset import Dataset
from sordino.data.ownership import checked_name
from sordino.errors import LedgerError
from sordino.gate import FREE, Gate, Policy
from sordino.ledger.account import LedgerAccount
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import Place
from sordino.ledger.periods import Refresh
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.verify import Report
from sordino.ledger.witness import Witness
from sordino.query.ask import TableAccount

from .keeping.machine import user
from .surveys import rounds

if TYPE_CHECKING:
    from sordino.collect.round import Closed, Round
    from sordino.collect.surveys import Survey

P = TypeVar("P", bound=Protected)


class House:
    """A ledger and what is charged to it. Build it with `open`; close it, or use it in a ``with``."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    @overload
    def account(
        self,
        protected: Dataset,
        budget: Budget | None = None,
        *,
        analyst: str | None = None,
        project: str | None = None,
        refresh: Refresh | None = None,
        groups: tuple[str, ...] = (),
        policy: Policy = FREE,
    ) -> TableAccount: ...

    @overload
    def account(
        self,
        protected: P,
        budget: Budget | None = None,
        *,
        analyst: str | None = None,
        project: str | None = None,
        refresh: Refresh | None = None,
        groups: tuple[str, ...] = (),
        policy: Policy = FREE,
    ) -> DataAccount[P]: ...

    def account(
        self,
        protected: Any,
        budget: Budget | None = None,
        *,
        analyst: str | None = None,
        project: str | None = None,
        refresh: Refresh | None = None,
        groups: tuple[str, ...] = (),
        policy: Policy = FREE,
    ) -> DataAccount[Any]:
        """Return what is protected, with everything charged to its budget in the ledger; tables can be asked.

        The first time, `budget` opens it; after that it may be left out, and must be the same if given: to change it,
        use `raise_budget`, which writes down who did and why. The name of a data set is its identity: another table
        under the same name is charged to the same budget.
        """
        check_protected(protected)
        who = analyst or user()
        scope = Scope("dataset", protected.name)
        self._open(scope, protected, budget, refresh, groups, who)
        gate = Gate(LedgerAccount(self.ledger, scope, who, project=project), policy=policy)
        return TableAccount(protected, gate) if isinstance(protected, Dataset) else DataAccount(protected, gate)

    def open_group(
        self,
        name: str,
        budget: Budget,
        *,
        unit: str,
        neighbours: Neighbours = Neighbours.REPLACE_ONE,
        by: str | None = None,
    ) -> None:
        """Open the budget that all data sets about the same people share, beside their own.

        Under replace-one, which is the default, surveys and tables of add/remove may share it; each is charged there
        what it costs if one person is replaced.
        """
        rule = Rule.open(budget, unit=checked_name("unit", unit), neighbours=neighbours)
        self.ledger.open_scope(Scope("group", checked_name("the group's name", name)), rule, by or user())

    def collect(self, survey: Survey, budget: Budget | None = None, *, analyst: str | None = None) -> Round:
        """Open a round of a survey, charged here, before a report is accepted; its reports lie beside the ledger.

        The first time, `budget` opens the survey's own budget: by default one that holds this round and nothing beside
        it. A round that is open already goes on, under the charge that it was opened with, also after a restart.
        """
        return rounds.collect(self, survey, budget, analyst or user())

    def collected(self, survey: Survey, *, spark: Any = None) -> Closed:
        """Return a round that was closed before, with its receipt: to estimate again is free.

        Its reports are counted again, on DuckDB or on a session of `spark`, and must come to what was settled.
        """
        return rounds.closed_of(self.ledger, survey, rounds.folder_beside(self.ledger, survey), spark)

    def raise_budget(self, dataset: str, budget: Budget, *, reason: str, by: str | None = None) -> None:
        """Give a data set another budget; who did it and why is in the ledger for good."""
        self.ledger.set_budget(Scope("dataset", dataset), budget, by or user(), reason)

    def verify(self) -> Report:
        """Read the whole ledger again and judge it: every entry, every signature, the witness."""
        return self.ledger.verify()

    def close(self) -> None:
        """Give the ledger's files back."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"House({self.ledger!r})"

    def _open(
        self,
        scope: Scope,
        protected: Protected,
        budget: Budget | None,
        refresh: Refresh | None,
        groups: tuple[str, ...],
        by: str,
    ) -> None:
        blocks = blocks_of(protected)
        known = self.ledger.look(lambda state: state.balances.get(scope.text))
        if known is None:
            if budget is None:
                raise LedgerError(
                    f"{scope} has no budget in this ledger yet; give one, as budget(epsilon=1)", "SRD-L022"
                )
            rule = Rule.open(
                budget,
                unit=protected.unit.name,
                neighbours=protected.neighbours,
                refresh=refresh,
                blocks=blocks,
                groups=groups,
            )
            self.ledger.open_scope(scope, rule, by)
        elif known.rule.blocks != blocks:
            how = "with" if known.rule.blocks else "without"
            raise LedgerError(
                f"{scope} was opened {how} a budget for each day, and is declared "
                "otherwise now: what was spent does not carry over; declare it as before, or under another name",
                "SRD-L026",
            )
        elif budget is not None and budget != known.rule.budget:
            raise LedgerError(
                f"{scope} was opened with the budget {known.rule.budget}, not {budget}; leave the budget out, or "
                "change it with raise_budget(…, reason=…)",
                "SRD-L026",
            )


def open(  # noqa: A001
    place: Place, *, key: Place | None = None, witness: Witness | Place | None = None, files: Place | None = None
) -> House:
    """Return the house whose ledger is at a path (SQLite) or a URL (PostgreSQL), made if there is none.

    `key` is the file of the signing key and `witness` a file elsewhere that remembers the newest checkpoint; for a path
    they lie beside it unless given, and so does `files`, the directory of large releases. Keep the witness where
    whoever can write the ledger cannot: that is what shows a ledger that was rolled back.
    """
    return House(Ledger.open(place, key=key, witness=witness, files=files))

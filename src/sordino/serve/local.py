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

from typing import Self

from sordino.accounting.budget import Budget
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, LedgerError
from sordino.gate import FREE, Gate, Policy
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import Place
from sordino.ledger.periods import Refresh
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.verify import Report
from sordino.ledger.witness import Witness
from sordino.query.ask import DataAccount
from sordino.query.data.dataset import Dataset
from sordino.query.model.blocks import kind_of_blocks

from .machine import user


class House:
    """A ledger and what is charged to it. Build it with `open`; close it, or use it in a ``with``."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def account(
        self,
        dataset: Dataset,
        budget: Budget | None = None,
        *,
        analyst: str | None = None,
        project: str | None = None,
        refresh: Refresh | None = None,
        groups: tuple[str, ...] = (),
        policy: Policy = FREE,
    ) -> DataAccount:
        """Return a data set that can be asked, with everything charged to its budget in the ledger.

        The first time, `budget` opens it; after that it may be left out, and must be the same if given: to change it,
        use `raise_budget`, which writes down who did and why. The name of a data set is its identity: another table
        under the same name is charged to the same budget.
        """
        if not isinstance(dataset, Dataset):
            raise ArgumentError(f"dataset must be made by dataset(…), not {type(dataset).__name__}", "SRD-A001")
        who = analyst or user()
        scope = Scope("dataset", dataset.name)
        self._open(scope, dataset, budget, refresh, groups, who)
        return DataAccount(dataset, Gate(self.ledger, scope, who, project=project, policy=policy))

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
        dataset: Dataset,
        budget: Budget | None,
        refresh: Refresh | None,
        groups: tuple[str, ...],
        by: str,
    ) -> None:
        known = self.ledger.look(lambda state: state.balances.get(scope.text))
        if known is None:
            if budget is None:
                raise LedgerError(
                    f"{scope} has no budget in this ledger yet; give one, as budget(epsilon=1)", "SRD-L022"
                )
            rule = Rule.open(
                budget,
                unit=dataset.unit.name,
                neighbours=Neighbours.ADD_REMOVE,
                refresh=refresh,
                blocks=kind_of_blocks(dataset.schema),
                groups=groups,
            )
            self.ledger.open_scope(scope, rule, by)
        elif known.rule.blocks != kind_of_blocks(dataset.schema):
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


def open(place: Place, *, key: Place | None = None, witness: Witness | Place | None = None) -> House:  # noqa: A001
    """Return the house whose ledger is at a path (SQLite) or a URL (PostgreSQL), made if there is none.

    `key` is the file of the signing key and `witness` a file elsewhere that remembers the newest checkpoint; for a path
    they lie beside it unless given. Keep the witness where whoever can write the ledger cannot: that is what shows a
    ledger that was rolled back.
    """
    return House(Ledger.open(place, key=key, witness=witness))

"""What was released, by whom, at which price: lists, single releases, receipts, and the transparency page."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from sordino.errors import LedgerError
from sordino.ledger.periods import moment
from sordino.ledger.scope import Scope
from sordino.ledger.state import State
from sordino.serve.asking.premises import Premises
from sordino.serve.keeping.identity import Principal
from sordino.serve.refusals import ForbiddenError, UnknownError

from .budgets import lifetime, summary
from .journal import Journal, Record

MOST_LISTED = 500
_FACTS = ("question", "price", "noise", "bounding", "unit", "neighbours", "sordino")


class Archive:
    """The ledger's releases as people look for them."""

    def __init__(self, house: Premises, journal: Journal) -> None:
        self._house = house
        self._journal = journal
        self._facts = lru_cache(maxsize=10_000)(self._read_facts)  # what is settled never changes

    def releases(self, who: Principal, dataset: str | None, before: int | None, limit: int) -> list[dict[str, Any]]:
        """Return the newest releases that `who` may see; `before` is the position of the last one on a page."""
        if dataset is not None:
            self._house.row(who, dataset)
        found: list[dict[str, Any]] = []
        for record in self._journal.newest(before):
            if len(found) >= min(limit, MOST_LISTED):
                break
            if _may_see(who, record) and dataset in (None, record.dataset):
                found.append(self._shown(record))
        return found

    def release(self, who: Principal, identifier: str) -> dict[str, Any]:
        """Return one release with its answer."""
        record = self._record(who, identifier)
        answer = None if record.settled is None else _read(self._house.ledger.release(identifier))
        entry, facts = record.entry, self._facts_of(record)
        ran = {"event": json.loads(entry.event), "unit": entry.unit, "neighbours": entry.neighbours}
        return {**self._shown(record), **ran, "sordino": facts.get("sordino"), "answer": answer}

    def table(self, who: Principal, identifier: str) -> str:
        """Return what was released as comma-separated values, if it is a table."""
        found = self.release(who, identifier)
        kind = self._house.kinds.get(found["what"])
        if found["answer"] is None or kind is None or kind.csv is None:
            raise UnknownError("nothing was released under this id that is one table")
        return kind.csv(found["answer"])

    def receipt(self, who: Principal, identifier: str) -> str:
        """Return the receipt of a release, under the newest checkpoint, as the text that verifies."""
        record = self._record(who, identifier)
        if record.settled is None:
            raise UnknownError("nothing was released under this id, so there is no receipt; its charge stands")
        return self._house.ledger.receipt(identifier).to_json()

    def transparency(self, who: Principal | None, dataset: str) -> dict[str, Any]:
        """Return what the public may know of everything that was released from a data set, without the answers."""
        self._check_open(who)
        if self._house.registry.dataset(dataset) is None or (who is not None and not who.may_see(dataset)):
            raise UnknownError("dataset")
        rule = self._house.ledger.look(lambda state: _rule(state, dataset))
        records = [record for record in self._journal.newest() if record.dataset == dataset]
        named = who is not None and who.role in ("owner", "auditor")
        return {
            "dataset": dataset,
            "unit": rule.unit,
            "neighbours": None if rule.neighbours is None else rule.neighbours.value,
            "promise": rule.promise,
            "composition": _COMPOSITION[rule.budget.calculus],
            "budget": summary(self._house, dataset),
            "lifetime": lifetime(self._house, dataset),
            "groups": list(rule.groups),
            "charges": len(records),
            "failed": sum(record.outcome == "failed" for record in records),
            "releases": [self._public(record, named=named) for record in records[:MOST_LISTED]],
        }

    def transparent(self, who: Principal | None) -> list[str]:
        """Return the names of the data sets whose transparency page `who`, or anybody, may read."""
        self._check_open(who)
        return [name for name in self._house.registry.names() if who is None or who.may_see(name)]

    def _check_open(self, who: Principal | None) -> None:
        if who is None and not self._house.settings.public_transparency:
            raise ForbiddenError("the transparency pages of this service are not public; log in")

    def _record(self, who: Principal, identifier: str) -> Record:
        record = self._journal.record(identifier)
        if record is None or not _may_see(who, record):
            raise UnknownError("release")
        return record

    def _facts_of(self, record: Record) -> dict[str, Any]:
        return self._facts(record.entry.id) if record.settled is not None else {}

    def _read_facts(self, identifier: str) -> dict[str, Any]:
        """Return what a release says of itself, as far as it says it: another kind may say nothing of this."""
        try:
            body = _read(self._house.ledger.release(identifier))
        except LedgerError:
            return {}
        match body:
            case {"details": {**facts}, "columns": [*columns]}:
                shown = [
                    {"name": each["name"], "kind": each["kind"], "noisy": "low" in each}
                    for each in columns
                    if isinstance(each, dict) and {"name", "kind"} <= each.keys()
                ]
                return {name: facts.get(name) for name in _FACTS} | {"columns": shown}
            case {"details": {**facts}}:
                return {name: facts.get(name) for name in _FACTS}
        return {}

    def _shown(self, record: Record) -> dict[str, Any]:
        entry, facts = record.entry, self._facts_of(record)
        part, cost = self._cost(record)
        return {
            "id": entry.id,
            "position": entry.sequence,
            "dataset": record.dataset,
            "analyst": entry.analyst,
            "project": entry.project,
            "what": entry.what,
            "time": moment(entry.time),
            "outcome": record.outcome,
            "code": record.code,
            "part": part,
            "cost": cost,
            "sql": facts.get("question"),
            "price": facts.get("price"),
            "columns": facts.get("columns"),
        }

    def _public(self, record: Record, *, named: bool) -> dict[str, Any]:
        entry, facts = record.entry, self._facts_of(record)
        said = {
            "position": entry.sequence,
            "time": moment(entry.time),
            "what": entry.what,
            "outcome": record.outcome,
            "unit": entry.unit,
            "neighbours": entry.neighbours,
            "part": self._cost(record)[0],
            "price": facts.get("price"),
            "noise": facts.get("noise") if named else _without_question(facts.get("noise")),
            "bounding": facts.get("bounding"),
            "event": json.loads(entry.event),
        }
        return said | ({"id": entry.id, "analyst": entry.analyst, "sql": facts.get("question")} if named else {})

    def _cost(self, record: Record) -> tuple[float, str]:
        """Return by how much a charge raised the used part of the data set's budget of today, and it in words."""
        scope = f"dataset:{record.dataset}"
        rule = self._house.ledger.look(lambda state: _rule(state, record.dataset))
        risen, amount = self._journal.risen(record, rule), record.charges[scope][1]
        return risen.rise, " = ".join(list(rule.filter.columns.describe(amount).items())[risen.column])


def _read(body: bytes) -> Any:
    """Return what was released as JSON says it; a text that is none is shown as it is."""
    try:
        return json.loads(body)
    except ValueError:
        return {"text": body.decode(errors="replace")}


_COMPOSITION = {
    "pure": "pure ε: the ε of all releases add up, whoever asks and in whatever order",
    "zcdp": "zero-concentrated: the ρ of all releases add up, whoever asks and in whatever order",
    "renyi": "(ε, δ) by a Rényi filter: divergences add up order by order, whoever asks and in whatever order",
}


def _without_question(noises: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Return noises without what each was added to, which is a piece of somebody's question."""
    return noises and [{name: value for name, value in noise.items() if name != "of"} for noise in noises]


def _may_see(who: Principal, record: Record) -> bool:
    if who.role == "analyst":
        return record.entry.analyst == who.subject and who.may_see(record.dataset)
    return who.may_see(record.dataset)


def _rule(state: State, dataset: str) -> Any:
    return state.balance(Scope("dataset", dataset)).rule

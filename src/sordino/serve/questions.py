"""Running a question: a plain dictionary in, the released answer out.

**Guarantee**: the order of every run is parse → price → reserve → touch data → answer → settle; what is refused was
refused before data was touched; what was asked under an idempotency key is answered and charged once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sordino.errors import ArgumentError, BudgetError, ConflictError, RunError
from sordino.gate import ApprovalError, ReplayedError
from sordino.ledger.reservation import Replay
from sordino.query.answer.answer import Answer

from .house import Asked, House, Stage
from .identity import Principal
from .interrupted import INTERRUPTED, LOST_CHARGED, left_behind
from .quotation import quotation
from .reading import Read
from .refusals import BusyError, StateError
from .registry import MOST_WISHES, random_hex

_LONGEST_KEY = 200


def price(house: House, who: Principal, question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a question costs and how far off its answer will be; touches no data (see ``quotation.py``)."""
    who.must_be("owner", "analyst")
    read = Read(question)
    asked = house.asked(who, read.dataset)
    holdings = house.held(who, asked, read.project, asked.opened.days(read.ask))
    if house.price_processes is not None:
        schema = asked.opened.dataset.schema
        return house.price_processes.price((asked.name, asked.version), schema, holdings, asked.policy, read.plain)
    data, quote = asked.quoted(holdings)
    return quotation(data, quote, asked.policy, read)


def run(house: House, who: Principal, question: Mapping[str, Any], key: str | None, stage: Stage) -> dict[str, Any]:
    """Charge a question and return the released answer, or what was released under the same key before."""
    who.must_be("owner", "analyst")
    read = Read(question)
    asked = house.asked(who, read.dataset)
    hidden = key_digest(who, random_hex() if key is None else key)
    earlier = None if key is None else house.ledger.replayed(hidden)
    if earlier is not None:
        return _replayed(house, read, earlier, hidden)
    approval = house.registry.take_approval(who.subject, read.digest)
    gate = {
        "project": read.project,
        "approved": approval is not None,
        "key": hidden,
        "asked": read.digest,
        "stage": stage,
    }
    try:
        answer = _answered(house, who, asked, read, gate)
    except ReplayedError as error:
        if approval is not None:
            house.registry.return_approval(approval)
        return _replayed(house, read, error.replay, hidden)
    except ApprovalError as error:
        if (meanwhile := house.ledger.replayed(hidden)) is not None:  # sent twice, and the other one had the approval
            return _replayed(house, read, meanwhile, hidden)
        wish = house.registry.ask_approval(
            read.dataset, who.subject, read.digest, json.dumps(read.plain, ensure_ascii=False), error.message
        )
        if wish is None:
            raise BusyError(f"{MOST_WISHES} of your wishes for approval wait already", "SRD-S014", 60) from None
        raise ApprovalError(f"{error.message} (asked for as approval {wish})", error.code) from None
    except RunError:
        raise
    except BaseException:
        if approval is not None and house.ledger.replayed(hidden) is None:
            house.registry.return_approval(approval)
        raise
    receipt = answer.proof
    return _released(read.dataset, read.text, receipt.release, receipt.to_json(), replayed=False)


def key_digest(who: Principal, key: str) -> str:
    """Return what the ledger keeps of an idempotency key; it is the subject's own, so that nobody meets another's."""
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise ArgumentError(f"an idempotency key is 1 to {_LONGEST_KEY} printable characters", "SRD-A001")
    return hashlib.sha256(f"{len(who.subject)} {who.subject} {key}".encode()).hexdigest()


def _answered(house: House, who: Principal, asked: Asked, read: Read, gate: dict[str, Any]) -> Answer:
    """Run a question through the gate; where it does not fit, also say whose budget is short, and until when."""
    data, _ = house.asking(who, asked, **gate)
    try:
        return read.ask(data).run(**read.words)
    except BudgetError as refusal:
        if refusal.code != "SRD-B001":
            raise
        said = refusal.message
    quoted, quote = asked.quoted(house.held(who, asked, read.project, asked.opened.days(read.ask)))
    short = quote.short(read.ask(quoted).plan(**read.words).event())
    raise BudgetError(said + (f"; what falls short is {short}" if short else ""), "SRD-B001")


def _replayed(house: House, read: Read, earlier: Replay, key: str) -> dict[str, Any]:
    if earlier.request != read.digest:
        raise ConflictError(
            "this idempotency key was used before for another request; use a new key for a new request", "SRD-L030"
        )
    if left_behind(house, earlier, key):
        raise RunError(LOST_CHARGED, INTERRUPTED)
    if earlier.running:
        raise StateError("the request under this idempotency key is still running; ask again later", "SRD-S008")
    if earlier.release is None:
        raise RunError("the engine could not finish this question; what was charged stays charged", "SRD-R001")
    receipt = house.ledger.receipt(earlier.id)
    return _released(read.dataset, read.text, earlier.release, receipt.to_json(), replayed=True, identifier=earlier.id)


def _released(
    dataset: str, sql: str, body: bytes, receipt: str, *, replayed: bool, identifier: str | None = None
) -> dict[str, Any]:
    charge = json.loads(json.loads(receipt)["reserved"])
    return {
        "id": identifier or charge["id"],
        "dataset": dataset,
        "sql": sql,
        "answer": json.loads(body),
        "receipt": receipt,
        "replayed": replayed,
    }

"""What happens in the demo, one act after the other, each checked: what is not as it should be ends it.

The folder is one that ``sordino init`` could have made (``sordino.yaml``, declarations, ledger, key, witness), so that
all other commands work in it at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.data.dataset import Dataset
from sordino.data.declarations_file import dataset_from_file
from sordino.errors import BudgetError
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.opening import store_at
from sordino.ledger.receipt import Facts, Receipt, verify_receipt
from sordino.ledger.verify import Report, verify_store
from sordino.ledger.witness import FileWitness
from sordino.query.answer.answer import Answer
from sordino.query.ask import TableAccount
from sordino.query.plan.price import Price
from sordino.serve.keeping.identity import local_owner
from sordino.serve.local import House
from sordino.serve.local import open as open_house
from sordino.serve.service import Service
from sordino.serve.settings import Settings

from .rides import BUDGET, DECLARATIONS, ONE_TOO_MANY, QUESTIONS, SETTINGS, Scene, true_rows, write_rides

if TYPE_CHECKING:
    from .showing import Shown

LEDGER, ALTERED, RECEIPT = "budget.db", "altered.db", "receipt.json"
_ANALYST = "ann"
_CHARGED = b'"charges":[["dataset:rides",[],"'


class UnexpectedError(Exception):
    """Something in the demo was not as it should be."""


@dataclass(frozen=True)
class Asked:
    """One answered question, with what is true where data is made up, and which part of the budget is used after it."""

    number: int
    question: Scene
    text: str
    price: Price
    answer: Answer
    used: float
    truth: dict[Any, tuple[Any, ...]]
    """The true values of the noisy columns, by key."""

    def true_values(self, name: str) -> list[float]:
        """Return what is true of a column, row by row."""
        place = self.answer.noisy_names.index(name)
        return [float(self.truth[key][place]) for key in self.keys]

    @property
    def keys(self) -> list[Any]:
        """The key of each row; None where there is none."""
        names = [name for name in self.answer.names if name not in self.answer.noisy_names]
        return list(self.answer[names[0]]) if names else [None] * len(self.answer)


@dataclass(frozen=True)
class Judged:
    """The ledger, read again from the first entry to the last."""

    report: Report
    checkpoint: Checkpoint
    key: str


@dataclass(frozen=True)
class Story:
    """Everything that happened, for the report."""

    folder: Path
    dataset: Dataset
    asked: tuple[Asked, ...]
    refusal: str
    remaining: str
    judged: Judged
    facts: Facts
    altered: Report

    @property
    def covered(self) -> tuple[int, int]:
        """How many intervals hold the truth, and how many there are."""
        found = [
            bool(low <= true <= high)
            for asked in self.asked
            for name in asked.answer.noisy_names
            for low, high, true in zip(*asked.answer.interval(name), asked.true_values(name), strict=True)
        ]
        return sum(found), len(found)


def tell(folder: Path, teller: Shown) -> Story:
    """Make the folder, and have everything happen in it."""
    prepare(folder)
    dataset = dataset_from_file(folder / "rides.yaml")
    teller.declared(dataset)
    with open_house(folder / LEDGER) as house:
        data = house.account(dataset, analyst=_ANALYST)
        asked = tuple(_ask_all(folder, data, teller))
        refusal, remaining = _refuse(data, teller)
        judged = _judge(house, asked)
    teller.judged(judged)
    facts = _check_receipt(folder, asked[0].answer)
    teller.receipt(facts, folder / RECEIPT)
    altered = _alter(folder)
    teller.altered(altered, folder / ALTERED)
    return Story(folder, dataset, asked, refusal, remaining, judged, facts, altered)


def prepare(folder: Path) -> None:
    """Write the sample and its declarations, and register it with its budget."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rides(folder / "rides.parquet")
    (folder / "rides.yaml").write_text(DECLARATIONS, encoding="utf-8")
    (folder / "sordino.yaml").write_text(SETTINGS, encoding="utf-8")
    with Service.open(Settings(database=str(folder / LEDGER), data=str(folder))) as service:
        service.register(local_owner(), DECLARATIONS, BUDGET)


def _ask_all(folder: Path, data: TableAccount, teller: Shown) -> Iterator[Asked]:
    used = 0.0
    for number, question in enumerate(QUESTIONS, start=1):
        ask = question.ask(data)
        price = ask.price(**question.words)
        teller.priced(number, question, ask.text, price)
        answer = ask.run(**question.words)
        after = data.account.used
        must(after > used, "an answer came, and nothing was charged for it")
        used = after
        truth = _by_key(answer, true_rows(folder / "rides.parquet", question))
        asked = Asked(number, question, ask.text, price, answer, used, truth)
        teller.answered(asked)
        yield asked


def _by_key(answer: Answer, rows: list[tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
    keyed = len(answer.names) > len(answer.noisy_names)
    return {row[0] if keyed else None: row[1:] if keyed else row for row in rows}


def _refuse(data: TableAccount, teller: Shown) -> tuple[str, str]:
    """Ask for more than is left: refused before the data is touched, with what would fit."""
    ask = ONE_TOO_MANY.ask(data)
    price, before = ask.price(**ONE_TOO_MANY.words), data.account.spent
    must(not price.fits, "the seventh question is said to fit a budget that it does not")
    try:
        ask.run(**ONE_TOO_MANY.words)
    except BudgetError as error:
        refusal, remaining = error.message, str(data.remaining)
    else:
        raise UnexpectedError("the seventh question was answered: the budget does not hold")
    must(data.account.spent == before, "what was refused was charged")
    must("would fit" in refusal, "the refusal does not say what would fit")
    teller.refused(ONE_TOO_MANY, price, refusal, remaining)
    return refusal, remaining


def _judge(house: House, asked: tuple[Asked, ...]) -> Judged:
    report, key = house.verify(), house.ledger.key
    must(report.sound, f"the ledger is not sound: {report}")
    must(report.size == 1 + 2 * len(asked), "the ledger does not hold an opening, and a charge and a settlement each")
    return Judged(report, Checkpoint.open(house.ledger.checkpoint(), key), key.text)


def _check_receipt(folder: Path, answer: Answer) -> Facts:
    """Check a receipt as a stranger would: by the file, the answer, and the public key from a file of its own."""
    path = folder / RECEIPT
    path.write_text(answer.receipt.to_json(), encoding="utf-8")
    public = (folder / f"{LEDGER}.pub").read_text(encoding="utf-8").strip()
    return verify_receipt(Receipt.from_json(path.read_text(encoding="utf-8")), public, answer.to_json().encode())


def _alter(folder: Path) -> Report:
    """Alter one byte of a copy of the ledger, a digit of what somebody was charged, and verify the copy."""
    copy = folder / ALTERED
    shutil.copy(folder / LEDGER, copy)
    must(verified(folder, copy).sound, "a plain copy of the ledger does not verify")
    held = bytearray(copy.read_bytes())
    last = held.index(b'"', held.index(_CHARGED) + len(_CHARGED)) - 1
    held[last] = ord("1") if held[last] == ord("0") else held[last] - 1
    copy.write_bytes(held)
    found = verified(folder, copy)
    must(not found.sound, "a byte of the ledger was altered, and nobody noticed")
    return found


def verified(folder: Path, ledger: Path) -> Report:
    """Return what a verification finds that knows the public key and the witness of the folder."""
    public = VerifyingKey.parse((folder / f"{LEDGER}.pub").read_text(encoding="utf-8").strip())
    store = store_at(str(ledger))
    try:
        return verify_store(store, public, FileWitness(folder / f"{LEDGER}.witness"))
    finally:
        store.close()


def must(holds: bool, otherwise: str) -> None:
    """End the demo if something is not as it should be."""
    if not holds:
        raise UnexpectedError(otherwise)

"""``audit.report``: the transparency report of a data set or of one release, signed, as JSON and as a page.

>>> import tempfile
>>> import pyarrow as pa
>>> import sordino as so
>>> folder = tempfile.TemporaryDirectory()
>>> rides = so.dataset("rides", pa.table({"rider": [1, 1, 2]}), unit="rider", limits=so.limits(rows=2))
>>> with so.open(f"{folder.name}/budget.db") as house:
...     answer = house.account(rides, so.budget(epsilon=1)).sql("SELECT COUNT(*) AS n FROM rides").run(epsilon=0.5)
...     told = so.audit.report(house, "rides", purpose="Planning").sign(f"{folder.name}/budget.db.key")
>>> told.content["spent"]["columns"][1]["spent"], told.check(told.content["ledger"]["key"]).holds
('0.5', True)
>>> folder.cleanup()
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.ledger.canonical import encode
from sordino.ledger.entries import from_bytes
from sordino.ledger.keys import SigningKey
from sordino.ledger.note import sign
from sordino.ledger.receipt import Receipt

from .content import FORMAT, VERSION, dataset_content, release_content
from .registry import checked_sector, checked_updates, with_numbers
from .sources import source_of
from .statements import Statements

if TYPE_CHECKING:
    from .checks import Checked


_PARTS = 2
"""A file holds the content and the note that signs it, and nothing else."""


@dataclass(frozen=True)
class Report:
    """A transparency report. Build it with `report`, or from a file with `Report.from_json`."""

    text: str
    """The content as canonical JSON: what is signed."""
    note: str | None = None
    """The signed note (C2SP) that names the content's digest, or None while nobody has signed."""

    @property
    def content(self) -> dict[str, Any]:
        """All that the report says."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    def sign(self, key: SigningKey | str | os.PathLike[str]) -> Report:
        """Return the report signed by a key, or by the key in a file: the ledger's own, as receipts are."""
        held = key if isinstance(key, SigningKey) else SigningKey.load(key)
        return Report(self.text, sign(self.statement, held))

    @property
    def statement(self) -> str:
        """The text that is signed: what this is, about what, and the digest of the content.

        Its second line is no number, so it is no checkpoint, and its first line holds spaces, so it is of no log.
        """
        content = self.content
        about = " ".join(content["subject"][name] for name in ("dataset", "release") if name in content["subject"])
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return f"{FORMAT} v{VERSION}\nof {about}\nmade {content['made']}\nsha256 {digest}\n"

    def to_json(self) -> str:
        """Return the file to publish: the content and the signed note."""
        whole = {"report": self.content, "note": self.note}
        return json.dumps(whole, ensure_ascii=False, sort_keys=True, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Report:
        """Return the report in a file, or raise `ArgumentError`; nothing in it has been checked.

        What is said twice, or beside the content that is signed, is refused: others might read that instead.
        """
        try:
            whole = json.loads(text, object_pairs_hook=_said_once)
            content, note = whole["report"], whole["note"]
            fine = (
                len(whole) == _PARTS
                and content["format"] == FORMAT
                and content["v"] == VERSION
                and (note is None or isinstance(note, str))
            )
            canonical = encode(content).decode()
        except (KeyError, TypeError, ValueError):
            fine = False
        if not fine:
            raise ArgumentError(
                "this is not a transparency report of this version; take the JSON file as it was published", "SRD-V060"
            )
        return Report(canonical, note)

    def to_html(self) -> str:
        """Return the report as one page of HTML that needs no other file, no script and no network."""
        from .page import page

        return page(self)

    def registry(self) -> dict[str, Any]:
        """Return the draft of a record for the OpenDP deployments registry."""
        return with_numbers(self.content["registry"])

    def check(self, key: str, *, signer: str | None = None, release: bytes | None = None) -> Checked:
        """Return what holds of this report for somebody who trusts the ledger's public `key`; see ``checking.py``."""
        from .checking import check_report

        return check_report(self, key, signer=signer, release=release)

    def __repr__(self) -> str:
        content = self.content
        signed = "signed" if self.note is not None else "not signed"
        return f"Report({content['subject']['dataset']}, {len(content['releases'])} releases, {signed})"


def report(
    source: Any,
    dataset: str | None = None,
    *,
    release: Any = None,
    named: bool = False,
    **statements: str | None,
) -> Report:
    """Return the transparency report of a data set, or of one `release` from it.

    Args:
        source: what ``so.open`` or ``so.connect`` returned, one of their accounts, or a `Ledger`.
        dataset: the name of the data set; may be left out where `source` is an account.
        release: the id of a release, its receipt or its answer; then the report is about that alone.
        named: whether analysts, questions and columns may be named in the report of a data set. Then the ledger's
            entries are enclosed, too, each with its proof. A report of one release always names them.
        statements: what only people can say; see `Statements`. What is left out is shown as *not stated*.

    **Guarantee**: no value of data is in it; only what the ledger and the releases' own receipts show.
    """
    said = _statements(statements)
    found = source_of(source)
    name = dataset or _name(source)
    from sordino.serve.afar.client import Connection

    if isinstance(found, Connection):
        from .told import told_content, told_release_content

        identifier = None if release is None else _identifier(release)
        content = (
            told_content(found, name, said) if identifier is None else told_release_content(found, identifier, said)
        )
        return Report(encode(content).decode())
    from .book import read_book

    book = read_book(found.entries(), name)
    if release is None:
        content = dataset_content(found, book, said, named=named)
    else:
        content = release_content(found, book, _identifier(release), said)
    return Report(encode(content).decode())


def _said_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, in which no name stands twice."""
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a name stands twice")
    return found


def _statements(given: Mapping[str, str | None]) -> Statements:
    known = Statements.__dataclass_fields__
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ArgumentError(f"a report has no field {unknown[0]!r}; it has {', '.join(known)}", "SRD-A002")
    checked_sector(given.get("sector"))
    checked_updates(given.get("updates"))
    return Statements(**given)


def _name(source: Any) -> str:
    """Return the data set of an account."""
    found = source.protected if isinstance(source, DataAccount) else getattr(source, "dataset", None) or source
    name = getattr(found, "name", None)
    if not isinstance(name, str):
        raise ArgumentError("say which data set: report(house, 'trips')", "SRD-A003")
    return name


def _identifier(release: Any) -> str:
    """Return the id of a release that was given as such, as a receipt, or as an answer."""
    receipt = getattr(release, "receipt", release)
    if isinstance(receipt, Receipt):
        return str(getattr(from_bytes(receipt.reserved), "id", ""))
    if isinstance(receipt, str):
        return receipt
    raise ArgumentError("release must be an id, a receipt, or an answer that was charged to a ledger", "SRD-A001")

"""``sordino audit release``: check a transparency report or a receipt, offline, with public keys alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sordino.errors import ArgumentError
from sordino.serve.commands.ledger import key_text
from sordino.serve.commands.place import JsonOption, read_bytes, read_text

from .showing import conclude


def release(
    file: Annotated[Path, typer.Argument(help="A transparency report (JSON) or a receipt, as it was given out.")],
    key: Annotated[str, typer.Option(help="The ledger's public key, or the file that holds it.")],
    signer: Annotated[
        str | None, typer.Option(help="The public key of whoever signed the report, if not the ledger's.")
    ] = None,
    released: Annotated[
        Path | None, typer.Option("--release", help="What is said to have been released, to be compared.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check signature, proofs and arithmetic of a report or a receipt. Exit code 1: it does not hold."""
    from sordino.audit.transparency.receipts import check_receipt
    from sordino.audit.transparency.report import Report
    from sordino.ledger.keys import VerifyingKey

    text, public = read_text(file), VerifyingKey.parse(key_text(key)).text
    body = None if released is None else read_bytes(released)
    kind = _kind(text)
    if kind == "receipt":
        checked = check_receipt(text, public, body)
    elif kind == "report":
        other = None if signer is None else VerifyingKey.parse(key_text(signer)).text
        checked = Report.from_json(text).check(public, signer=other, release=body)
    else:
        raise ArgumentError(
            f"{file} is neither a transparency report nor a receipt; give the JSON file as it was published "
            "(not the page made from it)",
            "SRD-V060",
        )
    conclude(checked, refuted=not checked.holds, as_json=as_json)


def _kind(text: str) -> str | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    return "report" if "report" in found else "receipt" if "reserved" in found else None

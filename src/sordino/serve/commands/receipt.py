"""``sordino receipt``: check a receipt offline, with the public key alone, or fetch one again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sordino.errors import LedgerError

from .ledger import key_text
from .place import HERE, DirectoryOption, JsonOption, TokenOption, UrlOption, desk, read_bytes, read_text, say, say_json

app = typer.Typer(help="Check a receipt offline, or fetch one again.", no_args_is_help=True)

_CAPS = "that all charges together kept within the budget (sordino ledger verify --reprice)"


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="The receipt as it was given out.")],
    key: Annotated[str, typer.Option(help="The ledger's public key, or the file that holds it.")],
    release: Annotated[Path | None, typer.Option(help="What is said to have been released, to be compared.")] = None,
    cosigner: Annotated[
        list[str] | None, typer.Option(help="The key of a cosigner, or its file; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a receipt with the ledger's public key, and price it again. Exit code 1: it does not hold."""
    from sordino.ledger.cosignature import Cosigner
    from sordino.ledger.keys import VerifyingKey
    from sordino.ledger.periods import moment
    from sordino.ledger.receipt import Receipt, verify_receipt
    from sordino.ledger.repricing import UNDERCHARGED, repriced

    public = VerifyingKey.parse(key_text(key)).text
    text, body = read_text(file).removesuffix("\n"), None if release is None else read_bytes(release)
    try:
        cosigners = [Cosigner.parse(key_text(each)) for each in cosigner or ()]
        facts = verify_receipt(Receipt.from_json(text), public, body, cosigners)
        covered, short, skipped = repriced(facts.reserved, facts.rules)
        if short:
            raise LedgerError("; ".join(short), UNDERCHARGED)
    except LedgerError as error:
        if as_json:
            say_json({"holds": False, "code": error.code, "reason": error.message})
        else:
            say(f"DOES NOT HOLD: {error.message} ({error.code})")
        raise typer.Exit(1) from None
    if as_json:
        seen = [{"name": each.name, "time": moment(1000 * each.time)} for each in facts.cosigned]
        told = {"cosigned": seen, "id": facts.settled.id, "position": facts.reserved.sequence, "text": str(facts)}
        say_json({"holds": True, **told, "priced_again": covered, "not_checked": [*skipped, _CAPS]})
        return
    compared = "the release is the one that was settled" if facts.release is not None else "no release was compared"
    say(f"holds: {facts}; {compared}; the charge covers the event, priced again: {'; '.join(covered)}")
    for each in facts.cosigned:
        say(f"{each.name} saw it at {moment(1000 * each.time)}")
    say(f"not checked: {', '.join([*skipped, _CAPS])}")


@app.command()
def show(
    identifier: Annotated[str, typer.Argument(help="The id of a release.")],
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
) -> None:
    """Print the receipt of a release again, as the text that verifies."""
    with desk(directory, url, token) as asked:
        typer.echo(asked.receipt(identifier), nl=False)

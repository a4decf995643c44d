"""``sordino audit accountant``: try events on an accountant, and show the smallest that breaks a check."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any

import typer

from sordino.errors import ArgumentError
from sordino.serve.commands.place import JsonOption

from .calling import load_callable
from .showing import SeedOption, bar, conclude

_PEERS = ("dp_accounting-rdp", "dp_accounting-pld")


def accountant(
    price: Annotated[
        str | None, typer.Argument(help="package.module:price, called as price(event, delta), gives ε.")
    ] = None,
    peer: Annotated[str | None, typer.Option(help=f"Or an accountant of others: {' or '.join(_PEERS)}.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often every kind of event is tried.")] = 2,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try events on an accountant. Exit code 1: it prices something below what is certainly lost; 2: it crashed."""
    from sordino.audit.accountants.judging import accountant as audit

    priced = _price(price, peer)
    with bar("events") as told:
        found = audit(priced, rounds=rounds, seed=seed, progress=lambda done, whole: told(done / max(whole, 1)))
    if not found.priced and not found.crashed:
        raise ArgumentError(
            "the accountant gave no finite price for any event, so nothing was audited; it is called with an event of "
            "sordino and δ, and returns ε",
            "SRD-V062",
        )
    conclude(found, refuted=found.refuted, as_json=as_json, nothing=bool(found.crashed))


def _price(path: str | None, peer: str | None) -> Callable[[Any, float], float | None]:
    if (path is None) == (peer is None):
        raise ArgumentError("name an accountant: package.module:price, or --peer dp_accounting-rdp", "SRD-A003")
    if path is not None:
        return load_callable(path)
    if peer not in _PEERS:
        raise ArgumentError(f"--peer must be one of {', '.join(_PEERS)}", "SRD-A002")
    from sordino.audit.accountants.elsewhere import dp_accounting

    logging.getLogger("absl").setLevel(logging.ERROR)  # it warns of every order that it leaves out
    return dp_accounting(str(peer).partition("-")[2])

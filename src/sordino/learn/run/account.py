"""Whether an account was opened for what is trained on."""

from __future__ import annotations

from typing import Any

from sordino.data.account import DataAccount
from sordino.errors import ArgumentError

from .examples import Examples


def check_account(account: Any, examples: Any) -> None:
    """Refuse an account that was not opened for these examples, or examples whose source does not answer."""
    if not isinstance(examples, Examples):
        raise ArgumentError("declare what is trained on: learn.examples(name, x, y, size=…)", "SRD-A001")
    if not isinstance(account, DataAccount):
        raise ArgumentError(
            "budget must be an account of the examples: so.open(…).account(examples, so.budget(…)), or "
            "so.account(examples, so.budget(…)) in memory",
            "SRD-A001",
        )
    if account.protected.name != examples.name:
        raise ArgumentError(
            f"budget is the account of {account.protected.name!r}, not of {examples.name!r}; open one for what is "
            "trained on",
            "SRD-A003",
        )
    account.account.protect(examples.unit, examples.neighbours)
    examples.check_ready()

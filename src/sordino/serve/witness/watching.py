"""Who watches over the service's ledger: a file, or another sordino over HTTP, as the settings say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import key_for, store_at
from sordino.serve.refusals import SettingsError
from sordino.serve.settings import Settings

if TYPE_CHECKING:
    from .witnessing import RemoteWitness

TOKEN = "SORDINO_WITNESS_TOKEN"  # noqa: S105  (the name of the variable)


class Watcher(Protocol):
    """What the gate asks of a witness that takes a while to answer."""

    def check(self) -> None:
        """Raise if nothing should be charged now, as it could not be witnessed."""

    def wait(self) -> None:
        """Return when all that was committed by now was witnessed, or raise."""


class Unwatched:
    """Nobody to wait for: a witness that is a file is told before a commit returns."""

    def check(self) -> None:
        """Let everything pass."""

    def wait(self) -> None:
        """Let everything pass."""


def open_ledger(settings: Settings) -> tuple[Ledger, Watcher]:
    """Open the ledger of a service with its witness, and return both."""
    if settings.witness_url is None:
        return Ledger.open(
            settings.database, key=settings.key, witness=settings.witness, files=settings.files
        ), Unwatched()
    store = store_at(settings.database)
    try:
        key = key_for(store, settings.key)
    finally:
        store.close()
    witness = remote_witness(settings, key.verifier, key)
    try:
        ledger = Ledger.open(settings.database, key=settings.key, witness=witness, files=settings.files)
    except BaseException:
        witness.close()
        raise
    witness.attend(ledger)
    return ledger, witness


def remote_witness(settings: Settings, key: VerifyingKey, signer: SigningKey | None = None) -> RemoteWitness:
    """Return the witness at an address, for the ledger of a key; without the `signer` it can be asked, and not told."""
    # Here, as only those whose witness is an address need the client.
    from .line import WitnessLine
    from .witnessing import RemoteWitness

    line = WitnessLine(settings.witness_url or "", key.text, _token(settings), settings.witness_seconds, signer=signer)
    return RemoteWitness(line, settings.witness_seconds, settings.witness_grace_seconds)


def _token(settings: Settings) -> str:
    """Return the token for the witness, from the environment or a file."""
    token = os.environ.get(TOKEN, "")
    if not token and settings.witness_token_file is not None:
        try:
            token = Path(settings.witness_token_file).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            raise SettingsError(f"{settings.witness_token_file} cannot be read as a token", "SRD-S010") from None
    if not token.strip():
        raise SettingsError(
            f"a witness that is an address needs an auditor's token there: in witness_token_file, or in {TOKEN}",
            "SRD-S010",
        )
    return token.strip()

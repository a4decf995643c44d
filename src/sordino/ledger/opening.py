"""What a ledger needs to be opened: from a path or a URL to its store, its key and its witness."""

from __future__ import annotations

import os
from pathlib import Path

from sordino.errors import ArgumentError

from .files import FileStore
from .keyfile import KeyFile, token
from .keys import SigningKey
from .store import Store
from .store_sqlite import SqliteStore
from .witness import FileWitness, NoWitness, Witness

__all__ = ["Place", "files_for", "key_file", "key_for", "store_at", "token", "witness_for"]

Place = str | os.PathLike[str]

_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def store_at(where: Place) -> Store:
    """Return the store at a path (SQLite) or a URL (PostgreSQL), made if it is missing."""
    text = os.fspath(where)
    if not text.startswith(_POSTGRES):
        return SqliteStore(text)
    # Here, as only those who share a ledger need the driver.
    from .store_postgres import PostgresStore

    return PostgresStore(text)


def key_for(store: Store, key: SigningKey | Place | None, origin: str | None = None) -> SigningKey:
    """Return the key of the ledger in `store`: the one given, the one in the file named, or the one beside a file.

    A missing file is made, with a new key below `origin`, if the ledger is new as well.
    """
    if isinstance(key, SigningKey):
        return key
    found = key_file(store, key)
    assert found is not None  # noqa: S101  (there is one unless the key itself was given)
    return found.load(store, origin)


def key_file(store: Store, key: SigningKey | Place | None) -> KeyFile | None:
    """Return the file of the key; None where the key itself was given."""
    if isinstance(key, SigningKey):
        return None
    return KeyFile(_beside(store, ".key", "key") if key is None else Path(key))


def witness_for(store: Store, witness: Witness | Place | None) -> Witness:
    """Return the witness given, the one in the file named, or the one beside a file."""
    if isinstance(witness, FileWitness | NoWitness):
        return witness
    if witness is None:
        return FileWitness(_beside(store, ".witness", "witness"))
    if isinstance(witness, str | os.PathLike):
        if "://" in os.fspath(witness):
            raise ArgumentError("a witness that is an address is for services: set it in sordino.yaml", "SRD-A003")
        return FileWitness(witness)
    return witness


def files_for(store: Store, files: Place | None) -> FileStore:
    """Return the directory named, or the one beside a file; a ledger on a server has none unless it is named."""
    if files is not None:
        return FileStore(Path(files).absolute())
    return FileStore(_beside(store, ".files", "files") if isinstance(store, SqliteStore) else None)


def _beside(store: Store, suffix: str, argument: str) -> Path:
    if not isinstance(store, SqliteStore):
        raise ArgumentError(
            f"a ledger on a server has no files beside it: give {argument}=, a path on this machine", "SRD-A003"
        )
    return store.path.with_name(store.path.name + suffix)

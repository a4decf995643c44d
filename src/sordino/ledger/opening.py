"""What a ledger needs to be opened: from a path or a URL to its store, its key and its witness."""

from __future__ import annotations

import os
from pathlib import Path

from sordino.errors import ArgumentError, LedgerError
from sordino.noise.keystream import SOURCE

from .files import FileStore
from .keys import SigningKey
from .store import Store
from .store_sqlite import SqliteStore
from .witness import FileWitness, NoWitness, Witness

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


def key_for(store: Store, key: SigningKey | Place | None) -> SigningKey:
    """Return the key of the ledger in `store`: the one given, the one in the file named, or the one beside a file.

    A missing file is made, with a new key, if the ledger is new as well.
    """
    if isinstance(key, SigningKey):
        return key
    path = _beside(store, ".key", "key") if key is None else Path(key)
    if not path.exists():
        _make_key(store, path)
    found = SigningKey.load(path)
    _keep_public(path.with_suffix(".pub"), found)
    return found


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


def token() -> str:
    """Return 128 random bits in hexadecimal digits."""
    return f"{SOURCE.word():016x}{SOURCE.word():016x}"


def _beside(store: Store, suffix: str, argument: str) -> Path:
    if not isinstance(store, SqliteStore):
        raise ArgumentError(
            f"a ledger on a server has no files beside it: give {argument}=, a path on this machine", "SRD-A003"
        )
    return store.path.with_name(store.path.name + suffix)


def _make_key(store: Store, path: Path) -> None:
    with store.reading() as reading:
        if reading.head() is not None:
            raise LedgerError(
                f"the ledger {store.place} exists, but its key {path} does not; put the key back: with another one "
                "nothing could be signed that anybody believes",
                "SRD-L056",
            )
    try:
        SigningKey.generate(f"sordino-ledger-{token()[:16]}").save(path)
    except LedgerError:
        if not path.exists():
            raise  # otherwise another process was faster, and its key is the one


def _keep_public(path: Path, key: SigningKey) -> None:
    """Write the public half beside the key, for whoever checks receipts; refuse one that is of another key."""
    line = f"{key.verifier.text}\n"
    if not path.exists():
        scratch = path.with_name(f".{path.name}.{token()}")
        with scratch.open("w", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())  # or a power loss could leave an empty file in its place
        os.replace(scratch, path)
    elif path.read_text(encoding="utf-8") != line:
        raise LedgerError(
            f"{path} is not the public half of the key beside it; find out which one is right", "SRD-L056"
        )

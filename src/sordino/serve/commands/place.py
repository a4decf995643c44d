"""Where a command finds what it works on: the ``sordino.yaml`` of a directory, or a service behind a URL.

Whoever can open the ledger and its key on this machine is its owner here; to a service, one is whom the token says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from sordino.errors import ArgumentError

if TYPE_CHECKING:
    from sordino.serve.afar.remote import Remote
    from sordino.serve.kinds.kind import Kind
    from sordino.serve.service import Service
    from sordino.serve.settings import Settings

DirectoryOption = Annotated[
    Path, typer.Option("--directory", "-C", help="The directory with sordino.yaml.", show_default=False)
]
DatasetOption = Annotated[str | None, typer.Option("--dataset", help="Which data set; may be left out if one is all.")]
UrlOption = Annotated[str | None, typer.Option("--url", help="A service to ask instead; or SORDINO_URL.")]
TokenOption = Annotated[str | None, typer.Option("--token", help="Your token there; better in SORDINO_TOKEN.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether to go on.")]
HERE = Path()

_PATHS = (
    "database",
    "key",
    "files",
    "witness",
    "witness_token_file",
    "data",
    "session_secret_file",
    "oidc_secret_file",
)


class LocalDesk:
    """A service that was opened here, asked by the owner of this machine's files; `Remote` is one elsewhere."""

    def __init__(self, service: Service) -> None:
        from sordino.serve.keeping.identity import local_owner

        self._service = service
        self._who = local_owner()

    def datasets(self) -> list[dict[str, Any]]:
        """Return all data sets."""
        return self._service.datasets(self._who)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """All kinds that are offered here."""
        return self._service.house.kinds

    def price(self, kind: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a request costs."""
        return self._service.price(self._who, kind, request)

    def run(
        self, kind: str, request: Mapping[str, Any], key: str | None, stage: Callable[[str], None]
    ) -> dict[str, Any]:
        """Charge a request and return what is released."""
        return self._service.run(self._who, kind, request, key, stage)

    def jobs(self) -> list[dict[str, Any]]:
        """Return the newest jobs."""
        return self._service.jobs.jobs(self._who)

    def change_job(self, identifier: str, verb: str) -> dict[str, Any]:
        """Stop or resume a job."""
        change = self._service.jobs.stop if verb == "stop" else self._service.jobs.resume
        return change(self._who, identifier)

    def job_file(self, identifier: str, name: str) -> bytes:
        """Return a file that a settled job left."""
        return self._service.jobs.file(self._who, identifier, name).read_bytes()

    def budget(self, dataset: str) -> dict[str, Any]:
        """Return all about the budget of a data set."""
        return self._service.budget(self._who, dataset)

    def receipt(self, identifier: str) -> str:
        """Return a receipt as the text that verifies."""
        return self._service.receipt(self._who, identifier)


def settings_in(directory: Path) -> Settings:
    """Return the settings of a directory; paths in them are relative to it."""
    from sordino.serve.refusals import SettingsError
    from sordino.serve.settings import FILE, PREFIX, Settings

    file = directory / FILE
    if not file.exists() and f"{PREFIX}DATABASE" not in os.environ:
        raise SettingsError(
            f"there is no {FILE} in {directory.absolute()}; begin with sordino init SOURCE --unit COLUMN --epsilon E, "
            "or name the directory by --directory",
            "SRD-S010",
        )
    return beside(directory, Settings.load(file if file.exists() else None))


def beside(directory: Path, settings: Settings) -> Settings:
    """Return settings with paths that are good from any working directory."""
    given = {name: getattr(settings, name) for name in _PATHS}
    found = {name: str(directory.absolute() / text) for name, text in given.items() if text and "://" not in text}
    return settings.with_changes(**found)


@contextmanager
def opened(directory: Path) -> Iterator[Service]:
    """Yield the service of a directory, without a server."""
    from sordino.serve.service import Service

    with Service.open(settings_in(directory)) as service:
        yield service


@contextmanager
def desk(directory: Path, url: str | None, token: str | None) -> Iterator[LocalDesk | Remote]:
    """Yield the service behind a URL if there is a token for it, else that of a directory."""
    address, secret = url or os.environ.get("SORDINO_URL"), token or os.environ.get("SORDINO_TOKEN")
    if url is None and secret is None:  # the address alone may be what a service here is told that it is called
        with opened(directory) as service:
            yield LocalDesk(service)
        return
    from sordino.serve.afar.client import http_client
    from sordino.serve.afar.remote import Remote

    remote = Remote(http_client(address, secret))
    try:
        yield remote
    finally:
        remote.close()


def say(*texts: Any) -> None:
    """Print texts and tables for people: nothing in a text is read as markup, or obeyed by a terminal."""
    console = Console(highlight=False, soft_wrap=True)
    for text in texts:
        console.print(printable(text) if isinstance(text, str) else text, markup=False)


def cell(text: str) -> str:
    """Return a text for a table of rich, to be shown as it is."""
    return escape(printable(text))


def printable(text: str) -> str:
    """Return a text without what terminals obey."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def say_json(value: Any) -> None:
    """Print for programs."""
    typer.echo(json.dumps(value, ensure_ascii=False))


def write_new(path: Path, text: str) -> None:
    """Write a file that was not there before."""
    check_new(path)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ArgumentError(f"{path} cannot be written ({error.strerror})", "SRD-A003") from None


def check_new(path: Path) -> None:
    """Refuse a path at which nothing new can be written, before anything is done for it."""
    if path.exists() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ArgumentError(f"{path} exists already or cannot be written; name another file", "SRD-A003")


def read_text(path: Path) -> str:
    """Return the text of a file that the caller named."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(f"{path} cannot be read as UTF-8 text; check the path", "SRD-A004") from None


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file that the caller named."""
    try:
        return path.read_bytes()
    except OSError:
        raise ArgumentError(f"{path} cannot be read; check the path", "SRD-A004") from None

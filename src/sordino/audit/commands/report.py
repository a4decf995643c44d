"""``sordino audit report``: write the transparency report of a data set or of one release, signed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.errors import ArgumentError
from sordino.serve.commands.place import (
    HERE,
    DatasetOption,
    DirectoryOption,
    TokenOption,
    UrlOption,
    check_new,
    opened,
    read_text,
    say,
    settings_in,
    write_new,
)

if TYPE_CHECKING:
    from sordino.audit.transparency.report import Report


def report(
    out: Annotated[Path, typer.Argument(help="The new file of the report: report.json.")],
    page: Annotated[
        Path | None, typer.Option(help="Also write the report as a page of HTML into this new file.")
    ] = None,
    registry: Annotated[
        Path | None, typer.Option(help="Also write a draft for the OpenDP deployments registry (YAML).")
    ] = None,
    release: Annotated[str | None, typer.Option(help="The id of one release, to report on that alone.")] = None,
    named: Annotated[
        bool, typer.Option("--named", help="Name analysts, questions and columns; enclose entries.")
    ] = False,
    statements: Annotated[
        Path | None, typer.Option(help="A YAML file with what only people can say: purpose, curator, contact, …")
    ] = None,
    dataset: DatasetOption = None,
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
) -> None:
    """Write a transparency report, signed with the ledger's key where the ledger is here."""
    for path in (out, page, registry):
        if path is not None:
            check_new(path)
    said = {} if statements is None else _statements(statements)
    told = (
        _from_service(url, token, dataset, release, named, said)
        if url
        else _from_here(directory, dataset, release, named, said)
    )
    write_new(out, told.to_json())
    if page is not None:
        write_new(page, told.to_html())
    if registry is not None:
        import yaml

        write_new(registry, yaml.safe_dump(told.registry(), allow_unicode=True, sort_keys=False, width=100))
    signed = "signed" if told.note is not None else "not signed: the key is with the ledger's owner"
    say(f"{out}: {len(told.content['releases'])} releases, {signed}")


def _from_here(directory: Path, dataset: str | None, release: str | None, named: bool, said: dict[str, Any]) -> Report:
    from sordino.audit.transparency.report import report as build

    settings = settings_in(directory)
    key = settings.key or (None if "://" in settings.database else f"{settings.database}.key")
    if key is None:
        raise ArgumentError("sordino.yaml names no key for a ledger on a server; set key there", "SRD-A003")
    with opened(directory) as service:
        told = build(service.ledger, dataset or _only(service.ledger), release=release, named=named, **said)
    return told.sign(key)


def _from_service(
    url: str, token: str | None, dataset: str | None, release: str | None, named: bool, said: dict[str, Any]
) -> Report:
    from sordino.audit.transparency.report import report as build
    from sordino.serve.afar.client import connect, the_one

    with connect(url, token) as connection:
        name = the_one(connection.datasets(), dataset)
        return build(connection, name, release=release, named=named, **said)


def _only(ledger: Any) -> str:
    """Return the only data set of a ledger."""
    from sordino.serve.afar.client import the_one

    scopes = ledger.look(lambda state: sorted(state.balances))
    return the_one([text.partition(":")[2] for text in scopes if text.startswith("dataset:")], None)


def _statements(path: Path) -> dict[str, Any]:
    from sordino.data.strict_yaml import parse

    found = parse(read_text(path), str(path))
    if not isinstance(found, dict):
        raise ArgumentError(f"{path} must hold names and texts, as in purpose: Planning of bus lines", "SRD-A001")
    return {str(name): None if value is None else str(value) for name, value in found.items()}

"""``sordino serve``: the service of a directory on a port of this machine, until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sordino.errors import ArgumentError

from .place import HERE, DirectoryOption, settings_in

if TYPE_CHECKING:
    from sordino.serve.settings import Settings


def serve(
    directory: DirectoryOption = HERE,
    host: Annotated[str | None, typer.Option(help="The address to listen at; as set, or loopback.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; as set, or 8000.")] = None,
    owner_token: Annotated[bool, typer.Option("--owner-token", help="Print an owner's token, good for a day.")] = False,
) -> None:
    """Start the service and its dashboard; let people in by sordino token issue."""
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = settings_in(directory).with_changes(**given)
    try:
        from sordino.serve.running import serve as run
    except ImportError:
        raise ArgumentError("the service needs an extra: pip install 'sordino[serve]'", "SRD-A005") from None
    typer.echo(f"http://{settings.host}:{settings.port}, until Ctrl-C", err=True)
    if owner_token:
        typer.echo(f"an owner's token, good for a day: {_token(settings)}", err=True)
    run(settings)


def _token(settings: Settings) -> str:
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.service import Service

    who = local_owner()
    with Service.open(settings) as service:
        return service.issue_token(who, who.subject, "owner", days=1)

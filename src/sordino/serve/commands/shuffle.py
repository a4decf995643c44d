"""``sordino shuffle``: mix the reports of somebody else's survey, so that nobody knows whose is which."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sordino.errors import ArgumentError

from .place import HERE, say

if TYPE_CHECKING:
    from sordino.collect.sealing import PartyKey


def shuffle(
    survey: Annotated[
        str | None,
        typer.Option(
            "--survey", help="The survey's page, as https://a.example.org/s/pets; without it, only the key is told."
        ),
    ] = None,
    directory: Annotated[
        Path, typer.Option("--directory", "-C", help="Where the key lies, and what waits.", show_default=False)
    ] = HERE,
    wait_for: Annotated[
        int | None, typer.Option(help="How many reports the batch has; the survey's batch, or more.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.")] = 8001,
) -> None:
    """Take sealed reports of a survey, wait for the batch, mix it, send it to the analyser, and forget it."""
    from sordino.collect.sealing import PartyKey

    if (directory / "sordino.yaml").exists():
        raise ArgumentError(
            "this directory is that of a service: an analyser who shuffles by its own hands earns nothing by it; let "
            "somebody else run the shuffler, on a machine of their own",
            "SRD-C718",
        )
    key = PartyKey.at(directory / "shuffler.key")
    say(f"key: {key.text}")
    if survey is not None:
        _run(survey, key, directory, wait_for, host, port)


def _run(survey: str, key: PartyKey, directory: Path, wait_for: int | None, host: str, port: int) -> None:
    from sordino.collect import participant
    from sordino.collect.shuffle.shuffler import Shuffler

    try:
        import uvicorn

        from sordino.serve.surveys.shuffling import Shuffling
    except ImportError:
        raise ArgumentError("a shuffler needs an extra: pip install 'sordino[serve,collect]'", "SRD-A005") from None
    poll = participant.asked_at(survey)
    shuffler = Shuffler(poll, key, directory / poll.digest.hex(), wait_for=wait_for)
    say(f"http://{host}:{port} mixes {poll.name}: {shuffler.wait_for:,} reports make the batch; until Ctrl-C")
    app = Shuffling(shuffler, participant.address(survey))
    config = uvicorn.Config(app, host=host, port=port, access_log=False, log_level="warning", server_header=False)
    uvicorn.Server(config).run()

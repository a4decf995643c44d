"""``sordino audit service``: two running services, one of them without a person, attacked from outside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sordino.errors import ArgumentError
from sordino.serve.commands.ledger import key_text
from sordino.serve.commands.place import DatasetOption, JsonOption, read_text

from .showing import SeedOption, bar, conclude

_VARIABLES = {
    "--token-file": "SORDINO_TOKEN",
    "--token-without-file": "SORDINO_TOKEN_WITHOUT",
    "--other-token-file": "SORDINO_OTHER_TOKEN",
    "--auditor-token-file": "SORDINO_AUDITOR_TOKEN",
    "--owner-token-file": "SORDINO_OWNER_TOKEN",
}
"""Where tokens are looked for that no file holds; they never stand on the command line, where others can read them."""


_TokenFile = Annotated[Path | None, typer.Option(help="The file of an analyst's token at the first; or SORDINO_TOKEN.")]
_TokenWithoutFile = Annotated[
    Path | None, typer.Option(help="The same at the second, if it is another; or SORDINO_TOKEN_WITHOUT.")
]
_OtherTokenFile = Annotated[
    Path | None, typer.Option(help="The file of another analyst's token; or SORDINO_OTHER_TOKEN.")
]
_AuditorTokenFile = Annotated[
    Path | None, typer.Option(help="The file of an auditor's token; or SORDINO_AUDITOR_TOKEN.")
]
_OwnerTokenFile = Annotated[Path | None, typer.Option(help="The file of an owner's token; or SORDINO_OWNER_TOKEN.")]


def service(
    url: Annotated[str, typer.Argument(help="The service on all of the data; the probes attack this one.")],
    without: Annotated[str, typer.Argument(help="The same service on the data without one person.")],
    token_file: _TokenFile = None,
    token_without_file: _TokenWithoutFile = None,
    other_token_file: _OtherTokenFile = None,
    auditor_token_file: _AuditorTokenFile = None,
    owner_token_file: _OwnerTokenFile = None,
    key: Annotated[str | None, typer.Option(help="The ledger's public key, or its file, if known.")] = None,
    canary: Annotated[list[str] | None, typer.Option(help="A text planted in the data; again for more.")] = None,
    epsilon: Annotated[str, typer.Option(help="What every question spends.")] = "0.05",
    questions: Annotated[int, typer.Option(min=0, help="How many questions to ask, beside one of every kind.")] = 40,
    seconds: Annotated[float, typer.Option(min=1, help="After so many seconds no more questions are drawn.")] = 120.0,
    draws: Annotated[int, typer.Option(min=0, help="Answers to measure ε of one question from; 0 measures none.")] = 0,
    dataset: DatasetOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Audit a service that was set up for it: the audit spends its whole budget. Exit code 1: something was found."""
    from sordino.audit.probing.service import service as audit

    token = _token("--token-file", token_file)
    if token is None:
        raise ArgumentError(
            "an analyst's token is needed: put it into a file and name it by --token-file, or into SORDINO_TOKEN",
            "SRD-A003",
        )
    with bar("probes") as told:
        found = audit(
            url,
            without,
            token=token,
            token_without=_token("--token-without-file", token_without_file),
            other_token=_token("--other-token-file", other_token_file),
            auditor_token=_token("--auditor-token-file", auditor_token_file),
            owner_token=_token("--owner-token-file", owner_token_file),
            key=None if key is None else key_text(key),
            canaries=canary or (),
            epsilon=epsilon,
            questions=questions,
            seconds=seconds,
            draws=draws,
            dataset=dataset,
            seed=seed,
            progress=told,
        )
    conclude(found, refuted=found.refuted, as_json=as_json)


def _token(option: str, file: Path | None) -> str | None:
    """Return a token from its file or its environment variable."""
    if file is not None:
        return read_text(file).strip()
    return os.environ.get(_VARIABLES[option]) or None

"""``sordino explain``: what ε and δ mean in plain words, for one person and for a family of five."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sordino.accounting.explain import explain as explanation_of
from sordino.errors import ArgumentError

from .place import JsonOption


def explain(
    epsilon: Annotated[str, typer.Option(help="ε of the release, or of all releases together.")],
    delta: Annotated[str, typer.Option(help="δ; 0 for pure differential privacy.")] = "0",
    people: Annotated[int | None, typer.Option(help="How many people are in the data, to say what δ means.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the trade-off curve into this file (png, svg).")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say in plain words what (ε, δ) promises: odds, shifted beliefs, a family of five, what δ means."""
    explanation = explanation_of(epsilon, delta, people=people)
    if plot is not None:
        _save(plot, explanation.plot())
    typer.echo(json.dumps(explanation.to_dict(), ensure_ascii=False) if as_json else str(explanation))


def _save(path: Path, figure: object) -> None:
    try:
        figure.savefig(path)  # type: ignore[attr-defined]
    except (OSError, ValueError):
        raise ArgumentError(f"{path} cannot be written as a picture; name a .png or .svg file", "SRD-A003") from None

"""``sordino ask``: the price of a question, or its answer with intervals, notes and a receipt."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sordino.errors import ArgumentError

from .place import (
    HERE,
    DatasetOption,
    Desk,
    DirectoryOption,
    JsonOption,
    TokenOption,
    UrlOption,
    check_new,
    desk,
    say,
    say_json,
    write_new,
)

_GOAL = re.compile(r"\s*(\S+)\s+of\s+(\S.*?)\s*")


def ask(
    sql: Annotated[str, typer.Argument(help="The question, in SQL.")],
    epsilon: Annotated[str | None, typer.Option(help="What to spend: ε of the whole question.")] = None,
    rho: Annotated[str | None, typer.Option(help="What to spend: ρ of the whole question.")] = None,
    error: Annotated[str | None, typer.Option(help='Or how far off it may be: "0.05 of fare".')] = None,
    size: Annotated[str | None, typer.Option(help="The smallest group that --error must hold for, in rows.")] = None,
    noise: Annotated[str | None, typer.Option(help="Or the standard deviation of the noise in a count.")] = None,
    delta: Annotated[str | None, typer.Option(help="δ, for private keys and Gaussian noise.")] = None,
    confidence: Annotated[str, typer.Option(help="The confidence of intervals.")] = "0.95",
    dataset: DatasetOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell the price; no data is touched.")] = False,
    key: Annotated[str | None, typer.Option(help="The same question under the same key is charged once.")] = None,
    receipt: Annotated[Path | None, typer.Option(help="Write the signed receipt into this new file.")] = None,
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a question: its price with --dry-run, else its answer, which is charged."""
    if receipt is not None:
        check_new(receipt)
    amounts = {"epsilon": epsilon, "rho": rho, "noise": noise, "delta": delta, "error": _goal(error, size, confidence)}
    with desk(directory, url, token) as asked:
        question = {
            "dataset": _named(asked, dataset),
            "sql": sql,
            **{name: value for name, value in amounts.items() if value is not None},
            "words": {"confidence": confidence},
        }
        if dry_run:
            _show_price(asked.price(question), as_json)
            return
        released = _run(asked, question, key)
    if receipt is not None:
        write_new(receipt, released["receipt"])
    _show_answer(released, receipt, as_json)


def _goal(error: str | None, size: str | None, confidence: str) -> dict[str, Any] | None:
    if error is None:
        if size is not None:
            raise ArgumentError("--size says for which groups --error must hold; give both", "SRD-A003")
        return None
    read = _GOAL.fullmatch(error)
    if read is None:
        raise ArgumentError('--error reads "0.05 of fare": how far off, and of which column', "SRD-A001")
    goal = {"within": read[1], "of": read[2], "confidence": confidence}
    return goal if size is None else goal | {"size": size}


def _named(asked: Desk, dataset: str | None) -> str:
    from sordino.serve.client import the_one

    return dataset or the_one([each["name"] for each in asked.datasets()], None)


def _run(asked: Desk, question: dict[str, Any], key: str | None) -> dict[str, Any]:
    console = Console(stderr=True)
    with console.status("planned") as line:
        return asked.run(question, key, line.update)


def _show_price(told: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(told)
        return
    from sordino.serve.told import ToldPrice

    price = ToldPrice.of(told)
    say(str(price), f"used so far: {100 * price.used:.3g} % of the budget; nothing was charged")


def _show_answer(released: dict[str, Any], receipt: Path | None, as_json: bool) -> None:
    if as_json:
        say_json(released)
        return
    from sordino.serve.told import ToldAnswer

    again = " (released before under this key; nothing was charged)" if released["replayed"] else ""
    say(repr(ToldAnswer(released["answer"])), f"release {released['id']}{again}")
    if receipt is not None:
        say(f"receipt in {receipt}; anybody checks it by: sordino receipt verify {receipt} --key KEY")

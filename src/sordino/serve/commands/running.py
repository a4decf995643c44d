"""``sordino run KIND NAME=VALUE …``: a release of any kind; and the commands that kinds have of their own, as ``ask``.

Both tell the price with ``--dry-run``, else have it charged and run, here or at a service.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sordino.errors import ArgumentError
from sordino.serve.kinds.kind import Command, Kind, Option, plain_text

from .place import (
    HERE,
    DatasetOption,
    DirectoryOption,
    JsonOption,
    TokenOption,
    UrlOption,
    check_new,
    desk,
    read_text,
    say,
    say_json,
    write_new,
)

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only tell the price; no data is touched.")]
KeyOption = Annotated[str | None, typer.Option(help="The same under the same key is charged once.")]
ReceiptOption = Annotated[Path | None, typer.Option(help="Write the signed receipt into this new file.")]


def run(
    kind: Annotated[str, typer.Argument(help="The kind of release, such as query.")],
    words: Annotated[
        list[str] | None, typer.Argument(help="What is asked for, as NAME=VALUE; values may be JSON.")
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A file with what is asked for, as JSON.")] = None,
    dataset: DatasetOption = None,
    dry_run: DryRunOption = False,
    key: KeyOption = None,
    receipt: ReceiptOption = None,
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Release something of any kind: its price with --dry-run, else what is released, which is charged."""
    asked = _read(file) | dict(map(_word, words or ()))
    _carry_out(kind, asked, dataset, dry_run, key, receipt, directory, url, token, as_json)


def command_of(kind: Kind, command: Command) -> Callable[..., None]:
    """Return the function behind a command of a kind's own, for typer: its words are the command's."""

    def function(**typed: Any) -> None:
        common = {name: typed.pop(name) for name in _COMMON}
        asked = command.request({name: value for name, value in typed.items() if value is not None})
        _carry_out(kind.name, asked, **common)

    given = inspect.signature(run, eval_str=True).parameters
    own = [_parameter(command.argument, typer.Argument), *(_parameter(each, typer.Option) for each in command.options)]
    own += [given[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in _COMMON]
    function.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    function.__annotations__ = {each.name: each.annotation for each in own}
    function.__doc__ = command.help
    return function


_COMMON = ("dataset", "dry_run", "key", "receipt", "directory", "url", "token", "as_json")


def _parameter(option: Option, made: Callable[..., Any]) -> inspect.Parameter:
    required = made is typer.Argument
    kind: Any = bool if option.switch else str if required else str | None
    default = inspect.Parameter.empty if required else option.default
    annotation = Annotated[kind, made(help=option.help)]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _carry_out(
    kind: str,
    asked: dict[str, Any],
    dataset: str | None,
    dry_run: bool,
    key: str | None,
    receipt: Path | None,
    directory: Path,
    url: str | None,
    token: str | None,
    as_json: bool,
) -> None:
    from sordino.serve.afar.client import the_one

    if receipt is not None:
        check_new(receipt)
    with desk(directory, url, token) as found:
        named = dataset or asked.get("dataset")
        request = {"dataset": named or the_one([each["name"] for each in found.datasets()], None), **asked}
        known = found.kinds.get(kind)
        if dry_run:
            _show_price(found.price(kind, request), known, as_json)
            return
        with Console(stderr=True).status("planned") as line:
            released = found.run(kind, request, key, line.update)
    if receipt is not None and released["receipt"] is not None:  # work that stays open has none yet
        write_new(receipt, released["receipt"])
    _show_release(released, known, receipt, as_json)


def _read(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        found = json.loads(read_text(file))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ArgumentError(f"{file} must hold one JSON object: what is asked for", "SRD-A001")
    return found


def _word(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ArgumentError("what is asked for is written as NAME=VALUE, such as epsilon=0.5", "SRD-A001")
    try:
        return name, json.loads(value) if value[:1] in "[{" or value in ("true", "false", "null") else value
    except ValueError:
        raise ArgumentError(
            f"the value of {name[:60]} begins like JSON and cannot be read as such", "SRD-A001"
        ) from None


def _show_price(told: Mapping[str, Any], kind: Kind | None, as_json: bool) -> None:
    if as_json:
        say_json(told)
        return
    say((plain_text if kind is None else kind.price_text)(told))
    say(f"used so far: {100 * told['used']:.3g} % of the budget; nothing was charged")


def _show_release(released: Mapping[str, Any], kind: Kind | None, receipt: Path | None, as_json: bool) -> None:
    if as_json:
        say_json(released)
        return
    again = " (released before under this key; nothing was charged)" if released["replayed"] else ""
    say((plain_text if kind is None else kind.release_text)(released["answer"]), f"release {released['id']}{again}")
    if receipt is not None and released["receipt"] is not None:
        say(f"receipt in {receipt}; anybody checks it by: sordino receipt verify {receipt} --key KEY")

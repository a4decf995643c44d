"""``sordino budget``: what is left of each budget, who spent it, and the budget over time."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from .place import HERE, DatasetOption, DirectoryOption, JsonOption, TokenOption, UrlOption, cell, desk, say, say_json

_BAR = 40
_POINTS = 60
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def budget(
    dataset: DatasetOption = None,
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is left of the budgets, who spent it, and the budget over time."""
    with desk(directory, url, token) as asked:
        names = [each["name"] for each in asked.datasets()] if dataset is None else [dataset]
        found = [asked.budget(name) for name in names]
    if as_json:
        say_json({"budgets": found})
        return
    if not found:
        say("there is no data set yet; begin with sordino init")
    for each in found:
        _show(each)


def _show(told: dict[str, Any]) -> None:
    used = told["used"]
    say(f"{told['name']}: {told['budget']}, protects each {told['unit']}")
    say(f"{bar(used)} {100 * used:.3g} % used; left for one question: {told['remaining']}")
    if told["refreshes_at"] is not None:
        say(f"begins anew at {told['refreshes_at']}")
    if told["points"]:
        first, last = told["points"][0][0], told["points"][-1][0]
        say(f"left over time, {first} to {last}:", sparkline([1 - part for _, part in told["points"]]))
    if told["by_day"]:
        first, last = told["by_day"][0]["day"], told["by_day"][-1]["day"]
        say(f"left on the days that were asked about, {first} to {last}; each has a budget of its own:")
        say(sparkline([1 - each["used"] for each in told["by_day"]]))
    if told["by_analyst"]:
        table = Table()
        table.add_column("who")
        table.add_column("part of the budget", justify="right")
        table.add_column("charges", justify="right")
        for each in told["by_analyst"]:
            table.add_row(cell(each["analyst"]), f"{100 * each['part']:.3g} %", str(each["charges"]))
        say(table)


def bar(part: float) -> str:
    """Return a bar of which this part is filled."""
    filled = round(_BAR * min(max(part, 0.0), 1.0))
    return "█" * filled + "░" * (_BAR - filled)


def sparkline(parts: list[float]) -> str:
    """Return a line of blocks, each as high as its part; the last of each stretch where there are very many."""
    stride = -(-len(parts) // _POINTS)
    shown = parts[::-1][::stride][::-1]
    return "".join(_EIGHTHS[round(8 * min(max(part, 0.0), 1.0))] for part in shown)

"""The story on a terminal, in colours; in a pipe the same words without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from sordino.data.dataset import Dataset
from sordino.ledger.receipt import Facts
from sordino.ledger.verify import Report
from sordino.query.plan.price import Price
from sordino.serve.commands.budget import bar

from .rides import Scene
from .story import Asked, Judged, Story

_WIDTH_IN_A_PIPE = 110
_INDENT = (0, 0, 0, 4)
_ONE_MORE = "SELECT COUNT(*) AS rides FROM rides"
_GOOD, _BAD, _QUIET, _HEAD = "green", "red", "dim", "bold cyan"


def console() -> Console:
    """Return where the story is told: as wide as the terminal, or as a page where nobody says how wide."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=_WIDTH_IN_A_PIPE)


class Shown:
    """Shows what happens while it does."""

    def __init__(self, out: Console) -> None:
        self._out = out

    def declared(self, dataset: Dataset) -> None:
        """Show what is publicly known."""
        self._head("", "What is declared; nothing of it was read from the data")
        self._say(Text(str(dataset)))

    def priced(self, number: int, question: Scene, text: str, price: Price) -> None:
        """Show a question and its price."""
        self._head(str(number), question.title)
        self._say(_code(text, question.by_methods))
        self._say(_prices(price))

    def answered(self, asked: Asked) -> None:
        """Show an answer with its error bars, and what is left."""
        self._say(_table(asked))
        for note in asked.answer.notes:
            self._out.print(Padding(Text(f"note: {note}", style=_QUIET), (0, 0, 0, 6), expand=False))
        self._say(Text.assemble("budget  ", (bar(asked.used), "cyan"), f"  {100 * asked.used:.3g} % used"))

    def refused(self, question: Scene, price: Price, refusal: str, remaining: str) -> None:
        """Show that one question was too many."""
        self._head("7", f"{question.title}: one too many")
        self._say(_code(question.text, question.by_methods))
        self._say(_prices(price))
        self._mark("✗", _BAD, f"refused: {refusal}")
        self._say(Text(f"left for one question: {remaining}; no data was touched and nothing was charged"))

    def judged(self, judged: Judged) -> None:
        """Show that the ledger verifies."""
        self._head("", "The ledger, read again from the first entry to the last")
        checkpoint = judged.checkpoint
        for line in (
            f"entries     {judged.report.size}, each replayed by the rules: an opening, six charges, six settlements",
            f"checkpoint  of {checkpoint.size} entries, signed by {checkpoint.origin} with Ed25519",
            f"            root {checkpoint.root.hex()}",
            "witness     has seen nothing that this ledger does not extend",
        ):
            self._say(Text(line))
        self._mark("✓", _GOOD, "sound")

    def receipt(self, facts: Facts, path: Path) -> None:
        """Show that a receipt holds."""
        self._head("", f"The receipt of the first answer, checked offline with the public key alone ({path.name})")
        self._say(Text(str(facts)))
        self._mark("✓", _GOOD, "holds")

    def altered(self, report: Report, path: Path) -> None:
        """Show that an altered byte was found."""
        self._head("", f"One byte altered in a copy of the ledger ({path.name}): a digit of what a question cost")
        for problem in report.problems:
            self._mark("✗", _BAD, str(problem))
        self._mark("✓", _GOOD, "found")

    def ended(self, story: Story, report: Path) -> None:
        """Show what to do next."""
        held, whole = story.covered
        self._head("", "Go on")
        self._say(Text(f"of {whole} intervals at 95 % {held} hold what is true, which only made-up data can show"))
        for command, what in next_steps(story.folder):
            line = Text.assemble("    ", (command, "bold"), (f"  # {what}" if what else "", _QUIET))
            self._out.print(line, soft_wrap=True)  # so that it can be copied as it is
        self._say(Text.assemble("report with plots: ", (str(report), "bold")))

    def _head(self, number: str, title: str) -> None:
        self._out.print()
        self._out.print(Rule(Text(f"{number}  {title}".strip(), style=_HEAD), align="left", style=_QUIET))

    def _say(self, what: Any) -> None:
        self._out.print(Padding(what, _INDENT, expand=False))

    def _mark(self, sign: str, style: str, text: str) -> None:
        self._say(Text.assemble((f"{sign} ", f"bold {style}"), (text, style)))


def next_steps(folder: Path) -> list[tuple[str, str]]:
    """Return commands that work after the story, and what they do."""
    return [
        (f"cd {folder}", ""),
        (f'sordino ask "{_ONE_MORE}" --epsilon 0.1', "ask for what is left"),
        ("sordino budget", "what is left, who spent it"),
        ("sordino ledger verify", "every entry, every signature, the witness"),
        ("sordino ledger verify --place altered.db --key budget.db.pub --witness budget.db.witness", "is refused"),
        ("sordino receipt verify receipt.json --key budget.db.pub", "offline, by anybody"),
        ("sordino explain --epsilon 2 --delta 1e-9", "what the budget means, in plain words"),
        ("sordino serve", "service and dashboard on loopback"),
    ]


def _code(text: str, by_methods: bool) -> Any:
    return Syntax(
        text, "python" if by_methods else "sql", theme="ansi_dark", background_color="default", word_wrap=True
    )


def _prices(price: Price) -> Table:
    """Return the price and the error to expect, one line for each column."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("price", Text(f"{cost(price)}; charged: {price.charge}", style="yellow"))
    for place, column in enumerate(price.columns):
        table.add_row("" if place else "expect", Text(f"{column.name} {column}", style="yellow"))
    return table


def cost(price: Price) -> str:
    """Return what a question costs by itself."""
    return f"ε = {float(price.epsilon or 0):g}" + (f", δ = {float(price.delta):g}" if price.delta else "")


def _table(asked: Asked) -> Table:
    answer = asked.answer
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    shown = answer.cells(len(answer))
    for name in answer.names:
        noisy = name in answer.noisy_names
        table.add_column(name, justify="right" if noisy else "left", style="bold" if noisy else "")
        if noisy:
            table.add_column("", style=_QUIET)
    for row in range(len(answer)):
        cells = []
        for name in answer.names:
            cell = shown[name][row]
            cells += [Text(cell.text), Text(cell.spread)] if name in answer.noisy_names else [Text(cell.text)]
        table.add_row(*cells)
    return table

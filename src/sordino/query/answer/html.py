"""Answers in notebooks: a plain table, fit for screen readers, in the page's own colours, without scripts."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from .display import Cell

if TYPE_CHECKING:
    from .answer import Answer

_ROWS_SHOWN = 60

_STYLE = """<style>
.sordino-answer{color:inherit;font-variant-numeric:tabular-nums;overflow-x:auto}
.sordino-answer table{border-collapse:collapse;background:transparent}
.sordino-answer caption{caption-side:bottom;text-align:left;padding:.4em .6em;opacity:.75;font-size:90%}
.sordino-answer th,.sordino-answer td{padding:.25em .6em;text-align:left;border-bottom:1px solid rgba(128,128,128,.3);
background:transparent;color:inherit;white-space:nowrap}
.sordino-answer thead th{border-bottom:2px solid rgba(128,128,128,.6);font-weight:600}
.sordino-answer tbody th{font-weight:400}
.sordino-answer .number{text-align:right}
.sordino-answer .spread{opacity:.7;padding-left:0}
.sordino-answer summary{cursor:pointer}
.sordino-answer pre{white-space:pre-wrap;overflow-wrap:anywhere}
</style>"""


def page(answer: Answer) -> str:
    """Return the table with its notes and receipt as a fragment of HTML; everything in it is escaped."""
    shown = answer.cells(_ROWS_SHOWN)
    spread = {name for name, cells in shown.items() if any(cell.spread for cell in cells)}
    numeric = {name for name in answer.names if answer.column(name).kind.is_number}
    heads = "".join(_head(name, name in numeric, name in spread) for name in answer.names)
    keys = set(answer.names) - set(answer.noisy_names)
    rows = [
        "".join(_cell(shown[name][row], name in keys, name in numeric, name in spread) for name in answer.names)
        for row in range(min(len(answer), _ROWS_SHOWN))
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="sordino-answer">{_STYLE}<table><caption>{escape(_caption(answer))}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{_notes(answer)}{_details(answer)}</div>"
    )


def _head(name: str, numeric: bool, spread: bool) -> str:
    span = ' colspan="2"' if spread else ""
    return f'<th scope="col"{span}{_class(numeric and not spread)}>{escape(name)}</th>'


def _cell(cell: Cell, key: bool, numeric: bool, spread: bool) -> str:
    start, end = ('th scope="row"', "th") if key else ("td", "td")
    text = f"<{start}{_class(numeric)}>{escape(cell.text)}</{end}>"
    return text + (f'<td class="spread">{escape(cell.spread)}</td>' if spread else "")


def _class(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def _caption(answer: Answer) -> str:
    rows = "1 row" if len(answer) == 1 else f"{len(answer):,} rows"
    first = f", the first {_ROWS_SHOWN} shown" if len(answer) > _ROWS_SHOWN else ""
    intervals = f"; intervals at {answer.confidence_text}, noise only" if answer.noisy_names else ""
    return f"{rows}{first}{intervals}"


def _notes(answer: Answer) -> str:
    if not answer.notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in answer.notes)
    return f"<details open><summary>What bounding and noise may hide</summary><ul>{items}</ul></details>"


def _details(answer: Answer) -> str:
    if not answer.details:
        return ""
    text = escape(json.dumps(answer.details, indent=2, ensure_ascii=False))
    return f"<details><summary>Details</summary><pre>{text}</pre></details>"

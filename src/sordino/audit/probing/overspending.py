"""Overspending: many runs at one moment against what is left. It spends the budget, so it comes last.

What may be granted is known where the budget is counted in sums of ε: as many as fit into what remained. In every
calculus, no budget is ever used beyond its cap, and whatever is answered was charged.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import Any

from .finding import Notebook, Probed
from .line import Line, at_once

_SHARES = 4
_DIGITS = Decimal("1e-9")


def overspend(line: Line, dataset: str, sql: str, runs: int = 16) -> Probed:
    """Ask for a quarter of what is left, so many times at one moment; four may be granted."""
    note = Notebook("overspending")
    before = line.standing(dataset)
    if not before.remaining or before.remaining <= 0:
        return note.probed("the budget does not tell how much ε is left, or nothing is left")
    amount = (Decimal(repr(before.remaining)) / _SHARES).quantize(_DIGITS, ROUND_DOWN)
    asked = {"dataset": dataset, "sql": sql, "epsilon": str(amount)}
    if not amount or not _may_run(line.price(asked).body):
        return note.probed("a quarter of what is left is too little, or more than one release may cost here")
    seen = at_once(line, asked, runs)
    after = line.standing(dataset)
    granted = sum(each.status == 200 for each in seen)
    steps = f"{runs} times at one moment, over {runs} connections: {seen[0].request}", f"GET /budgets/dataset/{dataset}"
    words = f"{granted} of {runs} granted, {after.charges - before.charges} charged, used part {after.used:.4g}"
    note.check(after.used <= 1, "a budget is used beyond its cap", words, *steps)
    note.check(granted <= after.charges - before.charges, "more is answered than charged", words, *steps)
    if before.plain.get("calculus") == "pure":
        note.check(granted <= _SHARES, "more is granted than is left", f"{words}; {_SHARES} fit", *steps)
    one_more = line.run({"dataset": dataset, "sql": sql, "epsilon": str(Decimal(repr(before.remaining)))})
    note.check(one_more.status != 200, "what is spent can be spent again", "all that was left, once more", *steps)
    note.check(granted > 0, "nothing is granted though it fits", words, *steps)
    return note.probed()


def _may_run(price: Any) -> bool:
    """Whether a question fits, and the owner's policy lets it run."""
    match price:
        case {"fits": True, "policy": {"allows": allowed}}:
            return bool(allowed == "run")
        case {"fits": True}:
            return True
    return False

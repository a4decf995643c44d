"""The three counts that can be opened: distinct units, the density of known ones, and the items that most hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sordino.arguments import Number, one_of, whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError

from .counting import PanCount
from .kept import check_place
from .places import NUMBERS, TEXTS
from .plan import Seen, pan_plan, seen

_MOST_CELLS = 2**31
_LEAST_CELLS = 16
_MOST_ITEMS = 10_000
_CAME = ("came",)


def distinct(
    account: DataAccount[Any],
    *,
    expected: int,
    epsilon: Number,
    ids: str = NUMBERS,
    saves: int = 0,
    intrusions: int = 1,
    releases: int = 1,
    file: str | Path | None = None,
    resume: str | None = None,
    older: bool = False,
) -> PanCount:
    """Count how many units come, pan-privately, whatever their ids: whole ``"numbers"`` or ``"texts"``.

    `expected` is about how many; with many more the estimate is worse, and from four times as many it is none. Whoever
    sees `saves` files and `intrusions` states of memory, besides `releases` estimates, learns no more about a unit than
    `epsilon`, charged here. **A state that is seen is dear**: at ε = 1, one save makes the error seven times as large.

    Two cells for each unit expected make the error least: sharing a cell costs e^(n/m), and m cells cost √m.
    """
    cells = max(2 * whole("expected", expected, least=1, most=_MOST_CELLS // 2), _LEAST_CELLS)
    kind = one_of("ids", ids, (NUMBERS, TEXTS))
    return _opened(account, epsilon, cells, kind, _CAME, seen(saves, intrusions, releases), file, resume, older)


def density(
    account: DataAccount[Any],
    *,
    users: int,
    epsilon: Number,
    saves: int = 0,
    intrusions: int = 1,
    releases: int = 1,
    file: str | Path | None = None,
    resume: str | None = None,
    older: bool = False,
) -> PanCount:
    """Count how many of `users` known units come, pan-privately; their ids are the whole numbers from 0 on.

    As `distinct`, without a hash: each has a cell to itself.
    """
    cells = whole("users", users, least=1, most=_MOST_CELLS)
    return _opened(account, epsilon, cells, None, _CAME, seen(saves, intrusions, releases), file, resume, older)


def heavy(
    account: DataAccount[Any],
    *,
    items: Sequence[str],
    epsilon: Number,
    users: int | None = None,
    expected: int | None = None,
    ids: str = NUMBERS,
    saves: int = 0,
    intrusions: int = 1,
    releases: int = 1,
    file: str | Path | None = None,
    resume: str | None = None,
    older: bool = False,
) -> PanCount:
    """Count how many units hold each of some public `items`, by the last one that each came with, pan-privately.

    Say either how many `users` there are, with ids from 0 on, or how many are `expected`, with any ids; in the second
    case one in five shares a cell with another, of whom the last counts. The error grows with the root of the number
    of items: this is for dozens, not for thousands.
    """
    if isinstance(items, str) or not all(type(each) is str for each in items) or len(set(items)) != len(items):
        raise ArgumentError("items must be a list of different texts", "SRD-C611")
    whole("the number of items", len(items), least=2, most=_MOST_ITEMS)
    if (users is None) == (expected is None):
        raise ArgumentError("say either users=, a known number, or expected=, about how many will come", "SRD-C611")
    if users is not None:
        cells, kind = whole("users", users, least=1, most=_MOST_CELLS), None
    else:
        cells = max(2 * whole("expected", expected, least=1, most=_MOST_CELLS // 2), _LEAST_CELLS)
        kind = one_of("ids", ids, (NUMBERS, TEXTS))
    views = seen(saves, intrusions, releases)
    return _opened(account, epsilon, cells, kind, tuple(items), views, file, resume, older)


def _opened(
    account: DataAccount[Any],
    epsilon: Number,
    cells: int,
    ids: str | None,
    items: tuple[str, ...],
    views: Seen,
    file: str | Path | None,
    resume: str | None,
    older: bool,
) -> PanCount:
    """Charge a count and return it, or go on with one."""
    if not isinstance(account, DataAccount):
        raise ArgumentError(
            "account must be the account of what is counted, as so.open(…).account(…) returns", "SRD-A001"
        )
    plan = pan_plan(account.protected, epsilon, cells=cells, ids=ids, items=items, seen=views)
    if resume is not None:
        place = None if file is None else Path(file)
        return PanCount(plan, account.resume(resume, plan), place, resumed=True, older=older)
    place = check_place(file, views.saves)
    return PanCount(plan, account.begin(plan), place, resumed=False)

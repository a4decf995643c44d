"""A sort of data: how its declarations are read, how it is opened, and what is told of it. Kinds bring sorts along.

Tables are the first. Declarations of another say so, ``sort: examples``, and are about the same things: a name, who is
protected (`unit`), against which change (`neighbours`), and where the data is. ``data.declarations_file.head`` reads
what all have in common.

**Guarantee**: whatever a row does, what is protected is charged under its name, unit and relation, files lie in the
directory that a service serves, and no data is in reach where prices are found (`outline`).
**Assumes**: `public` and `outline` tell only what was declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sordino.accounting.any_account import AnyAccount
from sordino.data.account import DataAccount, Protected

from .page import Page, plain_page

Plain = dict[str, Any]
On = Callable[[AnyAccount], DataAccount[Any]]
Carried = Iterable[tuple[str, object, object]]


def _on(protected: Protected) -> On:
    return partial(DataAccount, protected)


def _nothing_carried(_before: Any, _given: Any) -> Carried:
    return ()


@dataclass(frozen=True, kw_only=True)
class Sort:
    """A row of the table of sorts. What has a default need not be said."""

    name: str
    """As it stands in declarations."""
    read: Callable[[Mapping[str, Any], Path], Any]
    """Declarations, from what their text holds; paths are relative to the directory. Opens nothing."""
    sources: Callable[[Any], Mapping[str, Any]]
    """Where declarations say that the data is: a path, a pattern of paths or a URL, by what a refusal calls it."""
    open: Callable[[Any], Protected]
    """What was declared, opened; it may also say `blocks`, where days have budgets of their own."""
    outline: Callable[[Any], Protected]
    """The same without the data, as plain values that another process can be sent: prices are found on it."""
    public: Callable[[Any], Plain]
    """What everybody who may see it is told, as JSON can hold it."""
    on: Callable[[Any], On] = _on
    """What is protected, or its outline, to be put on one account after the other."""
    carried: Callable[[Any, Any], Carried] = _nothing_carried
    """What must stay as it was for the life of a budget, of two declarations: what it is, then and now."""
    page: Callable[[Mapping[str, Any]], Page] = plain_page
    """What the page of a data set shows, from what `public` tells."""

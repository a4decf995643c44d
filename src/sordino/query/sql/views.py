"""Views: subqueries that the data's owner has named, to be asked about like tables.

A view adds nothing to what could be asked without it. It is read as a subquery wherever it is named, by the rules of
all subqueries: whose its rows are, its bounds, its keys and its limits follow from the tables that it is made from.
"""

from __future__ import annotations

from collections.abc import Mapping

from sordino.data.metadata import Column, Schema
from sordino.errors import ArgumentError, QuestionError

from .refusals import refuse
from .relation import read_view


def check_views(schema: Schema) -> None:
    """Refuse views that cannot be read."""
    for name in schema.views:
        _check_text(name, schema)


def _check_text(name: str, schema: Schema) -> None:
    try:
        view_columns(name, schema)
    except RecursionError:
        raise refuse(f"view {name!r} is nested too deeply", "divide it into several views", "SRD-Q101") from None
    except QuestionError as error:
        circle = "; a view sees the views before it, and not itself" if "there is no table" in error.message else ""
        raise QuestionError(f"view {name!r}: {error.message}{circle}", error.code) from None
    except ArgumentError as error:
        raise ArgumentError(f"view {name!r}: {error.message}", error.code) from None


def view_columns(name: str, schema: Schema) -> Mapping[str, Column]:
    """Return what is known about each column of a view."""
    scope = read_view(name, schema)
    columns = scope.relation.columns
    return {seen.name: columns[seen.column] for seen in scope.visible}

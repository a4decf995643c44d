"""A choice in the dataframe way of asking: ``when(col("fare") > 20).then("dear").otherwise("cheap")``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sordino.errors import QuestionError

from .expression import Formula, Place, as_formula


class When(Formula):
    """A condition that waits for its value, and is no expression without it."""

    def __init__(self, condition: Any, before: tuple[Formula, ...] = (), text: str = "") -> None:
        asked = as_formula(condition)
        super().__init__(f"{text}when({asked.text})", (*before, asked))

    def then(self, value: Any) -> Then:
        """Say the value where the condition holds."""
        given = as_formula(value)
        return Then((*self.parts, given), f"{self.text}.then({given.text})")

    def node(self, place: Place) -> exp.Expr:  # noqa: ARG002  (there is no value at any place)
        """Refuse: there is no value."""
        raise QuestionError(f"{self.text[:60]} needs its value; write when(condition).then(value)", "SRD-Q401")


class Then(Formula):
    """Values under conditions, and no value where none holds, unless `otherwise` says which."""

    def __init__(self, branches: tuple[Formula, ...], text: str) -> None:
        super().__init__(text, branches, lambda *nodes: _case(nodes, None))

    def when(self, condition: Any) -> When:
        """Add a condition, which counts where none before it holds."""
        return When(condition, self.parts, f"{self.text}.")

    def otherwise(self, value: Any) -> Formula:
        """Say the value where no condition holds."""
        given = as_formula(value)
        return Formula(
            f"{self.text}.otherwise({given.text})", (*self.parts, given), lambda *nodes: _case(nodes[:-1], nodes[-1])
        )


def when(condition: Any) -> When:
    """Begin a choice. Texts behind `then` and `otherwise` are constants; columns are named by `col`.

    >>> from sordino.query.frame.expression import col
    >>> when(col("fare") > 20).then("dear").otherwise("cheap")
    when(col('fare') > 20).then('dear').otherwise('cheap')
    """
    return When(condition)


def _case(branches: Sequence[exp.Expr], default: exp.Expr | None) -> exp.Expr:
    pairs = zip(branches[::2], branches[1::2], strict=True)
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in pairs], default=default)

"""Errors: one root, a code in every text, and they survive pickling."""

from __future__ import annotations

import pickle

import pytest

from sordino import errors
from sordino.errors import ArgumentError, BudgetError, GrantError, SordinoError, UnsupportedError


@pytest.mark.parametrize("kind", [ArgumentError, BudgetError, GrantError, UnsupportedError])
def test_every_error_says_its_code(kind: type[SordinoError]) -> None:
    error = kind("what, why, and what to do", "SRD-X000")
    assert isinstance(error, SordinoError)
    assert str(error) == "what, why, and what to do [SRD-X000]"
    assert (error.message, error.code) == ("what, why, and what to do", "SRD-X000")


@pytest.mark.parametrize("kind", [SordinoError, ArgumentError, BudgetError, GrantError, UnsupportedError])
def test_errors_travel_between_processes(kind: type[SordinoError]) -> None:
    again = pickle.loads(pickle.dumps(kind("text", "SRD-X000")))  # noqa: S301
    assert type(again) is kind
    assert str(again) == "text [SRD-X000]"


def test_bad_arguments_are_value_errors_too() -> None:
    assert issubclass(ArgumentError, ValueError)
    assert not issubclass(BudgetError, ValueError)


def test_the_tree_is_drawn_in_the_docstring() -> None:
    names = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, SordinoError)]
    assert names
    assert all(name in (errors.__doc__ or "") for name in names)

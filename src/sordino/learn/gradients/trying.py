"""A model and a loss that fail on made-up examples are refused with what was tried, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sordino.errors import ArgumentError

from .made_up import Field

T = TypeVar("T")


def tried(run: Callable[[], T], inputs: tuple[Field, ...], targets: Field | None = None) -> T:
    """Return what `run` does with made-up examples of these fields; refuse what fails on them.

    No data was seen, so what went wrong may be told; it stands above the error, as its cause.
    """
    try:
        return run()
    except ArgumentError:
        raise
    except Exception as error:
        labels = "" if targets is None else f", with its loss on labels of {_said(targets)}"
        raise ArgumentError(
            f"the model fails on made-up examples of {' and '.join(map(_said, inputs))}{labels}, with "
            f"{type(error).__name__}: give it inputs of that shape and type, and the loss labels that it takes. "
            "Classes are whole numbers from 0, fewer than the model has outputs; numbers are floats, shaped as the "
            "outputs are",
            "SRD-T109",
        ) from error


def _said(field: Field) -> str:
    below = "" if field.is_float or field.kind in ("bool", "uint8") else f" below {field.below}"
    return f"{field.kind}{below}, shape {field.shape}"

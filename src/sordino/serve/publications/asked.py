"""What is asked for: a recipe with its parameters, and what to spend, as plain words.

::

    dataset: people
    recipe: synthetic
    parameters: {columns: [age, income]}
    epsilon: 1
    delta: 1e-9
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sordino.data.ownership import unknown
from sordino.errors import ArgumentError
from sordino.ledger.scope import checked_name
from sordino.publish.recipes import RECIPES
from sordino.publish.words import Words
from sordino.serve.kinds.kind import Plain

OWN = ("dataset", "project", "recipe", "parameters")
SPENDING = ("epsilon", "rho", "delta", "error", "confidence")


@dataclass(frozen=True)
class Asked:
    """One publication that is asked for, read and checked as far as that goes without knowing the data set."""

    dataset: str
    project: str | None
    plain: Plain
    """All of it, as it was written."""
    recipe: str
    parameters: Mapping[str, Any]
    words: Mapping[str, Any]
    """What to spend, as Python takes it."""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Asked:
        """Return what plain words ask for; refuse what cannot be."""
        for name in given:
            if name not in (*OWN, *SPENDING):
                known = unknown(str(name)[:60], (*OWN, *SPENDING))
                raise ArgumentError(f"a publication is asked for with the word {known}", "SRD-P008")
        plain = {word: value for word, value in given.items() if value is not None}
        for word in ("dataset", "recipe"):
            if not isinstance(plain.get(word), str) or not plain[word]:
                raise ArgumentError(f"say {word}, by its name; recipes are {', '.join(RECIPES)}", "SRD-P008")
        if plain["recipe"] not in RECIPES:
            raise ArgumentError(f"there is no recipe {unknown(plain['recipe'][:60], tuple(RECIPES))}", "SRD-P008")
        parameters = plain.get("parameters", {})
        if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
            raise ArgumentError("parameters must be words and values of the recipe, as {columns: [age]}", "SRD-P008")
        project = checked_name("project", plain["project"]) if "project" in plain else None
        said = Words.read({name: plain[name] for name in SPENDING if name in plain})
        return cls(plain["dataset"], project, plain, plain["recipe"], parameters, vars(said))

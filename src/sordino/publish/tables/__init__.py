"""Synthetic tables: rows that look like the data's, made from noisy marginals of it.

The mathematics, which knows neither data nor budgets:

    junction.py     cliques and trees            beliefs.py   from potentials to marginals of cliques
    across.py       marginals of any columns     fitting.py   from noisy marginals to potentials
    sampling.py     rows of cells                bins.py      bins of a number from noisy counts

What is paid for:

    purse.py        rounds and what they cost    aim.py, methods.py  which rounds are run
    tabulated.py    exact marginals of a table

The publication:

    workload.py, constraints.py, fields.py, cells.py   what is wanted, what holds in every row, columns as cells
    recipe.py       `synthetic`, and the same from plain parameters
    design.py       all that is run              values.py    from cells back to values
    release.py      rows, model, noisy marginals report.py, picture.py   how good they are

Beside it, ``answers.py`` and ``multiplicative.py``: many questions, one after the other.
"""

from __future__ import annotations

from .recipe import read
from .release import load

__all__ = ["load", "read"]

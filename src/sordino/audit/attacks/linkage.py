"""Linkage: names put back onto rows that had none, by what another list says about the same people.

In 1997 Latanya Sweeney joined hospital records that Massachusetts had released without names to the voter roll of
Cambridge, on ZIP code, birth date and sex, and sent the governor his own diagnoses.

`link` does the same to any two tables, counts whom it names and how often it is right, and then does what can be done
with a private table that is released instead: guess each person's secret from the cell that they would be in. People of
the roll who are *not* in the release are attacked as well. What is guessed about them is what anybody can know without
their data, so it is the measure: an attack is a breach as far as it does better inside than outside.

**Source**: Sweeney 1997, *Weaving technology and policy together to maintain confidentiality*; Sweeney 2002,
*k-anonymity: a model for protecting privacy*, section 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.arguments import Number
from sordino.errors import ArgumentError

from .drawing import RAW, THIRD, Figure, draw_contrasts, draw_rates, paper
from .rates import Contrast, Rate, share_of
from .tables import arrow, claimed_by, codes_of_any, combined, count_column, numbers_in, shared_codes

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Linkage:
    """What a join of a release to a roll gives away."""

    unique: Rate
    """People of the roll whom nobody else equals in the columns that were joined on."""
    claimed: Rate
    """Rows of the release that fit one person, who fits no other row: the attacker puts a name on them."""
    right: Rate
    """Of these, how many are really that person's."""
    raw: Contrast
    """Secrets named rightly by the release, of people in it and of people not in it."""
    private: Contrast | None
    """The same by the private table."""

    def __str__(self) -> str:
        lines = [
            f"unique in the roll      {self.unique}",
            f"rows that got a name    {self.claimed}",
            f"of these, the right one {self.right}",
            f"secret named, raw       {self.raw}",
        ]
        return "\n".join([*lines, *([f"secret named, private   {self.private}"] if self.private else [])])

    def figure(self) -> Figure:
        """Return a figure: whom the join names, and whose secret is known, by the raw release and by the private."""
        figure, (left, right) = paper(
            "Rows without names, joined to a list with names",
            "what the join finds",
            "secrets named rightly, of people in the release and not in it",
        )
        rates = {
            "alone in\nthe roll": self.unique,
            "rows given\na name": self.claimed,
            "names that\nare right": self.right,
        }
        draw_rates(left, rates, [THIRD, RAW, RAW])
        draw_contrasts(right, self.raw, self.private, ("inside", "outside"))
        return figure


def uniqueness(table: Any, on: Sequence[str]) -> Rate:
    """Return how many rows of a table no other row equals in the columns `on`."""
    (codes,), _ = shared_codes(["the table"], [arrow("the table", table)], on)
    return share_of(np.bincount(codes)[codes] == 1)


def link(
    release: Any,
    roll: Any,
    on: Sequence[str],
    *,
    who: str,
    sensitive: str,
    private: Any = None,
    count: str | None = None,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Linkage:
    """Join a release without names to a roll with names, and count who is found and what is learnt.

    Tables are pandas, polars, Arrow, answers of sordino, or anything that speaks Arrow. The attacker sees the columns
    `on` and `sensitive` of the release and the columns `on` of the roll. `who`, a column of both, and `sensitive` of
    the roll are the auditor's: they tell whose row is whose, and what is true of people outside of the release.

    Args:
        release: rows that were published without names.
        roll: people, some in the release and some not, drawn from it by lot if the comparison is to be fair.
        on: the columns that both tables have and the attacker joins on.
        who: the column that identifies a person, for the judge alone.
        sensitive: the column that the attacker wants to know.
        private: a table of (noisy) counts by `sensitive` and columns of the roll that is released instead.
        count: its column of counts; an answer with one noisy column knows.
        epsilon: what it claims per person; an answer knows.
        delta: likewise.
    """
    rows, people = arrow("release", release), arrow("roll", roll)
    tables = (rows, people)
    (row_keys, roll_keys), keys = shared_codes(["release", "roll"], tables, on)
    (row_owners, roll_owners), _ = shared_codes(["release", "roll"], tables, [who])
    if np.unique(roll_owners).size != roll_owners.size:
        raise ArgumentError(f"the roll must have one row for each {who!r}: leave out what is double", "SRD-A002")
    alone = np.bincount(roll_keys, minlength=keys) == 1
    named = alone[row_keys] & (np.bincount(row_keys, minlength=keys) == 1)[row_keys]
    owner_of = np.full(keys, -1, dtype=np.int64)
    owner_of[roll_keys] = roll_owners
    inside = np.isin(roll_owners, row_owners)
    guessed = _guess(rows, people, on, sensitive, np.ones(rows.num_rows))
    return Linkage(
        unique=share_of(alone[roll_keys]),
        claimed=share_of(named),
        right=share_of(owner_of[row_keys] == row_owners, named),
        raw=Contrast(share_of(guessed, inside), share_of(guessed, ~inside)),
        private=None
        if private is None
        else _private(private, people, inside, (who, sensitive), count, (epsilon, delta)),
    )


def _private(
    private: Any,
    people: pa.Table,
    inside: NDArray[np.bool_],
    names: tuple[str, str],
    count: str | None,
    claim: tuple[Number | None, Number],
) -> Contrast:
    cells = arrow("private", private)
    counts = count_column(private, cells, count)
    on = [name for name in cells.column_names if name in people.column_names and name not in (*names, counts)]
    guessed = _guess(cells, people, on, names[1], numbers_in("private", cells, counts))
    inside_rate, outside_rate = share_of(guessed, inside), share_of(guessed, ~inside)
    return Contrast.claiming(inside_rate, outside_rate, *claimed_by(private, *claim))


def _guess(
    cells: pa.Table, people: pa.Table, on: Sequence[str], sensitive: str, weights: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell for each person whether the heaviest secret among the cells that fit them is theirs.

    Whom no cell fits is guessed to have the secret that is heaviest overall.
    """
    tables, names = (cells, people), ["the table", "roll"]
    (cell_secrets, true_secrets), secrets = shared_codes(names, tables, [sensitive])
    (cell_keys, person_keys), keys = codes_of_any(names, tables, on)
    overall = np.bincount(cell_secrets, weights=weights, minlength=secrets)
    best = np.full(keys, int(np.argmax(overall)), dtype=np.int64)
    groups = combined(cell_keys, cell_secrets)
    sums = np.bincount(groups, weights=weights)
    key_of, secret_of = np.empty((2, sums.size), dtype=np.int64)
    key_of[groups], secret_of[groups] = cell_keys, cell_secrets
    order = np.lexsort((-overall[secret_of], -sums, key_of))  # among equals, what is more common
    firsts = order[np.unique(key_of[order], return_index=True)[1]]
    best[key_of[firsts]] = secret_of[firsts]
    return np.asarray(best[person_keys] == true_secrets)

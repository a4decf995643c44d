"""Linkage of search logs: who asked all this, by the names and places that they asked about?

In 2006 AOL published twenty million searches of 650,000 people under numbers instead of names. Number 4417749 had asked
for *landscapers in Lilburn, Ga* and for several people called Arnold; two reporters rang at Thelma Arnold's door.

`link_searches` takes the words by which a phone book knows people, weighs each by how few searchers use it, and gives a
log's number to the person whose words stand out in it. What is released instead is how many people asked each query,
with the queries themselves selected privately: what one person alone asked is not shown, but for a chance of δ.

**Source**: Barbaro, Zeller 2006, *A face is exposed for AOL searcher no. 4417749*; scores after Narayanan, Shmatikov
2008; private release of searches: Korolova, Kenthapadi, Mishra, Ntoulas 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from sordino.arguments import Number
from sordino.errors import ArgumentError

from .drawing import RAW, THIRD, Figure, draw_contrasts, draw_rates, paper
from .rates import Contrast, Rate, share_of
from .scoreboard import best_matches, in_parts
from .tables import arrow, claimed_by, shared_codes

Codes = NDArray[np.int64]
_ECCENTRICITY = 1.5


@dataclass(frozen=True)
class SearchesLinked:
    """What a log of searches gives away when the names are taken out of its margin but not out of its text."""

    claimed: Rate
    """Searchers to whom the attacker gave a name."""
    right: Rate
    """Of these, how many rightly."""
    lines: Rate
    """Of all lines of the log, how many were put under the right name."""
    raw: Contrast
    """People of the phone book who were given searches: those in the log, rightly; those not in it, wrongly."""
    private: Contrast | None
    """People of the phone book every word of whom occurs in some query of the private release."""
    alone: Contrast | None
    """Queries that one person alone asked, and the private release shows. Without that person nobody had asked them, so
    none is shown outside; with (ε, δ) the share inside is δ at most."""

    def __str__(self) -> str:
        lines = [
            f"searchers who got a name         {self.claimed}",
            f"of these, the right one          {self.right}",
            f"lines under the right name       {self.lines}",
            f"people found, raw                {self.raw}",
        ]
        if self.private is not None:
            lines.append(f"people found, private            {self.private}")
            lines.append(f"queries of one, shown privately  {self.alone}")
        return "\n".join(lines)

    def figure(self) -> Figure:
        """Return a figure: whom the log names, and what of it is left in the private release."""
        figure, (left, right) = paper(
            "Searches without names, and a phone book",
            "what the log gives away",
            "people found, of those in the log and not in it",
        )
        found = {"searchers\nnamed": self.claimed, "names that\nare right": self.right, "lines\nattributed": self.lines}
        colours = [RAW, RAW, RAW]
        if self.alone is not None:
            found["asked by one,\nreleased privately"] = self.alone.inside
            colours.append(THIRD)
        draw_rates(left, found, colours)
        draw_contrasts(right, self.raw, self.private, ("inside", "outside"))
        return figure


def link_searches(
    log: Any,
    book: Any,
    words: Sequence[str],
    *,
    user: str = "user",
    query: str = "query",
    who: str = "person",
    eccentricity: float = _ECCENTRICITY,
    private: Any = None,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> SearchesLinked:
    """Give names to the searchers of a log, by the words under which a phone book knows people.

    Args:
        log: one row for each search: `user`, a number that says nothing to the attacker, and `query`, its text.
        book: one row for each person: `who`, which is the log's `user` for the judge alone, and the columns `words`.
        words: the columns of the book, such as surname and town, whose words people use in searches of their own.
        user: the log's column of searchers.
        query: the log's column of texts.
        who: the book's column of people.
        eccentricity: by how many standard deviations the best must lead the second to be believed.
        private: a release of queries that is made instead, with a column `query`.
        epsilon: what it claims per person; an answer knows.
        delta: likewise.
    """
    searches, people = arrow("log", log), arrow("book", book)
    users, persons, size = _people(searches, people, user, who)
    names, vocabulary = _book_words(people, words)
    mentions = _mentions(_texts("log", searches, query), vocabulary)
    by_user = sparse.csr_matrix((np.ones(users.size), (users, np.arange(users.size))), (size, users.size)) @ mentions
    searchers = np.unique(users)
    found = _name(by_user[searchers], names, eccentricity)
    owner = np.where(found >= 0, persons[found], -1)
    correct = owner == searchers
    named = np.full(size, -1, dtype=np.int64)
    named[searchers] = owner
    inside = np.isin(persons, searchers)
    accused = np.isin(persons, owner[~correct])
    rightly = np.isin(persons, owner[correct])
    return SearchesLinked(
        claimed=share_of(owner >= 0),
        right=share_of(correct, owner >= 0),
        lines=share_of(named[users] == users),
        raw=Contrast(share_of(rightly, inside), share_of(accused, ~inside)),
        **_by_counts(private, searches, query, users, (names, vocabulary, inside), (epsilon, delta)),
    )


def _by_counts(
    private: Any,
    searches: pa.Table,
    query: str,
    users: Codes,
    book: tuple[sparse.csr_matrix, pa.Array, NDArray[np.bool_]],
    said: tuple[Number | None, Number],
) -> dict[str, Contrast | None]:
    """Return what is left to an attacker who sees the private release alone."""
    if private is None:
        return {"private": None, "alone": None}
    claim = claimed_by(private, *said)
    shown = _texts("private", arrow("private", private), query)
    single = _asked_by_one(_texts("log", searches, query), users)
    still = int(pc.sum(pc.is_in(single, value_set=shown.combine_chunks())).as_py() or 0)
    return {
        "private": _named(shown, *book, claim),
        "alone": Contrast.claiming(Rate(still, len(single)), Rate(0, len(single)), *claim),
    }


def _people(searches: pa.Table, people: pa.Table, user: str, who: str) -> tuple[Codes, Codes, int]:
    """Return codes of the log's searchers and of the book's people, equal where they are the same, and their number."""
    names = [*people.column_names]
    if who not in names:
        raise ArgumentError(f"book has no column {who!r}; it has {', '.join(names)}", "SRD-A001")
    renamed = people.rename_columns([user if name == who else f"book.{name}" for name in names])
    (users, persons), size = shared_codes(["log", "book"], [searches, renamed], [user])
    if np.unique(persons).size != persons.size:
        raise ArgumentError(f"the book must have one row for each {who!r}: leave out what is double", "SRD-A002")
    return users, persons, size


def _texts(name: str, table: pa.Table, wanted: str) -> pa.ChunkedArray:
    if wanted not in table.column_names or not _is_text(table.column(wanted).type):
        raise ArgumentError(f"{name} needs a column {wanted!r} of texts", "SRD-A001")
    return pc.fill_null(table.column(wanted).cast(pa.string()), "")


def _is_text(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _split(texts: pa.ChunkedArray) -> tuple[pa.Array, Codes]:
    """Return all words of all texts, in small letters, and the place of the text that each stands in."""
    lists = pc.split_pattern_regex(pc.utf8_lower(texts), r"[^\p{L}\p{N}]+").combine_chunks()
    return pc.list_flatten(lists), np.asarray(pc.list_parent_indices(lists), dtype=np.int64)


def _book_words(people: pa.Table, columns: Sequence[str]) -> tuple[sparse.csr_matrix, pa.Array]:
    """Return which person has which word of the vocabulary, and the vocabulary."""
    if isinstance(columns, str) or not columns:
        raise ArgumentError("words must name one or more columns of the book", "SRD-A001")
    texts = [_texts("book", people, column) for column in columns]
    joined = pc.binary_join_element_wise(*texts, " ")
    found, place = _split(joined)
    kept = np.asarray(pc.not_equal(found, ""))
    encoded = found.filter(pa.array(kept)).dictionary_encode()
    code = np.asarray(encoded.indices, dtype=np.int64)
    shape = (people.num_rows, len(encoded.dictionary))
    has = sparse.csr_matrix((np.ones(code.size), (place[kept], code)), shape)
    has.data[:] = 1.0
    return has, encoded.dictionary


def _mentions(texts: pa.ChunkedArray, vocabulary: pa.Array) -> sparse.csr_matrix:
    """Return which text has which word of the vocabulary how often."""
    found, place = _split(texts)
    code = pc.index_in(found, vocabulary)
    known = np.asarray(pc.is_valid(code))
    columns = np.asarray(code.drop_null(), dtype=np.int64)
    return sparse.csr_matrix((np.ones(columns.size), (place[known], columns)), (len(texts), len(vocabulary)))


def _name(by_user: sparse.csr_matrix, names: sparse.csr_matrix, eccentricity: float) -> Codes:
    """Return for each searcher the row of the book that stands out, or −1."""
    used = by_user.copy()
    used.data = np.log1p(used.data)
    users = np.asarray((used > 0).sum(axis=0)).ravel()
    rarity = sparse.diags(np.log((used.shape[0] + 1) / (users + 1)))
    weighed, people = (used @ rarity).tocsr(), names.T.tocsc()
    found = np.full(used.shape[0], -1, dtype=np.int64)
    for part, scores in in_parts(used.shape[0], names.shape[0], lambda part: (weighed[part] @ people).toarray()):
        best, clear = best_matches(scores, eccentricity)
        found[part] = np.where(clear, best, -1)
    return found


def _asked_by_one(texts: pa.ChunkedArray, users: Codes) -> pa.Array:
    """Return the queries that one person alone asked."""
    table = pa.table({"query": texts, "user": users}).group_by("query").aggregate([("user", "count_distinct")])
    return table.filter(pc.equal(table["user_count_distinct"], 1))["query"].combine_chunks()


def _named(
    shown: pa.ChunkedArray,
    names: sparse.csr_matrix,
    vocabulary: pa.Array,
    inside: NDArray[np.bool_],
    claim: tuple[Number, Number],
) -> Contrast:
    """Look for people every word of whom occurs in some released query; no number ties two queries together."""
    absent = np.asarray(_mentions(shown, vocabulary).sum(axis=0)).ravel() == 0
    there = (names @ absent == 0) & (np.asarray(names.sum(axis=1)).ravel() > 0)
    return Contrast.claiming(share_of(there, inside), share_of(there, ~inside), *claim)

"""Genotypes as a sort of data: what their declarations say, and what is public about them.

::

    name: study
    sort: genotypes
    unit: person
    file: study.bed            # with .bim and .fam beside it; or .vcf, .vcf.gz
    clusters: [AFR, EUR]       # public names, if there are any
    labels: populations.txt    # a line for each person: the name in the file, blanks or a tab, the cluster
    people: 1092               # about how many there are; exactly, with neighbours: replace-one
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import whole
from sordino.data.declarations_file import head
from sordino.data.genotypes import PERSON, Genotypes, genotypes
from sordino.data.variant_files import Matrix
from sordino.errors import ArgumentError, SourceError
from sordino.serve.kinds.sort import Sort

_WORDS = ("file", "clusters", "labels", "people")
_MOST_CLUSTERS = 10_000
_MOST_PEOPLE = 2**31


@dataclass(frozen=True)
class Declared:
    """What is declared about genotypes: all of it is public."""

    name: str
    unit: Unit
    neighbours: Neighbours
    file: str
    clusters: tuple[str, ...] | None
    labels: str | None
    people: int | None


def read(plain: Mapping[str, Any], directory: Path) -> Declared:
    """Return what declarations say; opens nothing."""
    said, rest = head(plain, _WORDS, ("file",))
    if said.unit != PERSON:
        raise ArgumentError("genotypes protect each person: say unit: person", "SRD-A006")
    file, labels, clusters = rest["file"], rest.get("labels"), rest.get("clusters")
    if not isinstance(file, str) or not isinstance(labels, str | None) or (labels is None) != (clusters is None):
        raise ArgumentError("file names the genotypes; labels names a file, and goes with clusters: [...]", "SRD-A006")
    if clusters is not None and not (isinstance(clusters, list) and 1 <= len(clusters) <= _MOST_CLUSTERS):
        raise ArgumentError(f"clusters must be a list of at most {_MOST_CLUSTERS:,} names", "SRD-A006")
    people = rest.get("people")
    return Declared(
        said.name,
        said.unit,
        said.neighbours,
        str(directory / file),
        None if clusters is None else tuple(map(str, clusters)),
        None if labels is None else str(directory / labels),
        None if people is None else whole("people", people, least=1, most=_MOST_PEOPLE),
    )


def _open(declared: Declared) -> Genotypes:
    return genotypes(
        declared.name,
        declared.file,
        clusters=declared.clusters,
        labels=None if declared.labels is None else _labels(declared.name, declared.labels),
        people=declared.people,
        neighbours=declared.neighbours,
    )


def _labels(name: str, path: str) -> dict[str, str]:
    """Return the cluster of each person; what a line says besides counts for nothing."""
    try:
        lines = [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"the labels of {name!r} cannot be read as UTF-8 text; check the path", "SRD-R002") from None
    return {words[0]: words[1] for words in lines if len(words) >= 2}


def _outline(found: Genotypes) -> Genotypes:
    """Return what is public: sites and clusters, without people."""
    nobody = Matrix(found.sites, (), np.zeros((0, len(found.sites)), np.int8))
    return replace(found, _variants=nobody, _labels=None if found.everybody else (), _cases=None)


GENOTYPES = Sort(
    name="genotypes",
    read=read,
    sources=lambda declared: (
        {"the genotypes": declared.file} | ({} if declared.labels is None else {"the labels": declared.labels})
    ),
    open=_open,
    outline=_outline,
    public=lambda found: {"sites": len(found.sites), "clusters": list(found.clusters), "people": found.people},
)

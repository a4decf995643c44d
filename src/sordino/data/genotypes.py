"""Genotypes that are protected, a person at a time: who took part in a study, and what their alleles are.

Which sites there are is public, and so are the names of clusters. Who is in which cluster, and who is a case, is about
a person and protected with the genotypes. How many people there are is private, unless one is replaced by another.

What only the data shows is repaired person by person: a genotype that is missing counts as one copy of each allele, a
person whose cluster is not declared counts in none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import shown_path, whole
from sordino.errors import ArgumentError

from .ownership import checked_name
from .variant_files import Matrix, Plink, Site, Variants, Vcf

PERSON = Unit("person")
ALL = "all"
_MOST_PEOPLE = 2**31


@dataclass(frozen=True, eq=False, repr=False)
class Genotypes:
    """The genotypes of a study, with what is public about them."""

    name: str
    sites: tuple[Site, ...]
    clusters: tuple[str, ...]
    people: int | None
    """How many there are, where one is replaced by another; else about how many, for prices alone."""
    neighbours: Neighbours
    _variants: Variants = field(repr=False)
    _labels: tuple[str, ...] | None = field(repr=False)
    _cases: NDArray[np.int8] | None = field(repr=False)

    @property
    def unit(self) -> Unit:
        """A person with all genotypes."""
        return PERSON

    @property
    def replaces(self) -> bool:
        """Whether neighbours have another person in one's place, and not one less."""
        return self.neighbours is Neighbours.REPLACE_ONE

    @property
    def everybody(self) -> bool:
        """Whether there is one cluster that everybody is in."""
        return self._labels is None

    def check_ready(self) -> None:
        """Raise `SourceError` if the file is gone or was changed; asked before every charge."""
        self._variants.check_ready(self.name)

    def membership(self) -> NDArray[np.int8]:
        """Return who is in which cluster, a row for each person: secret."""
        if self._labels is None:
            return np.ones((len(self._variants.people), 1), np.int8)
        return np.asarray(np.array(self._labels)[:, None] == np.array(self.clusters), dtype=np.int8)

    def cases(self) -> NDArray[np.int8]:
        """Return 1 for each case, −1 for each control, 0 for whoever is neither: secret."""
        if self._cases is not None:
            return self._cases
        told = np.array(getattr(self._variants, "phenotypes", ("0",) * len(self._variants.people)))
        return np.asarray((told == "2").astype(np.int8) - (told == "1").astype(np.int8))

    def summed(self, weights: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return for each site, and each column of `weights`, Σ over people of weight · (copies − 1): secret."""
        # Whole numbers in floats are exact far beyond as many people as there are, and multiply fast.
        factors = weights.astype(np.float64)
        return np.concatenate([(block.astype(np.float64) @ factors) for block in self._variants.blocks()]).astype(
            np.int64
        )

    def __repr__(self) -> str:
        return (
            f"Genotypes({self.name!r}, protects each person, {len(self.sites):,} sites, {len(self.clusters)} clusters)"
        )


def genotypes(
    name: str,
    source: Any,
    *,
    clusters: Sequence[str] | None = None,
    labels: Mapping[str, str] | Sequence[str] | None = None,
    cases: Mapping[str, bool] | Sequence[bool] | NDArray[Any] | None = None,
    people: int | None = None,
    sites: Sequence[str] | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> Genotypes:
    """Declare genotypes: PLINK files (the path of the .bed, or without its ending), a .vcf or .vcf.gz, or an array.

    An array has a row for each person, a column for each of `sites`, and says how many copies of the counted allele
    there are; −1 is missing. `clusters` names the clusters publicly; `labels` says who is in which, by the person's
    name in the file or in the order of the file. `cases` says who is a case (else the .fam does). `people` is how many
    there are, which is public where `neighbours` replace one by another, and serves prices alone else.

    **Guarantee**: sizes, headers and numbers of fields are checked here, before anything is charged.
    **Assumes**: sites, clusters' names and `people` are public.
    """
    checked_name("the name of genotypes", name)
    variants = _variants(name, source, sites)
    count = len(variants.people)
    if neighbours not in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE):
        raise ArgumentError("people come and go, or one is replaced by another; no place is emptied here", "SRD-P602")
    declared = None if people is None else whole("people", people, least=1, most=_MOST_PEOPLE)
    if neighbours is Neighbours.REPLACE_ONE and declared != count:
        raise ArgumentError(
            "where one person is replaced by another it is public how many there are; say people=… as the source has "
            "them",
            "SRD-P602",
        )
    if (clusters is None) != (labels is None):
        raise ArgumentError("clusters=[…] names the clusters, labels=… says who is in which: give both", "SRD-P602")
    names = (ALL,) if clusters is None else tuple(str(each) for each in clusters)
    if not names or len(set(names)) != len(names):
        raise ArgumentError("clusters must be names, each another one", "SRD-P602")
    told = None if labels is None else tuple(str(each) for each in _aligned("labels", labels, variants.people, ""))
    status = (
        None
        if cases is None
        else np.array(
            [0 if each is None else 1 if each else -1 for each in _aligned("cases", cases, variants.people, None)],
            np.int8,
        )
    )
    return Genotypes(name, variants.sites, names, declared, neighbours, variants, told, status)


def _variants(name: str, source: Any, sites: Sequence[str] | None) -> Variants:
    if isinstance(source, np.ndarray):
        if source.ndim != 2 or source.dtype.kind not in "iu":
            raise ArgumentError("an array of genotypes must be whole numbers, a row for each person", "SRD-P601")
        names = [str(place + 1) for place in range(source.shape[1])] if sites is None else [str(each) for each in sites]
        if len(names) != source.shape[1]:
            raise ArgumentError("sites must name each column of the array", "SRD-P601")
        held = np.where((source >= 0) & (source <= 2), source, -1).astype(np.int8)
        where = tuple(Site("", place + 1, each) for place, each in enumerate(names))
        return Matrix(where, tuple(str(place) for place in range(len(source))), held)
    if sites is not None:
        raise ArgumentError("a file names its sites itself; leave sites=… out", "SRD-P601")
    if not isinstance(source, str | os.PathLike):
        raise ArgumentError(f"genotypes come from a path or an array, not {type(source).__name__}", "SRD-P601")
    path = Path(source)
    if path.name.endswith((".vcf", ".vcf.gz")):
        if not path.is_file():
            raise ArgumentError(f"there is no file {shown_path(path)}", "SRD-P601")
        return Vcf.open(name, path)
    return Plink.open(name, path)


def _aligned(what: str, given: Any, people: tuple[str, ...], absent: Any) -> list[Any]:
    """Return one value for each person, by name or in order."""
    if isinstance(given, Mapping):
        return [given.get(each, absent) for each in people]
    values = list(given)
    if len(values) != len(people):
        raise ArgumentError(f"{what} must have one value for each person, or be a dict by names", "SRD-P602")
    return values

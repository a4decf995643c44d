"""Genotypes in files: PLINK's bed, bim and fam, and VCF; read in blocks of sites, decoded by tables and arrays.

A genotype is told as what it is beside the one with one copy of each allele: −1, 0 or 1 more copies of the counted
allele (A1 of a bim, ALT of a VCF). What is missing, or has not two alleles, is 0.

Sites are public: their names and places are read when a file is declared. In a VCF only sites with one other allele
count. **Guarantee**: a file whose size, header or number of fields in any line does not fit is refused when it is
declared.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.errors import ArgumentError, SourceError

Signs = NDArray[np.int8]
_BLOCK = 2**24
_MAGIC = b"\x6c\x1b\x01"
_FIXED = 9
"""The fields of a line of a VCF before those of people."""


@dataclass(frozen=True)
class Site:
    """Where in the genome: public."""

    chromosome: str
    position: int
    name: str


class Variants(Protocol):
    """Genotypes somewhere."""

    @property
    def sites(self) -> tuple[Site, ...]:
        """Where: public."""
        ...

    @property
    def people(self) -> tuple[str, ...]:
        """Who: secret."""
        ...

    def check_ready(self, name: str) -> None:
        """Raise `SourceError` if they cannot be read now."""
        ...

    def blocks(self) -> Iterator[Signs]:
        """Yield genotypes, a row for each site and a column for each person, in the order of sites: secret."""
        ...


@dataclass(frozen=True, eq=False)
class Matrix:
    """Genotypes in memory: a row for each person, a column for each site."""

    sites: tuple[Site, ...] = field(repr=False)
    people: tuple[str, ...] = field(repr=False)
    held: NDArray[np.int8] = field(repr=False)
    """How many copies; anything but 0, 1 and 2 is missing."""

    def check_ready(self, name: str) -> None:
        """It is always ready."""

    def blocks(self) -> Iterator[Signs]:
        """Yield all genotypes at once."""
        known = (self.held >= 0) & (self.held <= 2)
        yield np.where(known, self.held - 1, 0).astype(np.int8).T


_SIGNS = np.array([1, 0, 0, -1], np.int8)
_TABLE = _SIGNS[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3]


@dataclass(frozen=True, eq=False)
class Plink:
    """A .bed with its .bim and .fam beside it."""

    path: Path
    sites: tuple[Site, ...] = field(repr=False)
    people: tuple[str, ...] = field(repr=False)
    phenotypes: tuple[str, ...] = field(repr=False)
    """As the sixth column of the .fam has them: 2 for cases, 1 for controls."""

    @classmethod
    def open(cls, name: str, path: Path) -> Plink:
        """Read the sites and who there is; refuse a .bed of another size."""
        bed = path if path.suffix == ".bed" else path.with_name(path.name + ".bed")
        sites = tuple(
            Site(line[0], _number(name, line[3]), line[1]) for line in _fields(name, bed.with_suffix(".bim"), 6)
        )
        family = list(_fields(name, bed.with_suffix(".fam"), 6))
        found = cls(bed, sites, tuple(line[1] for line in family), tuple(line[5] for line in family))
        if not bed.is_file() or not found._sound():
            raise ArgumentError(
                f"the .bed of {name!r} is not there, does not begin as one does, or does not have the size that the "
                ".bim and .fam beside it say: it is cut off, or belongs to others",
                "SRD-P601",
            )
        return found

    def check_ready(self, name: str) -> None:
        """Raise `SourceError` if the file is gone or was changed."""
        if not self._sound():
            raise SourceError(
                f"the .bed of {name!r} is gone, or is not what it was; nothing was charged. Have the data's owner look "
                "at it",
                "SRD-R002",
            )

    def blocks(self) -> Iterator[Signs]:
        """Yield genotypes, four people to a byte."""
        width = self._width
        rows = max(_BLOCK // max(4 * width, 1), 1)
        raw = np.memmap(self.path, np.uint8, "r", offset=len(_MAGIC), shape=(len(self.sites), width))
        for start in range(0, len(self.sites), rows):
            part = _TABLE[raw[start : start + rows]]
            yield part.reshape(len(part), -1)[:, : len(self.people)]

    @property
    def _width(self) -> int:
        return -(-len(self.people) // 4)

    def _sound(self) -> bool:
        try:
            with self.path.open("rb") as file:
                begins = file.read(len(_MAGIC)) == _MAGIC
            return begins and self.path.stat().st_size == len(_MAGIC) + len(self.sites) * self._width
        except OSError:
            return False


@dataclass(frozen=True, eq=False)
class Vcf:
    """A .vcf or .vcf.gz."""

    path: Path
    sites: tuple[Site, ...] = field(repr=False)
    people: tuple[str, ...] = field(repr=False)

    @classmethod
    def open(cls, name: str, path: Path) -> Vcf:
        """Read the sites and who there is; refuse a file that ends early, or a line with too few fields."""
        try:
            content = _bytes(path)
        except (OSError, EOFError, zlib.error):
            content = b""
        people = _header(content)
        if people is None:
            raise _cut_off(name)
        sites: list[Site] = []
        for part in _lines(content):
            tabs, ends = _tabs(part)
            if (np.diff(np.searchsorted(tabs, ends), prepend=0) != _FIXED - 1 + len(people)).any():
                raise _cut_off(name)
            for line in part.tobytes().split(b"\n")[:-1]:
                chromosome, position, called, _, other, _ = line.split(b"\t", 5)
                if _counts(other):
                    names = chromosome.decode("latin-1"), called.decode("latin-1")
                    sites.append(Site(names[0], _number(name, position.decode("latin-1")), names[1]))
        return cls(path, tuple(sites), people)

    def check_ready(self, name: str) -> None:
        """Raise `SourceError` if the file is gone."""
        if not self.path.is_file():
            raise SourceError(f"the file of {name!r} is gone; nothing was charged", "SRD-R002")

    def blocks(self) -> Iterator[Signs]:
        """Yield genotypes: the two digits of each field, found by where tabs are."""
        fields = _FIXED - 1 + len(self.people)
        for part in _lines(_bytes(self.path)):
            tabs, _ = _tabs(part)
            starts = tabs.reshape(-1, fields)
            padded = np.concatenate([part, np.zeros(4, np.uint8)])
            kept = np.array([_counts(padded[line[3] + 1 : line[4]].tobytes()) for line in starts], bool)
            at = starts[kept][:, _FIXED - 2 :] + 1
            called = (padded[at[:, :1]] == ord("G")) & (padded[at[:, :1] + 1] == ord("T"))
            one, between, other, after = (padded[at[:, 1:] + place] for place in range(4))
            known = (
                called
                & np.isin(between, _BETWEEN)
                & np.isin(after, _AFTER)
                & np.isin(one, _DIGITS)
                & np.isin(other, _DIGITS)
            )
            yield np.where(known, one.astype(np.int16) + other - 2 * ord("0") - 1, 0).astype(np.int8)


_BETWEEN, _DIGITS = np.frombuffer(b"/|", np.uint8), np.frombuffer(b"01", np.uint8)
_AFTER = np.frombuffer(b":\t\n\r\0", np.uint8)


def _bytes(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _header(content: bytes) -> tuple[str, ...] | None:
    """Return the names of people in the header of a VCF; None if there is none, or the last line has no end."""
    start = content.find(b"\n#CHROM\t")
    if not content.startswith(b"##fileformat=VCF") or start < 0 or not content.endswith(b"\n"):
        return None
    fields = content[start + 1 : content.index(b"\n", start + 1)].rstrip(b"\r").split(b"\t")
    return tuple(each.decode("latin-1") for each in fields[_FIXED:]) if len(fields) > _FIXED else None


def _lines(content: bytes) -> Iterator[NDArray[np.uint8]]:
    """Yield the lines below the header, whole ones, about as many at once as memory allows."""
    start = content.index(b"\n", content.index(b"\n#CHROM\t") + 1) + 1
    while start < len(content):
        stop = content.find(b"\n", min(start + _BLOCK, len(content) - 1)) + 1 or len(content)
        yield np.frombuffer(content, np.uint8, stop - start, start)
        start = stop


def _tabs(part: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.flatnonzero(part == ord("\t")), np.flatnonzero(part == ord("\n"))


def _counts(other: bytes) -> bool:
    """Return whether a site with this ALT has one other allele."""
    return b"," not in other and other != b"."


def _cut_off(name: str) -> ArgumentError:
    return ArgumentError(
        f"the VCF of {name!r} has no header, ends early, or has a line with another number of fields than its header; "
        "it is cut off or broken: make it anew",
        "SRD-P601",
    )


def _fields(name: str, path: Path, count: int) -> Iterator[list[str]]:
    try:
        lines = path.read_text(encoding="latin-1").splitlines()
    except OSError:
        lines = []
    for line in lines:
        found = line.split()
        if len(found) < count:
            lines = []
            break
        yield found
    if not lines:
        raise ArgumentError(
            f"the {path.suffix} of {name!r} is not there, or has a line with fewer than {count} fields", "SRD-P601"
        )


def _number(name: str, text: str) -> int:
    if not text.isdigit() or len(text) > 12:
        raise ArgumentError(f"a site of {name!r} has a position that is no whole number", "SRD-P601")
    return int(text)

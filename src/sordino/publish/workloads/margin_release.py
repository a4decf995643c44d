"""What comes out of a workload of marginals: every one of them, any smaller one, with standard deviations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.errors import ArgumentError
from sordino.publish.files import arrays_from_bytes, arrays_to_bytes
from sordino.publish.nested import Reals, divided
from sordino.publish.released import Released, Saved

from .contrasts import Columns, Parts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = "measured.npz"


@dataclass(frozen=True, eq=False)
class Margins(Released):
    """Marginals of some columns, from one noisy measurement of each of their parts."""

    columns: dict[str, Any] = field(default_factory=dict)
    """For each column what its cells stand for: `keys`, or `edges` of a number."""
    sets: tuple[Columns, ...] = ()
    """The sets of columns that were asked for, by place."""
    noise: dict[str, float] = field(default_factory=dict)
    """The variance of the noise of each part, by its file's name for it."""
    noisy: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """The noisy products of each part."""

    @cached_property
    def parts(self) -> Parts:
        """What the marginals are made of."""
        sizes = tuple(len(each["keys"]) if "keys" in each else len(each["edges"]) - 1 for each in self.columns.values())
        return Parts(sizes, self.sets)

    def unbiased(self, *names: str) -> Reals:
        """Return the unbiased estimate of the marginal of these columns, in this order."""
        places = self._places(names)
        ordered = tuple(sorted(places))
        # Files keep the total as an array of one number, in one dimension.
        shaped = {
            part: self.noisy[part_name(part)].reshape([self.parts.sizes[each] for each in part])
            for part in self.parts.all
        }
        found = self.parts.marginal(ordered, shaped)
        return np.transpose(found, [ordered.index(each) for each in places])

    def marginal(self, *names: str) -> Reals:
        """Return the same with no cell below 0 and as many rows in all."""
        plain = self.unbiased(*names)
        total = np.maximum(plain.sum(), 0.0).reshape(1)
        one = np.zeros(plain.size, dtype=np.int64)
        return divided(one, total, plain.ravel(), np.ones(plain.size)).reshape(plain.shape)

    def standard_deviation(self, *names: str) -> float:
        """Return that of every cell of the unbiased marginal of these columns."""
        noise = {part: self.noise[part_name(part)] for part in self.parts.all}
        return math.sqrt(self.parts.variance(tuple(sorted(self._places(names))), noise))

    def table(self, *names: str) -> pa.Table:
        """Return a marginal as a table: a row for each cell."""
        plain, fitted = self.unbiased(*names), self.marginal(*names)
        places = np.indices(plain.shape).reshape(plain.ndim, -1)
        stands = {
            name: [cells_of(self.columns[name])[at] for at in place] for name, place in zip(names, places, strict=True)
        }
        return pa.table({**stands, "rows": fitted.ravel(), "unbiased": plain.ravel()})

    def plot(self) -> Figure:
        """Draw the marginals of one or two columns that were asked for, six at most."""
        from .margin_picture import drawn

        return drawn(self)

    def measured(self) -> dict[str, Any]:
        """Return what the cells stand for, what was asked for, and the noise."""
        return {"columns": self.columns, "sets": [list(each) for each in self.sets], "noise": self.noise}

    def contents(self) -> Mapping[str, bytes]:
        """Return the noisy products."""
        return {MEASURED: arrays_to_bytes(self.noisy)}

    def _places(self, names: tuple[str, ...]) -> Columns:
        known = list(self.columns)
        if not all(name in known for name in names) or len(set(names)) != len(names):
            raise ArgumentError(f"name each column once, out of {', '.join(known)}", "SRD-P301")
        places = tuple(known.index(name) for name in names)
        if not any(set(places) <= set(each) for each in self.sets):
            raise ArgumentError(
                f"{' × '.join(names)} is in no marginal that was measured; name fewer columns together", "SRD-P304"
            )
        return places


def part_name(part: Columns) -> str:
    """Return what a part is called in files."""
    return "_".join(["part", *map(str, part)])


def cells_of(column: Mapping[str, Any]) -> list[Any]:
    """Return what the cells of a column stand for: keys, or the lower edge of each part of a number."""
    return list(column["keys"]) if "keys" in column else list(column["edges"][:-1])


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Margins:
    """Return a release as it was."""
    said = manifest["measured"]
    sets = tuple(tuple(each) for each in said["sets"])
    return Margins(Saved(manifest), None, said["columns"], sets, said["noise"], arrays_from_bytes(files[MEASURED]))

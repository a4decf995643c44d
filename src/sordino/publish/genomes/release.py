"""What comes out of genotypes: frequencies of clusters, and sites at which cases and controls differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.data.variant_files import Site
from sordino.publish.files import table_from_bytes, table_to_bytes
from sordino.publish.released import Released, Saved

from .chi_squared import Floats, chi_squared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SUMS, _SITES = "sums.parquet", "sites.parquet"


@dataclass(frozen=True, eq=False)
class Frequencies(Released):
    """How frequent the counted allele is at each site (a row) in each cluster (a column)."""

    sites: pa.Table = field(default_factory=lambda: sites_table(()))
    clusters: tuple[str, ...] = ()
    sums: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """Noisy sums of copies beyond one."""
    counted: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """How many people there are, counted `weight` times; noisy, unless it is public."""
    weight: int = 1
    reach: float = 0.0
    """What the noise in a number does not exceed with a probability of 95 %."""

    @property
    def people(self) -> Floats:
        """How many people there are in each cluster; 1 at least."""
        return np.maximum(self.counted / self.weight, 1.0)

    @property
    def estimates(self) -> Floats:
        """Frequencies as they were measured: right on average where it is public how many people there are."""
        return 0.5 + self.sums / (2 * self.people)

    @property
    def frequencies(self) -> Floats:
        """The same, none of them below 0 or above 1."""
        return np.clip(self.estimates, 0.0, 1.0)

    @property
    def half_widths(self) -> Floats:
        """Half the width of a 95 % interval around a frequency in each cluster, were its people known exactly."""
        return self.reach / (2 * self.people)

    def table(self) -> pa.Table:
        """Return the sites, and a column of frequencies for each cluster."""
        found = self.sites
        for place, name in enumerate(self.clusters):
            found = found.append_column(name, pa.array(self.frequencies[:, place]))
        return found

    def plot(self) -> Figure:
        """Return frequencies along the genome, a panel for each cluster."""
        from .picture import draw_frequencies

        return draw_frequencies(self)

    def measured(self) -> dict[str, Any]:
        """Return clusters, how many people they have, and the noise."""
        told = {"counted": [int(each) for each in self.counted], "weight": self.weight, "reach": self.reach}
        return {"clusters": list(self.clusters), **told}

    def contents(self) -> Mapping[str, bytes]:
        """Return the noisy sums of each site."""
        found = self.sites
        for place, _ in enumerate(self.clusters):
            found = found.append_column(f"sum {place + 1}", pa.array(self.sums[:, place]))
        return {_SUMS: table_to_bytes(found)}


@dataclass(frozen=True, eq=False)
class TopSites(Released):
    """The sites at which cases and controls differ most, best first."""

    sites: pa.Table = field(default_factory=lambda: sites_table(()))
    sums: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    """Noisy sums of copies beyond one, of cases and of controls."""
    people: Floats = field(default_factory=lambda: np.zeros(2))
    """Noisy numbers of cases and of controls."""

    @property
    def names(self) -> list[str]:
        """The sites, best first."""
        found: list[str] = self.sites["name"].to_pylist()
        return found

    @property
    def chi_squared(self) -> Floats:
        """The χ² of each site, from noisy counts: by and by, and not what chose it."""
        cases, controls = self.sums.astype(np.float64).T
        return chi_squared(cases, controls, float(self.people[0]), float(self.people[1]))

    def table(self) -> pa.Table:
        """Return the sites with frequencies of cases and controls, and χ²."""
        shares = np.clip(0.5 + self.sums / (2 * np.maximum(self.people, 1)), 0, 1)
        found = self.sites.append_column("cases", pa.array(shares[:, 0]))
        found = found.append_column("controls", pa.array(shares[:, 1]))
        return found.append_column("chi squared", pa.array(self.chi_squared))

    def plot(self) -> Figure:
        """Return a Manhattan plot of the sites that were chosen."""
        from .picture import draw_manhattan

        return draw_manhattan(self)

    def measured(self) -> dict[str, Any]:
        """Return the names of sites, and how many people there are about."""
        return {"sites": self.names, "people": [float(each) for each in self.people]}

    def contents(self) -> Mapping[str, bytes]:
        """Return the sites with their noisy sums."""
        found = self.sites.append_column("cases", pa.array(self.sums[:, 0]))
        return {_SITES: table_to_bytes(found.append_column("controls", pa.array(self.sums[:, 1])))}


def sites_table(sites: Iterable[Site]) -> pa.Table:
    """Return sites as a table."""
    listed = list(sites)
    columns = {
        "chromosome": pa.array([each.chromosome for each in listed], pa.string()),
        "position": pa.array([each.position for each in listed], pa.int64()),
        "name": pa.array([each.name for each in listed], pa.string()),
    }
    return pa.table(columns)


def frequencies_again(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Frequencies:
    """Return frequencies as they were released."""
    told, found = manifest["measured"], table_from_bytes(files[_SUMS])
    sums = np.stack([column.to_numpy() for column in found.columns[3:]], axis=1)
    counted = np.array(told["counted"], np.int64)
    names = tuple(told["clusters"])
    law = told["weight"], told["reach"]
    return Frequencies(Saved(manifest), None, found.select([0, 1, 2]), names, sums, counted, *law)


def top_again(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> TopSites:
    """Return sites as they were released."""
    found = table_from_bytes(files[_SITES])
    sums = np.stack([found["cases"].to_numpy(), found["controls"].to_numpy()], axis=1)
    people = np.array(manifest["measured"]["people"])
    return TopSites(Saved(manifest), None, found.select([0, 1, 2]), sums, people)

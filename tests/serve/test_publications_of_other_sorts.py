"""Graphs and genotypes in a service: declared, priced without data, published, refused where they do not fit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from serve.places import OWNER, settings_at
from sordino.errors import SordinoError
from sordino.serve.keeping.identity import Principal
from sordino.serve.service import Service

FRIENDS = "name: friends\nsort: graph\nunit: edge\nfile: friends.txt\nnodes: 30\n"
STUDY = "name: study\nsort: genotypes\nunit: person\nfile: study.vcf\nclusters: [north, south]\nlabels: clusters.txt\n"
ANN = Principal("ann", "analyst", frozenset({"friends", "study"}))
ASKED: dict[str, dict[str, Any]] = {
    "triangles": {"dataset": "friends", "recipe": "graph-count", "parameters": {"what": "triangles"}, "epsilon": "1"},
    "degrees": {"dataset": "friends", "recipe": "graph-degrees", "epsilon": "1"},
    "frequencies": {"dataset": "study", "recipe": "allele-frequencies", "epsilon": "1"},
}


def opened(directory: Path) -> Service:
    draw = np.random.default_rng(4)
    lines = [f"{one} {other}" for one, other in draw.integers(0, 30, (200, 2)).tolist()]
    (directory / "friends.txt").write_text("# who knows whom\n" + "\n".join(lines))
    names = [f"p{place}" for place in range(40)]
    header = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + "\t".join(names)
    sites = [
        f"1\t{100 + site}\trs{site}\tA\tG\t.\t.\t.\tGT\t"
        + "\t".join(f"{one}/{other}" for one, other in draw.integers(0, 2, (40, 2)).tolist())
        for site in range(8)
    ]
    (directory / "study.vcf").write_text("\n".join([header, *sites]) + "\n")
    (directory / "clusters.txt").write_text(
        "\n".join(f"p{place} {'north' if place < 20 else 'south'}" for place in range(40))
    )
    service = Service.open(settings_at(directory, heartbeat_seconds=1))
    for declarations in (FRIENDS, STUDY):
        service.register(OWNER, declarations, {"epsilon": 10})
    return service


@pytest.mark.service
def test_what_is_declared_is_priced_and_published(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        for asked in ASKED.values():
            priced = service.price(ANN, "publication", asked)
            assert priced["fits"], asked
            service.submit(ANN, "publication", asked, None)
        for _ in range(1200):
            jobs = service.jobs.jobs(OWNER)
            if all(each["finished"] is not None for each in jobs):
                break
            time.sleep(0.1)
        assert [each["error"] for each in jobs] == [None] * 3
        bodies = [service.release(ANN, each["release"])["answer"] for each in jobs]
        assert {each["recipe"] for each in bodies} == {"graph-count", "graph-degrees", "allele-frequencies"}
        assert "p17" not in json.dumps(bodies)


WRONG = [
    FRIENDS.replace("unit: edge", "unit: person"),
    FRIENDS.replace("nodes: 30", "nodes: many"),
    FRIENDS.replace("friends.txt", "../friends.txt"),
    FRIENDS.replace("friends.txt", "nothing.txt"),
    FRIENDS + "neighbours: replace-one\n",
    STUDY.replace("unit: person", "unit: row"),
    STUDY.replace("labels: clusters.txt\n", ""),
    STUDY.replace("study.vcf", "study.bed"),
    STUDY + "people: 0\n",
]


@pytest.mark.parametrize("declarations", WRONG, ids=range(len(WRONG)))
def test_declarations_that_do_not_fit_are_refused(tmp_path: Path, declarations: str) -> None:
    with opened(tmp_path) as service, pytest.raises(SordinoError):
        service.register(OWNER, declarations.replace("name: ", "name: other-"), {"epsilon": 1})

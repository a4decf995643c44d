"""Genotypes as they are declared and read: PLINK, VCF and arrays; what is cut off is refused before a charge."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sordino.accounting.neighbours import Neighbours
from sordino.data import variant_files
from sordino.data.genotypes import genotypes
from sordino.errors import ArgumentError, SourceError

PEOPLE, SITES = 11, 7
HELD = np.random.default_rng(2).integers(-1, 3, (PEOPLE, SITES))
SIGNS = np.where(HELD < 0, 0, HELD - 1).T
CODES = {2: 0, -1: 1, 1: 2, 0: 3}
HEADER = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"


def plink(folder: Path, *, cut: int = 0, magic: bytes = b"\x6c\x1b\x01") -> Path:
    rows = []
    for site in range(SITES):
        codes = [CODES[int(each)] for each in HELD[:, site]] + [0] * (-PEOPLE % 4)
        rows.append(
            bytes(sum(code << 2 * place for place, code in enumerate(codes[at : at + 4])) for at in range(0, 12, 4))
        )
    content = magic + b"".join(rows)
    (folder / "study.bed").write_bytes(content[: len(content) - cut])
    (folder / "study.bim").write_text("".join(f"{1 + s % 2}\trs{s}\t0\t{10 * s}\tA\tG\n" for s in range(SITES)))
    (folder / "study.fam").write_text("".join(f"f p{p} 0 0 0 {[2, 1, -9][p % 3]}\n" for p in range(PEOPLE)))
    return folder / "study"


def vcf(folder: Path, name: str, text: str | None = None) -> Path:
    shown = {2: "1|1", 1: "0/1", 0: "0/0", -1: "./."}
    if text is None:
        text = HEADER + "\t".join(f"p{p}" for p in range(PEOPLE)) + "\n"
        for site in range(SITES):
            fields = [f"{shown[int(each)]}:9" for each in HELD[:, site]]
            text += "\t".join(["1", str(site), f"rs{site}", "A", "G", ".", ".", ".", "GT:DP", *fields]) + "\n"
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def signs(source: Any, **words: Any) -> list[list[int]]:
    return genotypes("study", source, **words).summed(np.eye(PEOPLE, dtype=np.int8)).tolist()


@pytest.mark.parametrize("block", [1, 2**24])
def test_all_sources_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(variant_files, "_BLOCK", block)
    for source in (HELD, plink(tmp_path), vcf(tmp_path, "a.vcf"), vcf(tmp_path, "a.vcf.gz")):
        assert signs(source) == SIGNS.tolist()
    found = genotypes("study", plink(tmp_path))
    assert found.sites[3].name == "rs3"
    assert found.sites[3].position == 30
    assert found.cases().tolist() == [[1, -1, 0][p % 3] for p in range(PEOPLE)]
    assert repr(found) == "Genotypes('study', protects each person, 7 sites, 1 clusters)"


def test_sites_of_a_vcf_that_do_not_count_and_fields_that_are_no_genotypes(tmp_path: Path) -> None:
    lines = [
        "1\t10\ta\tA\tG\t.\t.\t.\tGT\t0/0\t0|1\t1/1",
        "1\t20\tb\tA\tG,T\t.\t.\t.\tGT\t0/0\t0|1\t1/2",
        "1\t30\tc\tA\t.\t.\t.\t.\tGT\t0/0\t0/0\t0/0",
        "2\t40\td\tA\tG\t.\t.\t.\tGT:DP\t0\t1/1/1\t1|1:7",
        "2\t50\te\tA\tG\t.\t.\t.\tDP:GT\t1:1/1\t0/0\t1/1",
    ]
    path = vcf(tmp_path, "b.vcf", HEADER + "x\ty\tz\n" + "\n".join(lines) + "\n")
    found = genotypes("study", path)
    assert [site.name for site in found.sites] == ["a", "d", "e"]
    assert found.summed(np.eye(3, dtype=np.int8)).tolist() == [[-1, 0, 1], [0, 0, 1], [0, 0, 0]]


def test_clusters_and_cases() -> None:
    labels = {str(person): "ABC"[person % 3] for person in range(PEOPLE)}
    found = genotypes("study", HELD, clusters=["A", "B"], labels=labels, cases=[True, None, False] + [False] * 8)
    assert found.membership().sum(axis=0).tolist() == [4, 4]
    assert found.cases().tolist()[:4] == [1, 0, -1, -1]
    assert not found.everybody
    assert found.summed(found.membership()).tolist() == [
        [SIGNS[site][0::3].sum(), SIGNS[site][1::3].sum()] for site in range(SITES)
    ]


def test_what_is_cut_off_or_broken_is_refused(tmp_path: Path) -> None:
    for words in ({"cut": 1}, {"magic": b"\x6c\x1b\x00"}):
        with pytest.raises(ArgumentError, match="SRD-P601"):
            genotypes("study", plink(tmp_path, **words))
    whole = vcf(tmp_path, "a.vcf").read_text()
    texts = [whole[:-4], whole[:-1], whole.replace("\trs2\t", "\t", 1), whole.split("#CHROM")[0], "", whole[2:]]
    for text in [*texts, whole.replace("\t3\trs3", "\tx\trs3")]:
        with pytest.raises(ArgumentError, match="SRD-P601"):
            genotypes("study", vcf(tmp_path, "b.vcf", text))
    packed = vcf(tmp_path, "a.vcf.gz")
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ArgumentError, match="SRD-P601"):
        genotypes("study", packed)


def test_a_file_that_changed_since_is_refused_before_a_charge(tmp_path: Path) -> None:
    found = genotypes("study", plink(tmp_path))
    (tmp_path / "study.bed").write_bytes(b"\x6c\x1b\x01")
    with pytest.raises(SourceError, match="SRD-R002"):
        found.check_ready()
    path = vcf(tmp_path, "a.vcf")
    other = genotypes("study", path)
    other.check_ready()
    path.unlink()
    with pytest.raises(SourceError, match="SRD-R002"):
        other.check_ready()


@pytest.mark.parametrize(
    ("source", "words", "code"),
    [
        (HELD * 1.0, {}, "SRD-P601"),
        (HELD, {"sites": ["a"]}, "SRD-P601"),
        ("nowhere", {}, "SRD-P601"),
        ("nowhere.vcf", {}, "SRD-P601"),
        ("nowhere", {"sites": ["a"]}, "SRD-P601"),
        (42, {}, "SRD-P601"),
        (HELD, {"clusters": ["A"]}, "SRD-P602"),
        (HELD, {"clusters": ["A", "A"], "labels": ["A"] * PEOPLE}, "SRD-P602"),
        (HELD, {"clusters": ["A"], "labels": ["A"]}, "SRD-P602"),
        (HELD, {"neighbours": Neighbours.REPLACE_ONE}, "SRD-P602"),
        (HELD, {"neighbours": Neighbours.REPLACE_ONE, "people": 12}, "SRD-P602"),
        (HELD, {"neighbours": Neighbours.ZERO_OUT}, "SRD-P602"),
        (HELD, {"people": 0}, "SRD-A002"),
    ],
)
def test_what_cannot_be_is_refused(source: Any, words: dict[str, Any], code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        genotypes("study", source, **words)

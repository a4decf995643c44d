"""Whatever can fail before data is touched is tried before the charge: forty refusals cost nothing."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as so
from ledger.samples import TRIPS, request, reserved, rule, spent
from serve.places import ANALYST, OWNER, count, opened
from servers import postgres_server
from sordino.errors import LedgerError, SordinoError, SourceError
from sordino.ledger import witness as witness_module
from sordino.ledger.ledger import Ledger
from sordino.ledger.store_sqlite import ROOM
from sordino.ledger.together import Wish
from sordino.serve.service import Service

ASKS = 40

Break = Callable[[Path, pytest.MonkeyPatch], None]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with opened(tmp_path) as found:
        found.run(ANALYST, "query", count("0.1"))
        yield found


def full_witness(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a disk have no block left: what is there can be written over, and nothing grows."""
    real = os.pwrite

    def pwrite(file: int, data: bytes, offset: int) -> int:
        if offset + len(data) > os.fstat(file).st_size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data, offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    monkeypatch.setattr(witness_module, "SPARE", 1 << 20)  # so that even the first charge asks for more room


def locked_witness(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "pwrite", refuse)
    monkeypatch.setattr(witness_module, "SPARE", 1 << 20)


def missing_witness(directory: Path, _: pytest.MonkeyPatch) -> None:
    (directory / "budget.db.witness").unlink()


def full_ledger(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=ROOM // 4096 - 1, f_frsize=4096))


def missing_source(directory: Path, _: pytest.MonkeyPatch) -> None:
    (directory / "trips.parquet").unlink()


WAYS: dict[str, tuple[Break, str]] = {
    "the witness' disk is full": (full_witness, "SRD-L063"),
    "the witness cannot be written": (locked_witness, "SRD-L063"),
    "the witness is gone": (missing_witness, "SRD-L063"),
    "the ledger's disk is full": (full_ledger, "SRD-L050"),
    "the source is gone": (missing_source, "SRD-R002"),
}


@pytest.mark.parametrize(("breaks", "code"), WAYS.values(), ids=WAYS)
def test_forty_refusals_cost_nothing(
    service: Service, tmp_path: Path, breaks: Break, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = service.ledger.stored_size
    with monkeypatch.context() as patch:
        breaks(tmp_path, patch)
        for _ in range(ASKS):
            with pytest.raises(SordinoError) as caught:
                service.run(ANALYST, "query", count("0.02"))
            assert caught.value.code == code
            assert "nothing was charged" in caught.value.message or code == "SRD-L063"
    assert service.ledger.stored_size == size


def test_it_goes_on_when_there_is_room_again(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        full_witness(tmp_path, patch)
        with pytest.raises(LedgerError, match=r"nothing was charged.*SRD-L063"):
            service.run(ANALYST, "query", count("0.02"))
    service.run(ANALYST, "query", count("0.02"))
    assert service.budget(OWNER, "trips")["used"] == pytest.approx(0.12)


def test_what_was_charged_is_settled_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        open_ones = [reserved(ledger) for _ in range(5)]
        with monkeypatch.context() as patch:
            full_witness(tmp_path, patch)
            full_ledger(tmp_path, patch)
            with pytest.raises(LedgerError):
                ledger.reserve(request())
            for each in open_ones:
                ledger.settle(each, b"answer")
        assert spent(ledger) * 10 == 5
        assert ledger.verify().sound


def test_who_is_refused_in_a_batch_takes_nobody_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        full_ledger(tmp_path, monkeypatch)
        session = ledger._session
        charging, other = Wish(lambda *_: (), charges=True), Wish(lambda *_: ())
        session._write([charging, other], lambda _: None)
        assert isinstance(charging.error, LedgerError)
        assert other.error is None


@pytest.mark.postgres
def test_a_database_that_is_gone_is_found_before_the_charge(tmp_path: Path) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="sordino-") as directory,  # the server may not enter tmp_path
        postgres_server(Path(directory)) as url,
        psycopg.connect(url, autocommit=True) as owner,
    ):
        owner.execute("CREATE TABLE visits (who integer)")
        owner.execute("INSERT INTO visits SELECT generate_series(1, 50)")
        visits = so.dataset("visits", url, unit="who", limits=so.limits(rows=1))
        with so.open(tmp_path / "b.db") as house:
            account = house.account(visits, so.budget(epsilon=1))
            account.sql("SELECT COUNT(*) FROM visits").run(epsilon="0.1")
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            for _ in range(ASKS):
                with pytest.raises(SourceError, match="SRD-R002"):
                    account.sql("SELECT COUNT(*) FROM visits").run(epsilon="0.02")
            assert len(account.history) == 1


def test_a_duckdb_file_that_is_gone_is_found_before_the_charge(tmp_path: Path) -> None:
    pq.write_table(pa.table({"who": list(range(50))}), tmp_path / "visits.parquet")
    visits = so.dataset("visits", tmp_path / "visits.parquet", unit="who", limits=so.limits(rows=1))
    account = so.account(visits, so.budget(epsilon=1))
    os.rename(tmp_path / "visits.parquet", tmp_path / "elsewhere")
    with pytest.raises(SourceError, match="SRD-R002"):
        account.sql("SELECT COUNT(*) FROM visits").run(epsilon="0.1")
    assert account.history == ()
    os.rename(tmp_path / "elsewhere", tmp_path / "visits.parquet")
    account.sql("SELECT COUNT(*) FROM visits").run(epsilon="0.1")

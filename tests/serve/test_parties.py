"""Surveys with somebody else in between, each party a process of its own: a shuffler, and two servers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser

from collect.surveys import files_of
from serve.browsers import served
from serve.commanding import Commands
from serve.places import OWNER, opened, settings_at
from serve.replicas import Replica
from serve.test_browser_survey import _answers
from servers import needs
from sordino.collect import participant
from sordino.collect.device import Device
from sordino.collect.sealing import PartyKey
from sordino.errors import ArgumentError, SourceError
from sordino.serve.service import Service
from sordino.serve.surveys import owners
from sordino.serve.surveys.declared import own_key

pytestmark = pytest.mark.service

ASKED = "name: pets\nsort: survey\nunit: participant\nquestion: Which pet?\nvalues: [cat, dog, none]\nepsilon: 2\n"
BATCH = 12


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def shuffling(directory: Path, survey: str, port: int) -> Iterator[str]:
    """Run ``sordino shuffle`` as a process until the block ends; yield its address."""
    needs("service")
    words = ["shuffle", "-C", str(directory), "--survey", survey, "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "sordino", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ),
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1200):
            assert process.poll() is None, process.communicate()[0]
            try:
                httpx.get(address)
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        said = process.communicate(timeout=60)[0].decode()
    assert "127.0.0.1:0" not in said
    assert "POST" not in said  # no line for a report


def shuffled(service: Service, url: str, key: str) -> None:
    words = f"days: 1\ntrust: shuffled\nbatch: {BATCH}\ndelta: 0.01\nshuffler: {{url: '{url}', key: {key}}}\n"
    owners.define(service, OWNER, ASKED + words)
    owners.begin(service, OWNER, "pets")


def until(true: Any) -> None:
    for _ in range(1200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("nothing came of it within a minute")


def test_a_shuffler_takes_mixes_forwards_and_forgets(tmp_path: Path) -> None:
    place, port = tmp_path / "shuffler", free_port()
    key = PartyKey.at(place / "shuffler.key")
    (tmp_path / "analyser").mkdir()
    with opened(tmp_path / "analyser") as service, served(service) as address:
        shuffled(service, f"http://127.0.0.1:{port}", key.text)
        page = f"{address}/s/pets"
        poll = participant.asked_at(page)
        assert "mixes the reports" in str(poll.price(None))
        devices = [Device(tmp_path / f"{each}.json") for each in range(BATCH)]
        reports = [device.report(poll, "dog" if each % 2 else "cat") for each, device in enumerate(devices)]
        with pytest.raises(SourceError, match="SRD-C715"):
            participant.send(reports[0], page)  # the shuffler is not there yet; the analyser gets nothing instead
        straight = httpx.post(f"{address}/api/v1/surveys/pets/reports", content=reports[0].to_bytes())
        assert (straight.status_code, straight.json()["error"]["code"]) == (422, "SRD-C713")
        with shuffling(place, page, port) as to:
            assert httpx.get(to).json() == {
                "key": key.text,
                "survey": "pets",
                "digest": poll.digest.hex(),
                "state": "open",
            }
            for report in reports[:-1]:
                participant.send(report, page)
            assert "has not sent the batch" in owners.show(service, OWNER, "pets")["waits"]
            assert httpx.post(f"{to}/reports", content=b"x" * 100).json()["error"]["code"] == "SRD-C702"
            assert httpx.post(f"{to}/reports", content=bytes(2 << 20)).status_code == 413
            assert httpx.get(f"{to}/other").status_code == 404
        with shuffling(place, page, port) as to:  # what waits survives a restart
            participant.send(reports[-1], page)
            until(lambda: httpx.get(to).json()["state"] == "sent")
            assert httpx.post(f"{to}/reports", content=b"x").status_code == 422
        assert not any(report.id in files_of(place) for report in reports)
        assert {each.name for each in (place / poll.digest.hex()).iterdir()} == {"lock", "closed", "sent"}
        assert "close the round" in owners.show(service, OWNER, "pets")["waits"]
        forged = httpx.post(f"{address}/api/v1/surveys/pets/batch", content=bytes(500))
        assert (forged.status_code, forged.json()["error"]["code"]) == (422, "SRD-C718")
        closed = owners.close(service, OWNER, "pets")
        assert closed["estimate"]["reports"] == BATCH
        assert owners.show(service, OWNER, "pets") == closed
        assert service.verify(OWNER)["sound"]


def test_a_round_without_a_batch_is_closed_empty_and_stays_charged(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        shuffled(service, "https://shuffler.example.org", PartyKey.fresh().text)
        assert owners.close(service, OWNER, "pets")["estimate"] is None
        assert service.budget(OWNER, "pets")["used"] == 1


def test_whoever_has_the_service_s_files_is_no_shuffler(tmp_path: Path) -> None:
    (tmp_path / "sordino.yaml").write_text("database: budget.db\n")
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "sordino", "shuffle", "-C", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "SRD-C718" in ran.stderr
    with opened(tmp_path) as service, pytest.raises(ArgumentError, match="SRD-C714"):
        shuffled(service, "https://shuffler.example.org", own_key(tmp_path).text)


def together(tmp_path: Path, addresses: list[str], **words: Any) -> list[Service]:
    """Define the same survey in two services, and open its round in both."""
    places = [tmp_path / "one", tmp_path / "two"]
    keys = [own_key(each).text for each in places]
    servers = "".join(f"  - {{url: '{url}', key: {key}}}\n" for url, key in zip(addresses, keys, strict=True))
    text = (
        ASKED + f"days: 1\ntrust: two-servers\nservers:\n{servers}" + "".join(f"{a}: {b}\n" for a, b in words.items())
    )
    found = [Service.open(settings_at(each)) for each in places]
    for service in found:
        owners.define(service, OWNER, text)
        assert service.budget(OWNER, "pets")["budget"] == "ε = 2"
        owners.begin(service, OWNER, "pets")
    return found


def test_two_services_collect_what_neither_can_read(tmp_path: Path, browser: Browser) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        opened(tmp_path / name).close()
    replicas = [Replica(settings_at(tmp_path / name), name) for name in ("one", "two")]
    services: list[Service] = []
    try:
        for each in replicas:
            each.wait()
        one, two = (each.address for each in replicas)
        services = together(tmp_path, [one, two])
        poll = participant.asked_at(f"{two}/s/pets")  # the same survey, whichever server is asked
        assert poll.digest == participant.asked_at(f"{one}/s/pets").digest
        for each in range(6):
            report = Device(tmp_path / f"{each}.json").report(poll, "dog")
            participant.send(report, f"{one}/s/pets")
            participant.send(report, f"{two}/s/pets")  # it goes to the one that takes reports, and counts once
        _answers(browser, one, "cat")
        assert one in httpx.get(f"{two}/s/pets").text
        refused = httpx.post(f"{two}/api/v1/surveys/pets/reports", content=report.to_bytes())
        assert refused.json()["error"]["code"] == "SRD-C713"
        forged = httpx.post(f"{two}/api/v1/surveys/pets/servers", content=b"check\n" + bytes(64))
        assert (forged.status_code, forged.json()["error"]["code"]) == (503, "SRD-C719")
        with pytest.raises(ArgumentError, match="SRD-C713"):
            owners.close(services[1], OWNER, "pets")  # the leader has not collected
        replicas[1].kill()
        with pytest.raises(SourceError, match="SRD-C715"):
            owners.close(services[0], OWNER, "pets")
        assert owners.show(services[0], OWNER, "pets")["state"] == "open"
        replicas[1] = Replica(settings_at(tmp_path / "two"), "two", port=int(two.rpartition(":")[2]))
        replicas[1].wait()
        closed = owners.close(services[0], OWNER, "pets")
        assert closed["estimate"]["reports"] == 7
        truth = {"cat": 1, "dog": 6, "none": 0}
        for row in closed["estimate"]["values"]:
            assert abs(row["estimate"] - truth[row["value"]]) < 60  # e^(−60)
            assert row["low"] < row["estimate"] < row["high"]
        assert owners.show(services[0], OWNER, "pets") == closed
        told = httpx.post(f"{two}/api/v1/surveys/pets/servers", content=b"sum\n" + bytes(64))
        assert told.json()["error"]["code"] == "SRD-C719"
        ended = owners.close(services[1], OWNER, "pets")
        assert (ended["state"], ended["estimate"]) == ("closed", None)
        for service in services:
            assert service.verify(OWNER)["sound"]
            assert service.budget(OWNER, "pets")["used"] == 1
    finally:
        for service in services:
            service.close()
        for each in replicas:
            each.kill()


def test_commands_of_parties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = Commands(tmp_path, monkeypatch)
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "sordino.yaml").write_text("database: budget.db\ndata: .\n")
    key = commands("survey", "key", "-C", tmp_path / "service").strip()
    assert key == own_key(tmp_path / "service").text == commands("survey", "key", "-C", tmp_path / "service").strip()
    other = commands("shuffle", "-C", tmp_path / "shuffler").split()[1]
    assert other == PartyKey.at(tmp_path / "shuffler" / "shuffler.key").text
    words = f"trust: shuffled\nbatch: 50\ndelta: 0.001\nshuffler: {{url: 'https://s.example.org', key: {other}}}\n"
    text = ASKED + words
    (tmp_path / "pets.yaml").write_text(text)
    said = commands("survey", "new", tmp_path / "pets.yaml", "-C", tmp_path / "service")
    assert "s.example.org mixes the reports" in " ".join(said.split())
    commands("survey", "open", "pets", "--yes", "-C", tmp_path / "service")
    assert "has not sent the batch" in commands("survey", "show", "pets", "-C", tmp_path / "service")
    for wrong in (text.replace(other, "x"), text.replace("https", "ftp"), text + "intake: codes\n"):
        with Service.open(settings_at(tmp_path / "service")) as service, pytest.raises(ArgumentError):
            owners.define(service, OWNER, wrong.replace("pets", "other"))

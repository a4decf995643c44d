"""Trainings in a service: what is refused before any charge, who sees what, policies, pages, commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.digits import ANN, BOB, DECLARATIONS, RECIPE, opened
from serve.places import OWNER
from serve.visits import Visit
from sordino.accounting.budget import Budget
from sordino.accounting.events import Composed
from sordino.errors import ArgumentError, SordinoError
from sordino.learn.run.models import MOST_PARAMETERS, written
from sordino.serve.app import create_app
from sordino.serve.asking.price_processes import PriceProcesses
from sordino.serve.kinds.table import Kinds
from sordino.serve.refusals import UnknownError
from sordino.serve.service import Service
from sordino.serve.trainings.costs import Costs
from sordino.serve.trainings.declared import read
from sordino.serve.trainings.recipe import Recipe
from sordino.serve.trainings.stored import opened as open_examples


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service in which nothing may be charged."""
    with opened(tmp_path_factory.mktemp("digits")) as found:
        yield found
        assert found.checkpoint(OWNER)["size"] == 1


def changed(**words: Any) -> dict[str, Any]:
    given = {**RECIPE, **words}
    return {name: value for name, value in given.items() if value is not None}


WRONG = [
    changed(batch=10**9),
    changed(batch=301),
    changed(batch=0),
    changed(batch="30"),
    changed(steps=10**12),
    changed(steps=None, epochs="1e8"),
    changed(steps=None),
    changed(epochs=1),
    changed(clip=0),
    changed(clip="nan"),
    changed(epsilon=-1),
    changed(rho=1),
    changed(epsilon=None),
    changed(delta="0.1"),
    changed(model="transformer"),
    changed(model="os:system"),
    changed(model={"kind": "mlp", "hidden": [10**9]}),
    changed(model={"kind": "mlp", "hidden": [100_000, 100_000]}),
    changed(model={"kind": "mlp", "hidden": [8] * 1000}),
    changed(model={"kind": "mlp", "code": "import os"}),
    changed(model={"kind": "cnn"}),
    changed(model=[1]),
    changed(model={}),
    changed(loss="squared"),
    changed(loss="eval"),
    changed(sampling="shuffle"),
    changed(sampling="fixed-size"),
    changed(clipping="none"),
    changed(clipping={"quantile": 2}),
    changed(clipping={"kind": "adaptive"}),
    changed(clipping={"quantile": "0.5", "noise": "0.001"}),
    changed(clipping="adaptive", correlation={"bands": 2}),
    changed(correlation="tree"),
    changed(correlation={"bands": 0}),
    changed(correlation={"bands": 21, "noise": 1}),
    changed(correlation={"bands": 21}),
    changed(correlation={"coefficients": [1, 2]}),
    changed(correlation={"coefficients": "1"}),
    changed(correlation={"bands": 2}, sampling="one-pass"),
    changed(correlation="banded", epsilon=None, noise=1),
    changed(pay="later"),
    changed(pay="whole"),
    changed(pay="whole", tranche=None, epsilon=None, rho="0.1"),
    changed(pay="whole", tranche=None, delta="0.1"),
    changed(per_owner=0),
    changed(bfloat16="yes"),
    changed(optimizer="lbfgs"),
    changed(rate=-1),
    changed(momentum=2),
    changed(tranche=0),
    changed(tranche=1, steps=1_000_000),
    changed(surprise=1),
    changed(dataset=None),
    changed(dataset="other"),
]


@pytest.mark.parametrize("recipe", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_with_a_recipe_is_refused_before_anything_is_built(
    quiet: Service, recipe: dict[str, Any]
) -> None:
    for ask in (quiet.price, quiet.run):
        with pytest.raises(SordinoError) as refused:
            ask(ANN, "training", recipe)
        assert refused.value.code.startswith("SRD-")
    assert quiet.jobs.jobs(OWNER) == []


def test_over_http_no_code_and_no_unknown_word_comes_in(quiet: Service) -> None:
    with TestClient(create_app(quiet)) as client:
        token = quiet.issue_token(OWNER, "ann", "analyst", ["digits"])
        headers = {"Authorization": f"Bearer {token}"}
        for recipe in (changed(model="my.module:build"), changed(fit="x"), changed(model={"kind": "mlp", "fit": 1})):
            for verb in ("price", "run"):
                refused = client.post(f"/api/v1/training/{verb}", json=recipe, headers=headers)
                assert refused.status_code in (400, 422)
        assert client.post("/api/v1/training/price", json=RECIPE, headers=headers).json()["fits"]
        assert client.post("/api/v1/training/price", json=RECIPE).status_code == 401


def test_a_price_needs_no_data_and_no_model_library(quiet: Service, tmp_path: Path) -> None:
    priced = quiet.price(ANN, "training", RECIPE)
    assert (priced["steps"], priced["tranche"], priced["measure"], priced["within"]) == (20, 5, "epsilon", 2)
    assert [step for step, _ in priced["by_tranche"]] == [5, 10, 15, 20]
    spent = [each for _, each in priced["by_tranche"]]
    assert spent == sorted(spent)
    assert spent[-1] == priced["spent"] <= 2
    quiet.house.price_processes = PriceProcesses(1)
    try:
        assert quiet.price(ANN, "training", RECIPE) == priced
    finally:
        quiet.house.price_processes.close()
        quiet.house.price_processes = None
    code = (
        "import sys; from serve.digits import *; from pathlib import Path; from sordino.serve.app import create_app\n"
        f"service = opened(Path({str(tmp_path)!r})); create_app(service); service.price(ANN, 'training', RECIPE)\n"
        "service.close(); assert 'torch' not in sys.modules"
    )
    tests = str(Path(__file__).parents[1])
    source = str(Path(sys.modules["sordino"].__file__ or "").parents[1])
    environ = {"PYTHONPATH": f"{source}:{tests}", "PATH": ""}
    subprocess.run([sys.executable, "-c", code], check=True, env=environ, timeout=120)  # noqa: S603


QUOTED = {
    "poisson": RECIPE,
    "whole epochs": changed(sampling="one-pass", tranche=10),
    "part of an epoch": changed(sampling="one-pass", tranche=None, steps=3),
    "noise": changed(epsilon=None, noise="1.25"),
    "banded": changed(correlation="banded", tranche=None),
    "separated": changed(sampling="separated", correlation={"bands": 4}, tranche=None),
    "cut": changed(correlation={"coefficients": [4, 2, 1]}, tranche=6),
    "adapting": changed(clipping={"quantile": "0.6"}),
    "whole": changed(pay="whole", tranche=None),
    "whole and banded": changed(pay="whole", tranche=None, correlation="banded", delta="1e-6"),
}


@pytest.mark.parametrize("words", QUOTED.values(), ids=QUOTED)
def test_a_quote_is_at_least_what_is_charged_and_close_to_it(words: dict[str, Any]) -> None:
    from sordino.accounting.account import Account
    from sordino.data.account import DataAccount
    from sordino.learn.run.examples import examples
    from sordino.serve.trainings.worked import _prepared

    budget = Budget(epsilon=5, delta=Fraction(1, 10**5))
    digits = examples("digits", np.zeros((3, 6), "f4"), np.zeros(3, int), size=300, classes=3)
    account = DataAccount(digits, Account(budget))
    declared = read(_parsed(DECLARATIONS), Path()).opened((6,))
    costs = Costs.of(Recipe.read(words), declared, budget)
    training, *_ = _prepared(account, Recipe.read(words), costs, None)
    assert training.recipe.parameters == costs.model.parameters
    charged, quoted = training.price(), account.account.price(costs.event())
    assert Fraction("0.999") * quoted.part <= charged.part <= quoted.part
    tranches = Composed(tuple(plan.event() for plan in training.recipe.tranches()))
    assert account.account.price(tranches).part <= quoted.part


def _parsed(text: str) -> Any:
    from sordino.data.strict_yaml import parse

    return parse(text, "here")


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        ("linear", (6,)),
        ({"kind": "mlp", "hidden": []}, (2, 3)),
        ({"kind": "mlp", "hidden": [7, 5], "activation": "relu"}, (6,)),
        ({"kind": "cnn", "channels": [3, 4], "kernel": 3, "hidden": [5]}, (8, 9)),
        ({"kind": "cnn", "channels": [3], "hidden": []}, (2, 8, 8)),
    ],
)
def test_a_model_has_as_many_parameters_as_it_is_written_down_with(model: Any, shape: tuple[int, ...]) -> None:
    import torch

    from sordino.learn.descent.from_recipe import model_of

    found = written(model, shape, 3)
    built = model_of(found)
    assert sum(each.numel() for each in built.parameters()) == found.parameters
    assert built(torch.zeros(2, *shape)).shape == (2, 3)
    assert written(dict(found.plain), shape, 3) == found


def test_the_largest_model_is_refused_by_its_numbers_alone() -> None:
    widest = {"kind": "mlp", "hidden": [1_000_000] * 16}
    with pytest.raises(ArgumentError, match="parameters"):
        written(widest, (1_000_000,), 10)
    assert written({"kind": "mlp", "hidden": [1000]}, (1000,), 10).parameters < MOST_PARAMETERS


def test_the_policy_judges_the_whole_however_it_is_cut(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        part = service.price(ANN, "training", RECIPE)["part"]
        service.set_policy(OWNER, "digits", {"approval": part / 2})
        with pytest.raises(SordinoError) as refused:
            service.run(ANN, "training", changed(tranche=1))
        assert (refused.value.code, service.checkpoint(OWNER)["size"]) == ("SRD-B005", 1)
        (wish,) = service.approvals(ANN)
        service.decide(OWNER, wish["id"], True)
        assert service.run(ANN, "training", changed(tranche=1, project=None))["answer"]["first step"] == 19
        service.set_policy(OWNER, "digits", {"approval": None, "most": part / 2})
        with pytest.raises(SordinoError) as refused:
            service.run(ANN, "training", changed(tranche=2))
        assert refused.value.code == "SRD-B004"


def test_what_does_not_fit_as_a_whole_is_not_begun(tmp_path: Path) -> None:
    with opened(tmp_path, epsilon="1") as service:
        with pytest.raises(SordinoError) as refused:
            service.run(ANN, "training", RECIPE)
        assert (refused.value.code, service.checkpoint(OWNER)["size"]) == ("SRD-B001", 1)
        assert service.jobs.jobs(ANN)[0]["stage"] == "failed"


def test_who_sees_a_training_and_what_its_pages_show(tmp_path: Path) -> None:
    with opened(tmp_path) as service, TestClient(create_app(service)) as client:
        released = service.run(ANN, "training", RECIPE, "once")
        assert service.run(ANN, "training", RECIPE, "once")["id"] == released["id"]
        (job,) = service.jobs.jobs(ANN)
        call = Caller(service, client)
        call.tokens["bob"] = service.issue_token(OWNER, "bob", "analyst", ["digits"])
        call.tokens["ann"] = service.issue_token(OWNER, "ann", "analyst", ["digits"])
        for path in ("", "/files/weights.npz"):
            assert call("bob", "GET", f"/jobs/{job['id']}{path}").status_code == 404
            assert call("ann", "GET", f"/jobs/{job['id']}{path}").status_code == 200
        for name in ("checkpoint.npz", "tranche.json", "..%2Fweights.npz", "%2e%2e"):
            assert call("ann", "GET", f"/jobs/{job['id']}/files/{name}").status_code == 404
        with pytest.raises(UnknownError):
            service.jobs.file(BOB, job["id"], "weights.npz")
        _look_at_pages(service, client, call, job, released["id"])


def _look_at_pages(service: Service, client: TestClient, call: Caller, job: dict[str, Any], release: str) -> None:
    pages = (f"/trainings/{job['id']}", f"/jobs/{job['id']}", f"/releases/{release}", "/datasets/digits", "/jobs", "/")
    for role in ("ann", "owner"):
        visit = Visit(service, client, call.tokens[role])
        for path in (*pages, "/trainings/new?dataset=digits", "/releases", "/transparency/digits"):
            seen = visit.see(path)
            assert seen.status_code == 200, path
            assert 'loss"' not in seen.text
            assert "59183" not in seen.text
    bob = Visit(service, client, call.tokens["bob"])
    assert [bob.see(path).status_code for path in pages[:3]] == [404, 404, 404]
    ann = Visit(service, client, call.tokens["ann"])
    assert "20 of 20" in ann.see(pages[0]).text
    assert "Train a model" in ann.see("/datasets/digits").text
    priced = ann.fill("/trainings/price", recipe=json.dumps(RECIPE))
    assert (priced.status_code, "Train it" in priced.text) == (200, True)
    refused = ann.fill("/trainings/price", recipe=json.dumps(changed(clip=0)))
    assert (refused.status_code, "Nothing was charged" in refused.text) == (422, True)
    assert ann.fill("/trainings/price", recipe="[1]").status_code == 422
    begun = ann.fill("/trainings/run", recipe=json.dumps(changed(epsilon="0.5")), key="form")
    assert begun.status_code == 303
    again = ann.fill("/trainings/run", recipe=json.dumps(changed(epsilon="0.5")), key="form")
    assert again.headers["location"] == begun.headers["location"]
    assert ann.see(begun.headers["location"]).status_code == 200


def test_the_same_key_with_another_recipe_is_a_conflict(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.run(ANN, "training", changed(steps=5), "key")
        with pytest.raises(SordinoError) as refused:
            service.run(ANN, "training", changed(steps=6), "key")
        assert refused.value.code == "SRD-L030"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size: 300", "size: 0"),
        ("classes: 3", "classes: 1"),
        ("features: x", "features: z"),
        ("features: x", "features: []"),
        ("features: x", "features: true"),
        ("label: y", "label: {a: 1}"),
        ("label: y", ""),
        ("file: digits.npz", "file: ../digits.npz"),
        ("file: digits.npz", "file: digits.pkl"),
        ("file: digits.npz", "file: none.npz"),
        ("unit: row", "unit: patient"),
        ("label: y", "label: y\nowner: y"),
        ("label: y", "label: y\nscale: [1, 0]"),
        ("label: y", "label: y\nshape: [7]"),
        ("label: y", "label: y\nshape: [1000000, 1000000]"),
        ("label: y", "label: y\nsurprise: 1"),
    ],
)
def test_what_is_wrong_with_declarations_is_refused(quiet: Service, old: str, new: str) -> None:
    with pytest.raises(SordinoError) as refused:
        quiet.register(OWNER, DECLARATIONS.replace(old, new))
    assert "59183" not in refused.value.message
    assert quiet.dataset(OWNER, "digits")["version"] == 1


def test_examples_are_read_from_every_format_alike(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = {"a": [0.0, 5.0, None, 20.0], "b": [1, 2, 3, 4], "y": [0, 1, 7, 1], "who": ["p", "p", "q", None]}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    lines = ["a,b,y,who", "0,1,0,p", "5,2,1,p", "text,3,7,q", "20,4,1,"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    matrix = np.array([[0, 1, 0, 1], [5, 2, 1, 1], [np.nan, 3, 7, 2], [20, 4, 1, np.nan]])
    np.save(tmp_path / "t.npy", matrix)
    np.savez(tmp_path / "t.npz", x=matrix[:, :2], y=matrix[:, 2], who=matrix[:, 3])
    named = {"features": ["a", "b"], "label": "y", "owner": "who"}
    places: dict[str, dict[str, Any]] = {
        "t.parquet": named,
        "t.csv": named,
        "t.npy": {"features": [0, 1], "label": 2, "owner": 3},
        "t.npz": {"features": "x", "label": "y", "owner": "who"},
    }
    for file, where in places.items():
        plain = {"name": "t", "sort": "examples", "unit": "p", "size": 9, "classes": 2, "file": file, "scale": [0, 10]}
        found = open_examples(read({**plain, **where}, tmp_path))
        assert [each.shape for each in found.like] == [(2,), ()]
        people = found.people()
        (features, labels), owner = people.take(np.arange(len(people)))
        assert len(people) == 2  # whoever has no owner is nobody's
        np.testing.assert_allclose(features, [[0, 0.1], [0.5, 0.2], [np.nan, 0.3]], rtol=1e-6)
        assert labels.tolist() == [0, 1, -1]
        assert owner.tolist() == [0, 0, 1]


def test_the_house_offers_trainings_and_examples() -> None:
    kinds = Kinds.load(())
    assert (kinds["training"].apart, kinds["training"].about) == (True, ("examples",))
    assert kinds.sort_origins["examples"] == "sordino.serve.trainings.kind:TRAINING"

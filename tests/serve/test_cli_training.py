"""``sordino train``, ``sordino learn price`` and ``sordino job fetch`` in a directory of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from serve.commanding import Commands, commands_in
from serve.digits import DECLARATIONS, RECIPE, write_digits
from sordino.serve.trainings.worked import weights_name


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    found = commands_in(tmp_path, monkeypatch)
    write_digits(tmp_path)
    (tmp_path / "sordino.yaml").write_text("database: budget.db\ndata: .\nheartbeat_seconds: 1\n")
    (tmp_path / "digits.yaml").write_text(DECLARATIONS)
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(RECIPE))
    found("declare", "digits.yaml", "--epsilon", "5", "--delta", "1e-5")
    return found


def test_a_recipe_is_priced_trained_and_its_weights_are_fetched(command: Commands, tmp_path: Path) -> None:
    told = command("train", "recipe.yaml", "--dry-run")
    assert "20 steps of 30 on average, charged in 4 tranches" in told
    assert "within ε = 2 at δ = 1e-05" in told
    assert "within ε = 1 at" in command("train", "recipe.yaml", "--dry-run", "--epsilon", "1", "--batch", "60")
    assert command.json("train", "recipe.yaml", "--dry-run", "--noise", "3")["noise_multiplier"] == 3
    trained = command.json("train", "recipe.yaml", "--receipt", "receipt.json", "--key", "once")
    (job,) = command.json("jobs")["jobs"]
    command("job", "fetch", job["id"], "weights.npz")
    with np.load(tmp_path / "weights.npz") as weights:
        assert weights_name(dict(weights)) == trained["answer"]["weights"]
    key = (tmp_path / "budget.db.key.pub").read_text() if (tmp_path / "budget.db.key.pub").exists() else None
    assert key is None or "holds" in command("receipt", "verify", "receipt.json", "--key", key.strip())
    assert command.json("train", "recipe.yaml", "--key", "once")["id"] == trained["id"]
    assert json.loads((tmp_path / "receipt.json").read_text())["reserved"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told", "charged"),
    [
        ({"pay": "whole", "clipping": {"quantile": "0.6"}}, "20 steps of 30 on average, charged whole", "whole"),
        ({"correlation": {"bands": 4}, "sampling": "separated"}, "correlated over 4 steps", "tranches"),
    ],
    ids=["whole", "correlated"],
)
def test_other_ways_to_train_are_priced_and_trained(
    command: Commands, tmp_path: Path, words: dict[str, Any], told: str, charged: str
) -> None:
    recipe = {name: value for name, value in RECIPE.items() if name != "tranche"}
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(recipe | words))
    assert told in command("train", "other.yaml", "--dry-run")
    priced = command.json("train", "other.yaml", "--dry-run")
    trained = command.json("train", "other.yaml")["answer"]
    assert (trained["paid"], trained["steps run"]) == (charged, 20)
    assert trained["noise multiplier"] == priced["noise_multiplier"]
    (job,) = command.json("jobs")["jobs"]
    assert job["progress"]["epsilon"] == pytest.approx(priced["spent"], rel=1e-3)


def test_what_is_wrong_is_refused_with_the_remedy(command: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in (
        (("train", "none.yaml"), "SRD-A004"),
        (("train", "recipe.yaml", "--batch", "many"), "SRD-A001"),
        (("train", "recipe.yaml", "--batch", "301"), "SRD-A002"),
        (("train", "recipe.yaml", "--clip", "0"), "SRD-A002"),
        (("learn", "price", "--noise", "1", "--batch", "5", "--steps", "1"), "SRD-A003"),
        (("job", "fetch", "nothing", "weights.npz"), "SRD-S004"),
    ):
        assert code in command.refused(capsys, *words), words


def test_a_price_by_numbers_alone(command: Commands) -> None:
    words = ("learn", "price", "--batch", "512", "--size", "60000", "--epochs", "15")
    by_noise = command.json(*words, "--noise", "1.118")
    by_epsilon = command.json(*words, "--epsilon", "2")
    assert by_epsilon["noise_multiplier"] == pytest.approx(1.118, abs=1e-3)
    assert by_noise["within"] == pytest.approx(2, rel=0.1)
    assert by_noise["spent"] == pytest.approx(by_epsilon["spent"], rel=1e-2)
    assert by_noise["spent"] <= by_noise["within"]
    assert command.json(*words, "--rho", "0.1")["measure"] == "rho"
    assert command.json("learn", "price", "recipe.yaml", "--size", "300")["steps"] == 20

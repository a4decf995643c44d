"""What a training leaves behind: a few kB in the ledger, and nothing of pixels, losses or owners anywhere."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sordino as so
from sordino.errors import RunError
from sordino.learn import Training, banded, train
from sordino.learn.run.examples import Examples, examples

MOST_OF_A_TRANCHE = 10_000
FEW, MANY = 4, 12

PIXEL, LOSS, OWNER = 0.73129451, 48271.390625, "quasar-owner-5512"
SIDE = 3


def traces(number: float) -> list[bytes]:
    """Return how a number may look in a file: as text, or as bytes of either precision."""
    short = float(np.float32(number))
    texts = {f"{number!r}", f"{short!r}", f"{number:.5f}"[:-1], str(np.float32(number))}
    return [struct.pack("<d", number), struct.pack("<d", short), *(text.encode() for text in texts)]


SECRETS = [*traces(PIXEL), 2 * struct.pack("<f", PIXEL), *traces(LOSS), struct.pack("<f", LOSS), OWNER.encode()]


def images(count: int = 60, *, owned: bool = False, shown: Any = None) -> Examples:
    pixels = np.full((count, SIDE, SIDE), PIXEL, dtype=np.float32)
    labels = np.arange(count) % 2
    words: dict[str, Any] = {"unit": "user", "owners": [f"{OWNER}-{n // 3}" for n in range(count)]} if owned else {}
    if shown is not None:
        return examples("images", shown, size=count, like=(pixels[0], 0), classes=2)
    return examples("images", pixels, labels, size=count // 3 if owned else count, classes=2, **words)


def loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """A loss that is never anything but a number that is looked for; its slope is that of the cross-entropy."""
    found = nn.functional.cross_entropy(outputs, targets, reduction="none")
    return found - found.detach() + LOSS


def net() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, 4), nn.Tanh(), nn.Linear(4, 2))


@contextmanager
def every_record(into: list[str]) -> Iterator[None]:
    """Hear every logger at every level."""
    root, handler = logging.getLogger(), logging.Handler()
    handler.emit = lambda record: into.append(f"{record.getMessage()} {record.args!r} {record.exc_text}")  # type: ignore[method-assign]
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def found_in(folder: Path, said: list[str]) -> list[str]:
    """Return where a secret was found: among what was said, or in a file."""
    places = [f"said: {text[:80]}" for text in said if any(each in text.encode() for each in SECRETS)]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    return places + [path.name for path in files if any(each in path.read_bytes() for each in SECRETS)]


WAYS: dict[str, dict[str, Any]] = {
    "in tranches": {},
    "whole": {"pay": "whole"},
    "adaptive": {"clipping": "adaptive"},
    "correlated": {"sampling": "separated", "correlation": banded(3)},
    "users": {"owned": True, "batch": 5},
}


@pytest.mark.parametrize("way", WAYS)
def test_canaries_are_found_in_no_file_log_receipt_or_print(
    way: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words: dict[str, Any] = {"batch": 15, "steps": 8, "clip": 1, "epsilon": 3, **WAYS[way]}
    given, said, path = images(owned=words.pop("owned", False)), list[str](), tmp_path / "run.npz"
    with every_record(said), so.open(tmp_path / "budget.db") as house:
        account = house.account(given, so.budget(epsilon=4, delta="1e-5"))
        told = said.append
        run = train(net(), loss, given, budget=account, checkpoint=path, tell=lambda *at: told(str(at)), **words)
        score = run.score(given, epsilon="0.5")
        said += [repr(given), repr(run), str(score), score.to_json(), run.receipt.to_json(), repr(run.recipe)]
        said += [each.to_json() for each in run.settled]
        said += [repr(entry) for entry in house.ledger.entries()]
        said += [*capfd.readouterr()]
        assert found_in(tmp_path, said) == []  # while it is open: the database's own log counts as well
    assert path.exists()
    assert found_in(tmp_path, said) == []


class Telling(nn.Module):
    """A model that does not like what it sees, and says so."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = net()

    def forward(self, pixels: Tensor) -> Tensor:
        seen = float(pixels.flatten()[0])
        if abs(seen - PIXEL) < 1e-6:
            raise ValueError(f"cannot look at {seen!r} of {OWNER}")
        found: Tensor = self.inner(pixels)
        return found


class Shy:
    """Items that fail when they are read, with words that must not leave."""

    def __len__(self) -> int:
        return 60

    def __getitem__(self, place: int) -> Any:
        raise ValueError(f"{PIXEL!r} of {OWNER}")


def run_once(model: nn.Module, given: Examples, words: dict[str, Any], *, own_loop: bool) -> None:
    if not own_loop:
        train(model, loss, given, **words)
        return
    with Training(model, loss, given, **words) as steps:
        for step in steps:
            step.gradient()


@pytest.mark.parametrize(
    ("model", "given"), [(Telling, images), (net, lambda: images(shown=Shy()))], ids=["the model", "the data"]
)
@pytest.mark.parametrize("own_loop", [False, True])
def test_canaries_are_in_no_error(
    model: Callable[[], nn.Module],
    given: Callable[[], Examples],
    own_loop: bool,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shown, said, words = given(), list[str](), {"batch": 60, "steps": 4, "clip": 1, "epsilon": 3}
    with every_record(said), so.open(tmp_path / "budget.db") as house:
        words |= {"budget": house.account(shown, so.budget(epsilon=4, delta="1e-5")), "checkpoint": tmp_path / "r.npz"}
        with pytest.raises(RunError) as error:
            run_once(model(), shown, words, own_loop=own_loop)
        said += [str(error.value), repr(error.value), repr(error.value.__cause__), repr(error.value.__context__)]
        said += [repr(entry) for entry in house.ledger.entries()]
        assert len(list(words["budget"].history)) == 1  # the charge stands
    assert found_in(tmp_path, [*said, *capfd.readouterr()]) == []


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    given, said = images(), list[str]()

    class Keeps(nn.Module):
        def state_dict(self, *_: Any, **__: Any) -> Any:  # what a careless user keeps beside the model
            return {"seen": torch.full((4,), PIXEL)}

    with so.open(tmp_path / "budget.db") as house:
        account = house.account(given, so.budget(epsilon=4, delta="1e-5"))
        words: dict[str, Any] = {"batch": 15, "steps": 4, "clip": 1, "epsilon": 3, "checkpoint": tmp_path / "run.npz"}
        with Training(net(), loss, given, budget=account, kept=[Keeps()], **words) as steps:
            for step in steps:
                step.gradient()
    assert found_in(tmp_path, said) == ["run.npz"]
    for each in (f"{LOSS}", f"a pixel of {PIXEL}", f"{np.float32(PIXEL)}", OWNER):
        said.append(each)
    assert len(found_in(tmp_path, said)) == 5


def grown(folder: Path, model: nn.Module, tranches: int) -> int:
    """Return how many bytes all files of a ledger take after a training of so many tranches."""
    folder.mkdir()
    dice = np.random.default_rng(1)
    given = examples("images", dice.random((40, 100)).astype(np.float32), dice.integers(0, 2, 40), size=40, classes=2)
    with so.open(folder / "budget.db") as house:
        account = house.account(given, so.budget(epsilon=50, delta="1e-5"))
        train(model, nn.CrossEntropyLoss(), given, budget=account, batch=10, steps=tranches, tranche=1, clip=1, noise=2)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("width", [2, 4_000], ids=["small", "large"])
def test_a_tranche_takes_little_of_the_ledger_whatever_the_model(width: int, tmp_path: Path) -> None:
    def layers() -> nn.Module:
        return nn.Sequential(nn.Linear(100, width), nn.Tanh(), nn.Linear(width, 2))

    sizes = [grown(tmp_path / f"{count}", layers(), count) for count in (FEW, MANY)]
    assert 0 < (sizes[1] - sizes[0]) / (MANY - FEW) <= MOST_OF_A_TRANCHE

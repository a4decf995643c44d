"""The words of trainings: defined once, typed, listed by `help`, and refused with a hint where there are none."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import sordino as so
from sordino.errors import ArgumentError
from sordino.learn.descent.search import SearchWords
from sordino.learn.descent.words import FollowWords, TrainingWords, TrainWords

TAKEN = {
    so.learn.train: TrainWords,
    so.learn.Training: TrainingWords,
    so.learn.follow: FollowWords,
    so.learn.search: SearchWords,
    so.learn.Search: SearchWords,
}


@pytest.mark.parametrize("call", TAKEN, ids=lambda call: call.__name__)
def test_every_word_is_a_keyword_that_help_lists(call):
    words = {each.name: each for each in fields(TAKEN[call])}
    keywords = {n: p for n, p in inspect.signature(call).parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert set(keywords) == set(words)
    said = pydoc.render_doc(call)
    assert all(f"`{name}`: {each.metadata['help']}" in said for name, each in words.items())


def test_train_and_training_take_the_same_words_but_for_the_loop():
    train, training = ({each.name for each in fields(words)} for words in (TrainWords, TrainingWords))
    assert train ^ training == {"optimizer", "schedule", "average", "tell", "kept"}


def test_a_word_that_there_is_not_is_refused_with_a_hint():
    with pytest.raises(ArgumentError, match="a training has no word epsilom; did you mean epsilon"):
        so.learn.train(None, None, None, epsilom=1)
    with pytest.raises(ArgumentError, match=r"write train\(…, sampling=…\)|write train\(…, "):
        so.learn.train(None, None, None, 256)
    with pytest.raises(TypeError, match="missing a required argument"):
        so.learn.train(None, None, None, batch=2)


@pytest.mark.slow
def test_a_type_checker_refuses_words_that_there_are_not(tmp_path):
    (tmp_path / "training.py").write_text(
        "from typing import Any\n"
        "from sordino.learn.descent.search import Search, search\n"
        "from sordino.learn.descent.train import train\n"
        "from sordino.learn.descent.training import Training\n"
        "def good(m: Any, l: Any, e: Any, b: Any) -> None:\n"
        "    train(m, l, e, budget=b, batch=1, clip=1, epsilon='0.5', tell=None).score(e, epsilon=1)\n"
        "    Training(m, l, e, budget=b, batch=1, clip=1, kept=[m]).price()\n"
        "    search({}, e, model=m, loss=l, budget=b, trials=3, score_epsilon=1).settings\n"
        "def bad(m: Any, l: Any, e: Any, b: Any) -> None:\n"
        "    train(m, l, e, budget=b, batch=1, clip=1, epsilom=1)\n"
        "    train(m, l, e, budget=b, clip=1)\n"
        "    Training(m, l, e, budget=b, batch='1', clip=1)\n"
        "    Training(m, l, e, budget=b, batch=1, clip=1, average=1)\n"
        "    Search({}, e, model=m, loss=l, budget=b, trials=3, score_epsilon=1, rho=1)\n"
        "    Training(m, l, e, budget=b, batch=1, clip=1).prices()\n"
    )
    words = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=", "--ignore-missing-imports"]
    words += [f"--cache-dir={tmp_path}/cache", "training.py"]
    path = {"MYPYPATH": str(Path(so.__file__).parent.parent)}
    found = subprocess.run(words, cwd=tmp_path, env=path, capture_output=True, text=True)  # noqa: S603
    lines = [line for line in found.stdout.splitlines() if line.startswith("training.py")]
    assert {int(line.split(":")[1]) for line in lines if ": error:" in line} == {10, 11, 12, 13, 14, 15}, found.stdout

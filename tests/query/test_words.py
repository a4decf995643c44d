"""The words of a question: defined once, typed, listed by `help`, and the same after a journey as JSON."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as so
from sordino.errors import ArgumentError
from sordino.query.ask import Ask, FrameAsk
from sordino.query.words import DEFAULTS, WORDS, Words

SOURCE = Path(so.__file__).parent.parent


@pytest.mark.parametrize("method", [Ask.price, Ask.run, Ask.plan, FrameAsk.run])
def test_every_word_is_a_keyword_that_help_lists(method):
    parameters = inspect.signature(method).parameters
    assert {name: each.default for name, each in parameters.items() if name != "self"} == DEFAULTS
    assert all(each.kind is each.KEYWORD_ONLY for name, each in parameters.items() if name != "self")
    said = pydoc.render_doc(method)
    assert all(name in said and word.help in said for name, word in WORDS.items())


@pytest.mark.slow
def test_a_type_checker_refuses_words_that_there_are_not(tmp_path):
    (tmp_path / "asking.py").write_text(
        "from sordino.query.ask import Ask\n"
        "def good(ask: Ask) -> None:\n"
        '    ask.run(epsilon="0.5", truncation=True, mechanism="laplace")\n'
        "def bad(ask: Ask) -> None:\n"
        "    ask.price(epsilom=1)\n"
        "    ask.run(epsilon=[1])\n"
        '    ask.plan(mechanism="uniform")\n'
        "    ask.run(losses=True)\n"
    )
    words = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=", "--ignore-missing-imports"]
    words += [f"--cache-dir={tmp_path}/cache", "asking.py"]
    found = subprocess.run(words, cwd=tmp_path, env={"MYPYPATH": str(SOURCE)}, capture_output=True, text=True)  # noqa: S603
    lines = [line for line in found.stdout.splitlines() if line.startswith("asking.py")]
    wrong = {int(line.split(":")[1]) for line in lines if ": error:" in line}
    assert wrong == {5, 6, 7, 8}, found.stdout + found.stderr


def test_a_value_without_its_word_is_refused():
    for method in (Ask.run, Ask.price):
        with pytest.raises(ArgumentError, match=rf"write {method.__name__}\(epsilon=…\)"):
            method(Ask.__new__(Ask), 1)


@pytest.mark.parametrize(
    ("word", "close"), [("epsilom", "epsilon"), ("losses", ""), ("truncate", "truncation"), ("noises", "noise")]
)
def test_an_unknown_word_is_refused_with_the_one_that_is_meant(word, close):
    expected = f"did you mean {close}" if close else f"cannot be asked with {word}"
    ask = Ask.__new__(Ask)
    for refused in (lambda: Ask.run(ask, **{word: 1}), lambda: Words.read({word: 1})):
        with pytest.raises(ArgumentError, match=expected):
            refused()


AMOUNTS = st.one_of(st.integers(1, 99), st.sampled_from(["0.5", "1e-3", "0.125"]), st.sampled_from([0.1, 0.25]))
GOALS = st.builds(so.within, AMOUNTS, st.sampled_from(["rides", "of in"]), size=st.one_of(st.none(), AMOUNTS))
BOUNDINGS = st.sampled_from([so.bounding("weigh", rows=3), so.bounding("groups", groups=2, rows_per_group=5)])
OTHERS = st.fixed_dictionaries(
    {},
    optional={
        "delta": st.sampled_from(["1e-9", "0.001"]),
        "weights": st.dictionaries(st.text(min_size=1, max_size=3), st.sampled_from([0.5, 2]), max_size=2),
        "bounding": BOUNDINGS,
        "mechanism": st.sampled_from(["laplace", "gaussian"]),
        "confidence": st.sampled_from([0.9, "0.99", Fraction(1, 2)]),
        **{name: st.booleans() for name, word in WORDS.items() if word.form == "flag"},
    },
)
SPENT = st.one_of(
    st.just({}),
    *(st.fixed_dictionaries({name: AMOUNTS}) for name in ("epsilon", "rho", "noise")),
    st.fixed_dictionaries({"error": GOALS}),
)


@given(SPENT, OTHERS)
def test_words_are_the_same_after_a_journey_as_json(spent, others):
    words = Words(**spent, **others)
    assert Words.read(words.plain()) == words


@pytest.mark.parametrize(
    ("name", "text", "plain"),
    [
        ("epsilon", " 0.5 ", "0.5"),
        ("error", "0.05 of total fare", {"within": "0.05", "of": "total fare"}),
        ("error", "5 of rides in groups of 100", {"within": "5", "of": "rides", "size": "100"}),
        ("weights", "fare=2 rides=1", {"fare": "2", "rides": "1"}),
        ("bounding", "groups groups=2 rows_per_group=3", {"method": "groups", "groups": 2, "rows_per_group": 3}),
        ("truncation", "true", True),
        ("mechanism", "laplace", "laplace"),
    ],
)
def test_what_is_typed_is_read(name, text, plain):
    assert WORDS[name].typed(text) == plain
    Words.read({name: plain})


@pytest.mark.parametrize(
    ("name", "text"), [("error", "fare"), ("weights", "fare"), ("bounding", "weigh rows=x"), ("find", "perhaps")]
)
def test_what_cannot_be_read_is_refused(name, text):
    with pytest.raises(ArgumentError):
        WORDS[name].typed(text)


@pytest.mark.parametrize(
    "plain",
    [
        {"epsilon": 1, "rho": 1},
        {"epsilon": True},
        {"epsilon": "1e-10"},
        {"confidence": 1},
        {"find": "no"},
        {"weights": [1]},
        {"weights": {"rides": -1}},
        {"bounding": {"rows": 1}},
        {"bounding": {"method": "weigh", "groups": 3}},
        {"error": {"within": 1}},
        {"error": {"within": 1, "of": "rides", "over": 1}},
        {"mechanism": "none"},
    ],
)
def test_what_does_not_go_is_refused_before_anything_is_charged(plain):
    with pytest.raises(ArgumentError):
        Words.read(plain)


def test_a_goal_has_the_confidence_of_the_intervals_unless_it_says_its_own():
    goal = {"within": 5, "of": "rides"}
    assert Words.read({"error": goal, "confidence": "0.9"}).error == so.within(5, "rides", confidence="0.9")
    own = Words.read({"error": {**goal, "confidence": 0.5}, "confidence": "0.9"}).error
    assert own == so.within(5, "rides", confidence=0.5)

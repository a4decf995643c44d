"""The client for browsers and Node sends the very bits that the Python side sends, and counts what it spends."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino.collect.client
from collect.client.vectors import OTHERS, WAYS, other_vectors, vectors
from collect.surveys import KEYS, SHUFFLED, TWO, pets
from sordino.collect.coins import Replayed
from sordino.collect.daily import every_day
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.frequencies.rappor import Rappor
from sordino.collect.numbers.choice import number, number_by_class, several_numbers, vector
from sordino.collect.prio3 import (
    Count,
    Histogram,
    Prio3,
    ReportShare,
    Sum,
    helper_answer,
    leader_start,
    new_key,
    shard,
)
from sordino.collect.sealing import PartyKey
from sordino.collect.shuffle.envelope import opened, unwrapped
from sordino.collect.surveys import survey
from sordino.collect.two_servers.shares import Shares, share_of
from sordino.collect.vectors import share_vectors, shipped, surveys
from sordino.collect.vectors import vectors as vectors_of_reports
from sordino.collect.wire import read_each, report_of
from sordino.collect.word_question import words

MODULE = Path(sordino.collect.client.__file__).parent / "sordino.js"
HERE = Path(__file__).parent


def differing(folder: Path, name: str, count: int, seed: int) -> int:
    given = folder / "vectors.json"
    made = other_vectors if name in OTHERS else vectors
    given.write_text(json.dumps(list(made(name, count, seed))))
    words = ["node", str(HERE / "compare.mjs"), str(MODULE), str(given)]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)  # noqa: S603


@pytest.mark.parametrize("name", [*WAYS, *OTHERS])
def test_node_sends_the_same_bits(tmp_path: Path, name: str) -> None:
    assert differing(tmp_path, name, 150, seed=7) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", [*WAYS, *OTHERS])
def test_node_sends_the_same_bits_ten_thousand_times(tmp_path: Path, name: str) -> None:
    assert differing(tmp_path, name, 10_000, seed=8) == 0


def test_a_difference_is_seen(tmp_path: Path) -> None:
    given = tmp_path / "vectors.json"
    found = list(vectors("k-ary", 20, seed=9))
    way, value, random, payload = found[3]
    found[3] = (way, value, random, "ff" + payload[2:] if payload[:2] != "ff" else "00" + payload[2:])
    given.write_text(json.dumps(found))
    words = ["node", str(HERE / "compare.mjs"), str(MODULE), str(given)]
    assert int(subprocess.run(words, capture_output=True, text=True, check=True).stdout) == 1  # noqa: S603


DEVICE = """
import { Device, Survey } from %s;
const spelled = JSON.stringify({ version: 1, values: ["tea", "coffee"], per_day: 2, days: 2, epsilon: "1",
  randomizer: { protocol: "k-ary", domain: 2, lie: "4961333023530713268" } });
const kept = new Map();
const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
let day = 100;
const device = new Device(storage, () => day);
const survey = new Survey(spelled);
const said = [];
const tried = (value) => {
  try {
    said.push(device.report(survey, value).length);
  } catch (error) {
    said.push(error.code);
  }
};
tried("water");
tried("tea"); tried("tea"); tried("coffee");
day = 99; tried("tea");
day = 101; tried("tea"); tried("tea"); tried("tea");
day = 102; tried("tea");
said.push(new Device({ getItem: () => null, setItem() {} }, () => 1) && device.left(survey));
const forgetful = new Device({ getItem: () => null, setItem() {} }, () => 1);
try { forgetful.report(survey, "tea"); } catch (error) { said.push(error.code); }
const full = new Device({ getItem: () => null, setItem() { throw new Error("full"); } }, () => 1);
try { full.report(survey, "tea"); } catch (error) { said.push(error.code); }
const damaged = new Device({ getItem: () => "{", setItem() {} }, () => 1);
try { damaged.report(survey, "tea"); } catch (error) { said.push(error.code); }
console.log(JSON.stringify(said));
"""


def test_a_device_counts_before_a_report_leaves(tmp_path: Path) -> None:
    script = tmp_path / "device.mjs"
    script.write_text(DEVICE % json.dumps(MODULE.as_uri()))
    ran = subprocess.run(["node", str(script)], capture_output=True, text=True, check=True)  # noqa: S603, S607
    length, full = 1 + 32 + 16 + 1, "SRD-C707"
    told = ["SRD-C104", length, length, full, full, length, length, full, full, 0, "SRD-C708", "SRD-C708", "SRD-C708"]
    assert json.loads(ran.stdout) == told


def ran(tmp_path: Path, script: str) -> Any:
    """Run a script in Node, with what the client exports, and return what it prints as JSON."""
    names = {"sordino": "s", "prio3": "p", "sealing": "h", "sending": "t"}
    imports = [f'import * as {short} from "{(MODULE.parent / name).as_uri()}.js";' for name, short in names.items()]
    path = tmp_path / "script.mjs"
    path.write_text("\n".join([*imports, HEX, script]))
    found = subprocess.run(["node", str(path)], capture_output=True, text=True, check=True)  # noqa: S603, S607
    return json.loads(found.stdout)


HEX = """
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (each) => parseInt(each, 16));
const hex = (given) => [...given].map((each) => each.toString(16).padStart(2, "0")).join("");
"""


def test_node_replays_the_vectors_that_are_shipped(tmp_path: Path) -> None:
    found = ran(
        tmp_path,
        f"""
        import {{ readFileSync }} from "node:fs";
        const {{ reports, shares }} = JSON.parse(readFileSync({json.dumps(str(MODULE.parent / "vectors.json"))}));
        const sorted = (given) => given && typeof given === "object" && !Array.isArray(given)
          ? Object.fromEntries(Object.keys(given).sort().map((key) => [key, sorted(given[key])])) : given;
        const wrong = reports.filter(({{ survey, digest, value, random, report }}) => {{
          const asked = new s.Survey(JSON.stringify(sorted(survey)));
          return hex(asked.digest) !== digest || hex(asked.report(value, new s.Words(bytes(random)))) !== report;
        }});
        const histogram = ({{ bins, chunk }}) => p.histogram(bins, chunk);
        const circuits = {{ count: p.count, sum: ({{ most }}) => p.sum(most), histogram }};
        const false_ = shares.filter(({{ circuit, context, value, nonce, random, public: told, shares: both }}) => {{
          const made = p.shard(circuits[circuit.name](circuit), bytes(context), value, bytes(nonce), bytes(random));
          return hex(made.publicShare) !== told || made.inputShares.some((each, server) => hex(each) !== both[server]);
        }});
        console.log(JSON.stringify([reports.length, shares.length, wrong.length, false_.length]));
        """,
    )
    assert found == [len(list(vectors_of_reports(1))), len(list(share_vectors())), 0, 0]


def test_the_shipped_vectors_are_those_of_this_version() -> None:
    assert (MODULE.parent / "vectors.json").read_text() == shipped()


def prio3_vectors(count: int, seed: int) -> Iterator[list[Any]]:
    """Yield circuits as the client makes them, values, and what Python shares of them."""
    dice = np.random.default_rng(seed)
    for each in range(count):
        number = int(np.exp(dice.uniform(0, np.log(120))))
        name, circuit = (("count", Count()), ("sum", Sum(number**4)), ("histogram", Histogram.of(number)))[each % 3]
        words = [number**4] if name == "sum" else [number, circuit.chunk_length] if name == "histogram" else []
        prio3 = Prio3(circuit, 2, dice.bytes(int(dice.integers(0, 200))))
        value = int(dice.integers(circuit.measurements))
        nonce, random = dice.bytes(16), dice.bytes(prio3.randomness_size)
        rows = (np.frombuffer(given, np.uint8).reshape(1, -1) for given in (nonce, random))
        (made,) = shard(prio3, np.array([value]), *rows)
        told = [made.public_share.hex(), *(share.hex() for share in made.input_shares)]
        yield [name, words, prio3.context.hex(), value, nonce.hex(), random.hex(), told]


def shared_alike(tmp_path: Path, count: int) -> list[int]:
    (tmp_path / "shares.json").write_text(json.dumps(list(prio3_vectors(count, seed=3))))
    found: list[int] = ran(
        tmp_path,
        """
        import { readFileSync } from "node:fs";
        const given = JSON.parse(readFileSync(new URL("./shares.json", import.meta.url)));
        const wrong = given.filter(([name, words, context, value, nonce, random, told]) => {
          const made = p.shard(p[name](...words), bytes(context), value, bytes(nonce), bytes(random));
          return JSON.stringify([made.publicShare, ...made.inputShares].map(hex)) !== JSON.stringify(told);
        });
        console.log(JSON.stringify([given.length, wrong.length]));
        """,
    )
    return found


def test_node_shares_as_python_does(tmp_path: Path) -> None:
    assert shared_alike(tmp_path, 60) == [60, 0]


@pytest.mark.long
def test_node_shares_as_python_does_ten_thousand_times(tmp_path: Path) -> None:
    assert shared_alike(tmp_path, 10_000) == [10_000, 0]


def test_what_node_seals_python_opens(tmp_path: Path) -> None:
    key = PartyKey.fresh()
    sealed = ran(
        tmp_path,
        f"""
        const sealed = await h.seal(s.fromBase64url("{key.text}"), bytes("00ff"), bytes("0102"));
        console.log(JSON.stringify(hex(sealed)));
        """,
    )
    assert key.opened(b"\x00\xff", bytes.fromhex(sealed)) == b"\x01\x02"


@pytest.mark.parametrize("trust", ["local", "shuffled", "two-servers"])
def test_node_sends_under_every_trust(tmp_path: Path, trust: str) -> None:
    words: dict[str, Any] = {"shuffled": SHUFFLED, "two-servers": {"trust": trust, "parties": TWO}}.get(trust, {})
    poll = pets(**words)
    made = ran(
        tmp_path,
        f"""
        const survey = new s.Survey({json.dumps(poll.spelled.decode())});
        const report = await t.made(survey, "dog");
        const {{ url, body }} = await t.addressed(survey, report, "here");
        console.log(JSON.stringify([hex(report), url, hex(body)]));
        """,
    )
    report, body = bytes.fromhex(made[0]), bytes.fromhex(made[2])
    assert read_each(poll, [report]).refused == ()
    if trust == "shuffled":
        assert made[1] == "https://b.example.org/reports"
        inner = unwrapped(poll, KEYS[1], body)
        assert opened(poll, KEYS[0], inner or b"") == report
    else:
        assert made[1:] == ["here", made[0]]
    if trust == "two-servers":
        way, identity = poll.randomizer, report[33:49]
        assert isinstance(way, Shares)
        public, *sealed = way.parted(report[49:])
        shares = [share_of(KEYS[each], each, poll.digest, identity, public, sealed[each]) for each in range(2)]
        prio3, secret = way.prio3(poll.digest), new_key()
        waiting = leader_start(prio3, secret, [ReportShare(identity, public, shares[0])])
        answered = helper_answer(prio3, secret, [ReportShare(identity, public, shares[1])], waiting.outbound)
        outputs = waiting.finish(answered.outbound).outputs + answered.finished.outputs
        assert (outputs % prio3.circuit.field.modulus).tolist() == [[0, 1, 0]]


def test_a_survey_whose_coins_tell_more_than_it_says_is_not_answered(tmp_path: Path) -> None:
    spelled = [each.spelled.decode() for each in surveys()]
    found = ran(
        tmp_path,
        f"""
        const told = {json.dumps(spelled)}.map((text) => {{
          const survey = JSON.parse(text);
          const epsilon = survey.epsilon.split("/").map(Number).reduce((above, below) => above / below);
          new s.Survey(text);
          let refused = "";
          const less = JSON.stringify({{ ...survey, epsilon: String(epsilon * 0.999) }});
          try {{ new s.Survey(less); }} catch (error) {{ refused = error.code; }}
          return [s.loss(survey.randomizer) / epsilon, refused];
        }});
        console.log(JSON.stringify(told));
        """,
    )
    assert len(found) > 60
    for ratio, refused in found:
        assert refused == "SRD-C715" or ratio <= 0.999
        assert ratio <= 1 + 1e-9
    assert sum(refused == "SRD-C715" for _, refused in found) > 50


MORE = "; ".join(f'await import("{(MODULE.parent / name).as_uri()}")' for name in ("ways.js", "directions.js"))


def answered_alike() -> Iterator[tuple[str, Any, str, str]]:
    """Yield surveys of every kind as they are spelled, answers, random bytes, and what Python reports."""
    dice = np.random.default_rng(11)
    drawn = (*dice.uniform(-3, 98, size=4).tolist(), -1e300, 1e300, 0.1)
    asks: list[tuple[Any, Any]] = [
        *((number(-3, 97.3, epsilon=3, what=what), drawn) for what in ("mean", "distribution", "variance")),
        (number(-3, 97.3, epsilon="0.5"), drawn),
        (several_numbers({"b": (0, 1), "a": (-3, "97.3")}, epsilon=1), [{"a": each, "b": 0.5} for each in drawn]),
        (number_by_class(0, 100, epsilons={"x": 1, "y": 3}), [("xy"[each % 2], drawn[each]) for each in range(7)]),
        (vector(9, epsilon=2, radius="2.5"), [*dice.normal(size=(4, 9)).tolist(), [0.0] * 9, [1e300] + [-0.1] * 8]),
        (words(epsilon=4), ["", "hello", "hén", "wayTooLongForThis", "\ud800", "a" * 8]),
        (words(way=Rappor(6, 2)), ["", "hello", "he\u0301n", "\ud800"]),  # type: ignore[arg-type]
        (words(way=CountMeanSketch(2**64, 2)), ["hén"]),  # type: ignore[arg-type]
    ]
    for question, values in asks:
        asked = survey("asked", question)
        for value in values:
            random = dice.bytes(8 * 400)
            yield (
                asked.spelled.decode(),
                value,
                random.hex(),
                report_of(asked, value, Replayed(random)).to_bytes().hex(),
            )


def test_whatever_is_asked_is_answered_alike(tmp_path: Path) -> None:
    """Far-off numbers, foreign letters, long vectors, by the same random bytes; what is no answer is refused."""
    given = [list(each) for each in answered_alike()]
    found = ran(
        tmp_path,
        f"""
        {MORE};
        const given = {json.dumps(given)};
        const wrong = given.filter(([spelled, value, random, report]) =>
          hex(new s.Survey(spelled).report(value, new s.Words(bytes(random)))) !== report);
        const codes = [...new Set(given.map(([spelled]) => spelled))].map((spelled) =>
          [NaN, null, undefined, true, {{}}, []].map((value) => {{
            try {{ return new s.Survey(spelled).code(value); }} catch (error) {{ return error.code ?? String(error); }}
          }}));
        console.log(JSON.stringify([wrong.map(([spelled]) => spelled), codes.flat()]));
        """,
    )
    assert found[0] == []
    assert set(found[1]) == {"SRD-C104", "SRD-C201", "SRD-C206"}


def test_what_is_remembered_over_days_is_reported_alike(tmp_path: Path) -> None:
    """The first day of each period draws a permanent answer, the others do not; a device keeps it with its count."""
    given: list[list[Any]] = []
    for asks, values in (
        (every_day(["a", "b"], longitudinal=2, epsilon=1, periods=2, days=3), ("a", "b")),
        (every_day(Rappor(6, 2), periods=2, days=3), ("hello", "hén")),  # type: ignore[arg-type]
    ):
        asked, state, days = survey("asked", asks, days=9), None, []
        for day, value in ((0, 0), (2, 1), (3, 1), (3, 0), (8, 0)):
            random = np.random.default_rng(day).bytes(8 * 400)
            source = Replayed(random)
            head = source.words(2).astype("<u8").tobytes()
            payload, kept = asks.remembered(asks.code(values[value]), f"2026-06-{day + 1:02}", state, source)
            state = dict(kept)
            days.append([day, values[value], random.hex(), (head + payload).hex()])
        given.append([asked.spelled.decode(), days])
    found = ran(
        tmp_path,
        f"""
        {MORE};
        const told = {json.dumps(given)}.map(([spelled, days]) => {{
          const survey = new s.Survey(spelled);
          let kept = null;
          const wrong = days.filter(([day, value, random, report]) => {{
            const [made, next] = survey.remembered(value, 100 + day, kept, new s.Words(bytes(random)));
            kept = next;
            return hex(made.slice(33)) !== report;
          }});
          const stored = new Map();
          const storage = {{
            getItem: (key) => stored.get(key) ?? null,
            setItem: (key, text) => stored.set(key, text),
          }};
          let day = 50;
          const answers = [];
          for (const later of [50, 51, 52, 53, 57]) {{
            day = later;
            new s.Device(storage, () => day).report(survey, days[0][1]);
            answers.push(JSON.parse([...stored.values()][0]).state.answers.length);
          }}
          const refused = [
            () => survey.report(days[0][1]),
            () => new s.Device(storage, () => day).report(survey, days[0][1]),
            () => new s.Survey(spelled.replace('"longitudinal":"', '"longitudinal":"1/1000')),
            () => new s.Survey(spelled.replace(/"periods":2/, '"periods":0.5')),
          ];
          const codes = refused.map((tried) => {{
            try {{ return tried(); }} catch (error) {{ return error.code ?? String(error); }}
          }});
          return [wrong.length, answers, codes];
        }});
        console.log(JSON.stringify(told));
        """,
    )
    assert found == [[0, [1, 1, 1, 2, 2], ["SRD-C150", "SRD-C707", "SRD-C715", "SRD-C715"]]] * 2


def test_it_needs_nothing_else() -> None:
    for path in sorted(MODULE.parent.glob("*.js")):
        text = path.read_text()
        assert set(re.findall(r'from "(.*?)"', text)) <= {f"./{each.name}" for each in MODULE.parent.glob("*.js")}
        assert "Math.random" not in text
        assert len(text.splitlines()) <= 400

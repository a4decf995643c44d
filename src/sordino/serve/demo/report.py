"""The story as one page of HTML without a script: all of it is made from prices, answers and the ledger."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from .drawing import Whisker, spending, whiskers
from .rides import ONE_TOO_MANY, RIDERS
from .showing import cost, next_steps
from .story import Asked, Story

_STYLE = """
:root{color-scheme:light dark;--paper:#fbfcfb;--card:#fff;--ink:#1c2b29;--soft:#566865;--line:#d9e3e0;--accent:#00796b;
--tint:#e3f2ef;--bad:#b3261e;--number:#fff}
@media (prefers-color-scheme:dark){:root{--paper:#101817;--card:#17211f;--ink:#e3ebe9;--soft:#9db0ac;--line:#2c3a37;
--accent:#4db6a4;--tint:#1b2e2b;--bad:#f2867e;--number:#0c1412}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:46rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .6rem}h2{font-size:1.15rem;margin:0 0 .6rem}
.lead,figcaption{color:var(--soft)}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.25rem;margin:1.25rem 0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin:1.5rem 0}
.facts div{background:var(--tint);border-radius:10px;padding:.75rem 1rem}
.facts b{display:block;font-size:1.4rem;color:var(--accent)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--tint);border-radius:8px;padding:.75rem 1rem;
margin:.75rem 0;font:13.5px/1.5 ui-monospace,monospace}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.75rem 0}dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.sordino-answer caption{white-space:nowrap}
figure{margin:1rem 0 0}svg{width:100%;height:auto;display:block}
svg text{font:13px system-ui,sans-serif;fill:var(--ink)}
.key{text-anchor:end}.tick,.number{text-anchor:middle}.tick{fill:var(--soft);font-size:12px}.end{text-anchor:end;fill:var(--soft)}
.grid{stroke:var(--line)}.zero{stroke:var(--soft)}.cap{stroke:var(--ink);stroke-width:2}
.interval{stroke:var(--accent);stroke-width:2;fill:none}.dot{fill:var(--accent)}
.truth{fill:none;stroke:var(--ink);stroke-width:1.3}
.spent{fill:var(--accent)}.spent.other{opacity:.78}
.refused{fill:none;stroke:var(--bad);stroke-width:1.5;stroke-dasharray:5 4}
.number{fill:var(--number)}.refused+.number{fill:var(--bad)}
.good{color:var(--accent)}.bad{color:var(--bad)}.good,.bad{font-weight:600}
"""
_NEAR = 8
"""With more rows than this no picture is drawn."""


def write_report(story: Story, explanation: Any) -> Path:
    """Write ``report.html`` into the folder and return its path."""
    path = story.folder / "report.html"
    path.write_text(page(story, explanation), encoding="utf-8")
    return path


def page(story: Story, explanation: Any) -> str:
    """Return the whole page; everything in it is escaped."""
    held, whole = story.covered
    budget = float(explanation.epsilon)
    facts = {
        "6": "questions answered",
        "1": "refused, over budget",
        f"{held} of {whole}": "intervals hold the truth",
        str(story.judged.report.size): "ledger entries, sound",
    }
    tiles = "".join(f"<div><b>{escape(number)}</b>{escape(what)}</div>" for number, what in facts.items())
    body = [
        "<h1>Six private answers, and one refusal</h1>",
        f'<p class="lead">A made-up month of a bicycle scheme: {RIDERS:,} riders with one to five rides each. Who is '
        "protected is the rider, whatever the number of rides. Every price was known, and charged to the ledger, "
        "before any data was touched.</p>",
        f'<div class="facts">{tiles}</div>',
        _section("Where the budget went", _budget(story, budget)),
        *(_section(f"{asked.number}. {asked.question.title}", _asked(asked)) for asked in story.asked),
        _section(f"7. {ONE_TOO_MANY.title}", _refused(story)),
        _section("The ledger", _ledger(story)),
        _section("What this promises", f"<pre>{escape(str(explanation))}</pre>"),
        _section("Go on", _next(story.folder)),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>sordino: six private answers</title><style>{_STYLE}'
        f"</style></head><body><main>{''.join(body)}</main></body></html>"
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def _budget(story: Story, budget: float) -> str:
    used = [asked.used for asked in story.asked]
    wanted = float(ONE_TOO_MANY.words["epsilon"]) / budget
    return _figure(
        spending("the part of the budget that each question took", used, wanted),
        "Which part of the budget each answer took. The seventh question would have crossed the line.",
    )


def _asked(asked: Asked) -> str:
    expected = "".join(f"<dt>expected</dt><dd>{escape(f'{each.name} {each}')}</dd>" for each in asked.price.columns)
    price = (
        f"<dl><dt>price</dt><dd>{escape(cost(asked.price))}; charged {escape(asked.price.charge)}</dd>{expected}</dl>"
    )
    return f"<pre>{escape(asked.text)}</pre>{price}{asked.answer._repr_html_()}{_pictures(asked)}"


def _pictures(asked: Asked) -> str:
    """Return a picture for each column of several rows: the first answer as what it is off by, the others as they are.

    Of thousands of rides an interval of forty can hardly be seen; how far off they are can.
    """
    answer = asked.answer
    if not 1 < len(answer) <= _NEAR:
        return ""
    first, pictures = asked.number == 1, []
    for name in answer.noisy_names:
        low, high = answer.interval(name)
        true = asked.true_values(name)
        away = true if first else [0.0] * len(true)
        rows = [
            Whisker(str(key), float(value) - off, float(lo) - off, float(hi) - off, t - off)
            for key, value, lo, hi, t, off in zip(asked.keys, answer[name], low, high, true, away, strict=True)
        ]
        what = f"{name}: released minus true" if first else name
        caption = f"{what}, with intervals at {answer.confidence_text}; the ring is the truth: the data is made up"
        pictures.append(_figure(whiskers(what, rows, zero=first), caption))
    return "".join(pictures)


def _refused(story: Story) -> str:
    return (
        f'<pre>{escape(ONE_TOO_MANY.text)}</pre><p><span class="bad">Refused.</span> {escape(story.refusal)}.</p>'
        f"<dl><dt>left for one question</dt><dd>{escape(story.remaining)}</dd></dl>"
        "<p>No data was touched, and nothing was charged.</p>"
    )


def _ledger(story: Story) -> str:
    checkpoint = story.judged.checkpoint
    said = {
        "entries": f"{story.judged.report.size}, each replayed by the rules",
        "checkpoint": f"of {checkpoint.size} entries, signed by {checkpoint.origin}",
        "root": checkpoint.root.hex(),
        "public key": story.judged.key,
        "witness": "has seen nothing that this ledger does not extend",
        "receipt": str(story.facts),
    }
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in said.items())
    found = "".join(f"<li>{escape(str(problem))}</li>" for problem in story.altered.problems)
    return (
        f'<p><span class="good">Sound.</span> Read again from the first entry to the last; the receipt of the first '
        f"answer was checked offline, with the public key alone.</p><dl>{facts}</dl>"
        f'<p><span class="bad">An altered byte is found.</span> In a copy one digit of a charge was changed:</p>'
        f"<ul>{found}</ul>"
    )


def _next(folder: Path) -> str:
    return f"<pre>{escape(chr(10).join(command for command, _ in next_steps(folder)))}</pre>"

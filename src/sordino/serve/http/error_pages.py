"""The page that explains the codes of errors: the reference of the documentation, as HTML without any script."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "static" / "errors.md"

_BEGINNING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors · sordino</title><link rel="icon" href="/static/mark.svg">
<link rel="stylesheet" href="/static/dashboard.css"></head><body>
"""
_HEADING = re.compile(r"(#{1,3}) (.+)")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


@cache
def page() -> str:
    """Return the page; each code is an anchor, as ``#srd-b001``."""
    blocks: list[str] = []
    lines: list[str] = []
    fenced = False
    for line in [*SOURCE.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("```"):
            blocks += [_block(lines, fenced)] if lines else []
            lines, fenced = [], not fenced
        elif fenced or (line.strip() and not _HEADING.fullmatch(line)):
            lines.append(line)
        else:
            blocks += [_block(lines, fenced)] if lines else []
            lines = []
            if heading := _HEADING.fullmatch(line):
                blocks.append(_heading(len(heading[1]), heading[2]))
    body = "\n".join(blocks)
    return f"{_BEGINNING}<main>\n{body}\n</main></body>\n</html>\n"


def _heading(level: int, words: str) -> str:
    anchor = re.sub(r"[^a-z0-9-]+", "-", words.strip("`").lower()).strip("-")
    return f'<h{level} id="{anchor}">{_inline(words)}</h{level}>'


def _block(lines: list[str], fenced: bool) -> str:
    if fenced:
        return f"<pre>{escape(chr(10).join(lines))}</pre>"
    return f"<p>{_inline(' '.join(lines))}</p>"


def _inline(words: str) -> str:
    return _CODE.sub(r"<code>\1</code>", _LINK.sub(r"\1", escape(words, quote=False)))

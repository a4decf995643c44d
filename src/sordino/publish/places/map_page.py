"""A map as one page that needs nothing else: no request leaves it, and it works from a disk.

The numbers are in the page as JSON, the image is drawn from them by the script below; the page's own policy forbids it
to load anything.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; color: #1f2430; background: #fff }}
  main {{ display: flex; flex-wrap: wrap; gap: 1.5rem }}
  figure {{ margin: 0 }}
  img {{ width: min(72vmin, 44rem); aspect-ratio: {columns} / {rows}; image-rendering: pixelated;
         border: 1px solid #c9ccd6; cursor: crosshair }}
  aside {{ max-width: 24rem }}
  dt {{ font-weight: 600; margin-top: .6rem }}
  dd {{ margin: 0; color: #5b6170 }}
  .key {{ display: inline-block; width: 1.1em; height: 1.1em; vertical-align: -.2em; margin-right: .5em;
          border: 1px solid #c9ccd6 }}
  #cell {{ min-height: 4.5em; padding: .6rem .8rem; background: #f3f4f7; border-radius: .4rem }}
  table {{ border-collapse: collapse; margin-top: 1rem }} td {{ padding: .1rem .8rem .1rem 0; vertical-align: top }}
</style>
</head>
<body>
<h1>{title}</h1>
<main>
<figure><img id="map" alt="Map of {rows} by {columns} cells" src="data:image/png;base64,{image}">
<figcaption>north is up; west {west:g}, south {south:g}, east {east:g}, north {north:g}</figcaption></figure>
<aside>
<p id="cell" role="status" aria-live="polite">Point at a cell to read it.</p>
<dl>{legend}</dl>
<table>{facts}</table>
</aside>
</main>
<script type="application/json" id="numbers">{numbers}</script>
<script>
"use strict";
const it = JSON.parse(document.getElementById("numbers").textContent);
const said = document.getElementById("cell"), map = document.getElementById("map");
map.addEventListener("pointermove", (event) => {{
  const box = map.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / box.width * it.columns);
  const row = it.rows - 1 - Math.floor((event.clientY - box.top) / box.height * it.rows);
  if (row < 0 || column < 0 || row >= it.rows || column >= it.columns) return;
  const at = row * it.columns + column, mark = it.words[it.marks[at]];
  const north = it.south + (row + .5) * (it.north - it.south) / it.rows;
  const east = it.west + (column + .5) * (it.east - it.west) / it.columns;
  const number = mark === "suppressed" ? "suppressed" : it.cells[at] + " ± " + it.off[at];
  said.textContent = number + (mark === "shown" || mark === "suppressed" ? "" : " (" + mark + ")")
    + " at latitude " + north.toFixed(4) + ", longitude " + east.toFixed(4);
}});
</script>
</body>
</html>
"""

_KEYS = {
    "shown": "linear-gradient(90deg, #fed98e, #7f1416)",
    "zero": "#f6f6f3",
    "uncertain": "linear-gradient(90deg, #deebf7, #6b93c4)",
    "suppressed": "repeating-linear-gradient(45deg, #787878 0 3px, #bababa 3px 6px)",
}


def page(
    title: str, image: bytes, numbers: Mapping[str, Any], legend: Mapping[str, str], facts: Mapping[str, str]
) -> str:
    """Return the page; every text in it is escaped."""
    known = "".join(
        f'<dt><span class="key" style="background:{_KEYS[name]}"></span>{name}</dt><dd>{html.escape(said)}</dd>'
        for name, said in legend.items()
    )
    rows = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(said)}</td></tr>" for name, said in facts.items())
    inside = json.dumps(numbers, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    places = {name: float(numbers[name]) for name in ("west", "south", "east", "north")}
    return _PAGE.format(
        title=html.escape(title),
        image=base64.b64encode(image).decode(),
        rows=int(numbers["rows"]),
        columns=int(numbers["columns"]),
        legend=known,
        facts=rows,
        numbers=inside,
        **places,
    )

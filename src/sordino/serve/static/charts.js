// Draws the charts of a page: each element with data-spec holds a Vega-Lite specification, and gets its colours from the
// style sheet. Expressions are interpreted (no eval), and what Vega would write as style attributes is not needed.
"use strict";

(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  const theme = () => {
    const ink = colour("ink"), faint = colour("faint"), line = colour("line"), accent = colour("accent");
    const font = getComputedStyle(document.body).fontFamily;
    return {
      background: null,
      font,
      view: { stroke: null },
      axis: {
        labelColor: faint, titleColor: faint, titleFontWeight: 500, gridColor: line, domainColor: line, tickColor: line,
        labelFontSize: 12, titleFontSize: 12, labelLimit: 140,
      },
      title: { color: ink, fontSize: 14, anchor: "start", fontWeight: 600 },
      legend: { labelColor: ink, titleColor: faint },
      mark: { color: accent },
      rule: { color: accent }, point: { color: accent }, bar: { color: accent }, tick: { color: accent },
      line: { color: accent }, area: { color: accent },
      text: { color: ink },
    };
  };

  const draw = (element) => {
    const spec = JSON.parse(element.dataset.spec);
    const { config, ...rest } = spec;
    const compiled = vegaLite.compile(rest, { config: vega.mergeConfig(theme(), config || {}) }).spec;
    element.vegaView?.finalize();
    element.vegaView = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vegaInterpreter.expressionInterpreter,
      renderer: "svg",
      container: element,
      hover: false,
      logLevel: vega.Error,
      tooltip: () => {},
    });
    element.vegaView.description(element.dataset.description || "");
    return element.vegaView.runAsync();
  };

  const drawAll = (root) => {
    for (const element of root.querySelectorAll("[data-spec]")) draw(element);
  };

  const redraw = () => drawAll(document);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("htmx:afterSwap", (event) => drawAll(event.target.parentElement || document));
  document.addEventListener("DOMContentLoaded", redraw);
  if (document.readyState !== "loading") redraw();
})();

// The console's comforts: completion of words, Ctrl+Enter, and a Run that goes off when the question is changed.
// Nothing here is needed to read a page or to ask.
"use strict";

(() => {
  const MOST = 12;
  const byId = (id) => document.getElementById(id);

  // Errors that have no page of their own are told where the answer would have been.
  document.addEventListener("htmx:responseError", (event) => tell(event, "Something went wrong inside; nothing more is known here."));
  document.addEventListener("htmx:sendError", (event) => tell(event, "The service cannot be reached; try again."));
  function tell(event, words) {
    const place = event.detail.target;
    if (!place) return;
    const alert = document.createElement("p");
    alert.className = "alert bad";
    alert.setAttribute("role", "alert");
    alert.textContent = words;
    place.replaceChildren(alert);
  }

  // Buttons to copy what stands above them, where the browser lets a page do so.
  const offer = () => { if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach((each) => { each.hidden = false; }); };
  document.addEventListener("htmx:afterSwap", offer);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = button.closest("p").previousElementSibling.textContent;
    navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; });
  });
  offer();

  // Forms that cannot be undone ask once.
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });

  const form = byId("ask");
  if (!form) return;
  const sql = byId("sql"), list = byId("completions"), said = byId("completion-status");
  let active = -1;

  form.addEventListener("input", () => {
    byId("priced")?.classList.add("stale");
    byId("run")?.setAttribute("disabled", "");
    byId("stale")?.removeAttribute("hidden");
  });

  const words = () => JSON.parse(byId("words")?.dataset.words || "[]");
  const begun = () => /[\w"]*$/.exec(sql.value.slice(0, sql.selectionStart))[0];

  function suggest(even) {
    const start = begun().toLowerCase();
    const fits = (word) => word.toLowerCase().startsWith(start) && word.toLowerCase() !== start;
    const found = start || even ? words().filter(fits).slice(0, MOST) : [];
    list.replaceChildren(...found.map((word, place) => {
      const item = document.createElement("li");
      item.id = `completion-${place}`;
      item.setAttribute("role", "option");
      item.textContent = word;
      return item;
    }));
    list.hidden = !found.length;
    said.textContent = found.length ? `${found.length} completions; arrow down chooses` : "";
    choose(-1);
  }

  function choose(place) {
    active = place;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === place)));
    if (place < 0) sql.removeAttribute("aria-activedescendant");
    else sql.setAttribute("aria-activedescendant", `completion-${place}`);
  }

  function close() { list.hidden = true; list.replaceChildren(); choose(-1); }

  function accept(word) {
    const end = sql.selectionStart;
    sql.focus();
    sql.setRangeText(word, end - begun().length, end, "end");
    sql.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  }

  sql.addEventListener("input", (event) => { if (event.inputType) suggest(false); });
  sql.addEventListener("blur", () => setTimeout(close, 200));
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => { if (event.target.role === "option") accept(event.target.textContent); });

  sql.addEventListener("keydown", (event) => {
    const count = list.children.length;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); close(); form.requestSubmit(); }
    else if (event.key === " " && event.ctrlKey) { event.preventDefault(); suggest(true); }
    else if (!count) return;
    else if (event.key === "ArrowDown") { event.preventDefault(); choose((active + 1) % count); }
    else if (event.key === "ArrowUp" && active >= 0) { event.preventDefault(); choose(active - 1); }
    else if ((event.key === "Enter" || event.key === "Tab") && active >= 0) { event.preventDefault(); accept(list.children[active].textContent); }
    else if (event.key === "Escape") { event.preventDefault(); close(); }
  });

  // Whoever began to write before this file had come is not left without.
  if (document.activeElement === sql) suggest(false);
})();

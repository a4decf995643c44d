// A survey's page: asks the question, makes the answer unclear here, and sends a report alone.
// Without it the page says how to answer by other means; no form of it ever sends what somebody says.

import { Device, Refusal, Survey, base64url, fromBase64url } from "./sordino.js";
import { addressed, made, send } from "./sending.js";
import "./directions.js";
import "./ways.js";

const place = document.getElementById("survey");
const element = (name, words = "", more = {}) => Object.assign(document.createElement(name), { textContent: words, ...more });

/** What was made and is not acknowledged yet is kept, and sent again as it is: it counts once, and costs nothing more. */
const waiting = {
  key: (survey) => `sordino waits ${base64url(survey.digest)}`,
  kept: (survey) => JSON.parse(localStorage.getItem(waiting.key(survey)) ?? "null"),
  keep: (survey, { url, body }) => localStorage.setItem(waiting.key(survey), JSON.stringify({ url, body: base64url(body) })),
  drop: (survey) => localStorage.removeItem(waiting.key(survey)),
};

const FINAL = new Set(["SRD-C701", "SRD-C702", "SRD-C703", "SRD-C704", "SRD-C705", "SRD-C713", "SRD-C717"]);

/** One tab at a time: two that count at once would count one report. */
const alone = (task) => (navigator.locks ? navigator.locks.request("sordino", task) : task());

/** A report, once it is counted: what it costs is kept before anything leaves. */
async function reported(survey, device, value) {
  if (survey.public.trust !== "two-servers") return device.report(survey, value);
  device.charge(survey, value);
  return made(survey, value);
}

async function answer(survey, device, value, code, reports) {
  await alone(async () => {
    let letter = waiting.kept(survey);
    if (letter) letter = { ...letter, body: fromBase64url(letter.body) };
    else {
      letter = await addressed(survey, await reported(survey, device, value), reports);
      waiting.keep(survey, letter);
    }
    try {
      await send(letter, code);
    } catch (error) {
      if (FINAL.has(error.code)) waiting.drop(survey); // to send it again would be no use
      throw error;
    }
    waiting.drop(survey);
  });
}

const MOST_BUTTONS = 30;

function buttons(values) {
  const fields = element("fieldset");
  const rows = element("div", "", { className: "choices" });
  fields.append(element("legend", "Your answer"), rows);
  for (const [number, value] of values.entries()) {
    const radio = element("input", "", { type: "radio", name: "answer", value: String(number), id: `answer-${number}`, required: true });
    const label = element("label", "", { htmlFor: radio.id });
    label.append(radio, ` ${value}`);
    rows.append(label);
  }
  return fields;
}

function list(values) {
  const row = element("p", "", { className: "field" });
  const select = element("select", "", { id: "answer", name: "answer", required: true });
  select.append(element("option", "", { value: "" }), ...values.map((value, number) => element("option", String(value), { value: String(number) })));
  row.append(element("label", "Your answer", { htmlFor: "answer" }), select);
  return row;
}

function line(words, more) {
  const row = element("p", "", { className: "field" });
  row.append(element("label", words, { htmlFor: "answer" }), element("input", "", { id: "answer", name: "answer", autocomplete: "off", ...more }));
  return row;
}

/** Where an answer is given, and what it is: one of some values, a number, a word. */
function field({ values, what, scale, randomizer }) {
  if (values) return [values.length > MOST_BUTTONS ? list(values) : buttons(values), (given) => values[Number(given)]];
  if (what === "word") {
    const capitals = (randomizer.alphabet ?? "A").toLowerCase() !== (randomizer.alphabet ?? "A");
    return [line("Your word", { maxLength: 100 }), (given) => (capitals ? given.trim() : given.trim().toLowerCase())];
  }
  const words = `Your number, from ${scale.low} to ${scale.high}`;
  return [line(words, { type: "number", step: "any", required: true }), Number];
}

/** Whether this page has a field for what a survey asks. */
const asks = ({ values, what, scale, randomizer }) => Boolean(values) || what === "word" || (Boolean(scale) && randomizer.protocol !== "epsilon-classes");

function form(survey, device, asked) {
  const [answered, read] = field(survey.public);
  const found = element("form");
  found.append(answered);
  if (asked.intake === "codes") {
    const row = element("p", "", { className: "field" });
    row.append(element("label", "Your one-time code", { htmlFor: "code" }), element("input", "", { id: "code", name: "code", required: true, autocomplete: "off" }));
    found.append(row);
  }
  const told = element("p", "", { id: "said" });
  told.setAttribute("role", "status");
  const parted = survey.public.trust === "two-servers";
  const button = element("button", parted ? "Send it in two parts" : "Send an unclear answer", { type: "submit" });
  const row = element("p");
  row.append(button);
  found.append(row, told);
  const tell = () => {
    const left = device.left(survey);
    button.disabled = left < 1 && !waiting.kept(survey);
    return left < 1 ? "This browser's share of this survey is used for today." : "";
  };
  told.textContent = tell();
  found.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    told.textContent = parted ? "Parting your answer …" : "Making your answer unclear …";
    try {
      const value = read(new FormData(found).get("answer"));
      await answer(survey, device, value, found.elements.code?.value.trim() ?? "", asked.reports);
      found.reset();
      tell();
      told.textContent = parted
        ? "Thank you. Both parts were sent, each sealed for one server; neither says anything by itself."
        : "Thank you. A report was sent; what you said did not leave this browser.";
    } catch (error) {
      button.disabled = false;
      told.textContent = error instanceof Refusal ? error.message : "Something went wrong here; send it again.";
    }
  });
  return found;
}

async function begin() {
  const asked = await (await fetch(place.dataset.survey, { credentials: "omit" })).json();
  const survey = new Survey(asked.spelled);
  if (!asks(survey.public) || asked.state !== "open") return;
  const device = new Device(localStorage);
  device.left(survey); // a store that is damaged, or none, is told before anybody answers
  const card = place.querySelector(".card") ?? place;
  const rest = element("details");
  rest.append(element("summary", "Answer by other means"), ...[...card.childNodes].filter((each) => each.tagName !== "H2"));
  card.append(form(survey, device, asked), rest);
}

begin().catch((error) => {
  if (error instanceof Refusal) place.append(element("p", error.message, { className: "alert bad" }));
});

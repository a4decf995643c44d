/* A client of sordino's surveys, for browsers and Node: no dependencies, and nothing leaves but noisy reports.
 *
 * Guarantee: a report is a function of the survey, the value and random words alone, and the same function as in
 * Python, bit for bit: whole numbers up to 64 bits (BigInt), no floats. Random words come from crypto.getRandomValues.
 * A device keeps what it has spent before a report leaves, per survey and day, and refuses beyond it.
 */

import { fitting, fraction, lastingLoss, loss } from "./guard.js";
import { sha256 } from "./sha256.js";

export { loss, sha256 };

const WORD = 1n << 64n;
const VERSION = 1;
const CHUNK = 8192; // words at once: getRandomValues gives at most 65,536 bytes

/** Random 64-bit words in order: of the browser's generator or, for vectors, of given bytes, the lowest byte first. */
export class Words {
  #left;
  #place = 0;
  #given;

  constructor(bytes = null) {
    this.#given = bytes !== null;
    this.#left = bytes ?? new Uint8Array(0);
  }

  next() {
    if (this.#place + 8 > this.#left.length) {
      if (this.#given) throw new Refusal("SRD-C101", "too few random bytes were given for one report; give more");
      this.#left = globalThis.crypto.getRandomValues(new Uint8Array(8 * (this.#left.length ? CHUNK : 64)));
      this.#place = 0;
    }
    const view = new DataView(this.#left.buffer, this.#left.byteOffset + this.#place, 8);
    const word = view.getBigUint64(0, true);
    this.#left.fill(0, this.#place, this.#place + 8); // each word is used once, and forgotten
    this.#place += 8;
    return word;
  }
}

/** What is refused, with the code that the documentation explains. */
export class Refusal extends Error {
  constructor(code, words) {
    super(`${words} [${code}]`);
    this.code = code;
  }
}

/** A number uniform on 0 … limit − 1: a word modulo limit, and the next word instead of one of the last few. */
function below(limit, words) {
  const size = BigInt(limit);
  const usable = WORD - (WORD % size);
  let word = words.next();
  while (word >= usable) word = words.next();
  return Number(word % size);
}

/** How many bytes the numbers below `limit` take. */
export function bytesBelow(limit) {
  let bytes = 1;
  for (let reach = 256n; reach < BigInt(limit); reach *= 256n) bytes += 1;
  return bytes;
}

/** A whole number as so many bytes, the lowest first. */
export function littleEndian(value, size) {
  const found = new Uint8Array(size);
  let rest = BigInt(value);
  for (let place = 0; place < size; place += 1) {
    found[place] = Number(rest & 255n);
    rest >>= 8n;
  }
  return found;
}

/** Byte arrays behind each other. */
export function joined(parts) {
  const found = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let place = 0;
  for (const part of parts) {
    found.set(part, place);
    place += part.length;
  }
  return found;
}

/** Set one of many bits, the lowest of each byte first. */
export function setBit(bytes, place) {
  bytes[place >> 3] |= 1 << (place & 7);
}

/** Whether a number has an odd number of ones. */
export function oddBits(value) {
  let rest = value;
  let odd = false;
  for (; rest; rest &= rest - 1n) odd = !odd;
  return odd;
}

/** The value itself, or one of the others, all alike: one word decides. */
export function kAry(domain, lie, value, words) {
  const place = words.next() / BigInt(lie);
  if (place >= BigInt(domain - 1)) return value;
  return (value + 1 + Number(place)) % domain;
}

/** One way to answer each: from what is public about it, a code and words to a payload. */
export const randomizers = {
  "k-ary": ({ domain, lie }, value, words) => littleEndian(kAry(domain, lie, value, words), bytesBelow(domain)),

  unary({ domain, own, other }, value, words) {
    const limits = [BigInt(other), BigInt(own)];
    const found = new Uint8Array((domain + 7) >> 3);
    for (let each = 0; each < domain; each += 1) {
      if (words.next() < limits[each === value ? 1 : 0]) setBit(found, each);
    }
    return found;
  },

  hadamard({ places, truth }, value, words) {
    const row = BigInt(value + 1);
    let place = words.next() % BigInt(places);
    const lies = words.next() >= BigInt(truth);
    if (oddBits(place & row) !== lies) place ^= row & -row;
    return littleEndian(place, bytesBelow(places));
  },

  hashing({ prime, digits, buckets, lie }, value, words) {
    const modulus = BigInt(prime);
    const coefficients = [];
    for (let each = 0; each <= digits; each += 1) coefficients.push(words.next() % modulus);
    let total = coefficients[0];
    let rest = BigInt(value);
    for (const coefficient of coefficients.slice(1)) {
      total += coefficient * (rest % modulus);
      rest /= modulus;
    }
    const bucket = Number(((total % modulus) * BigInt(buckets)) / modulus);
    const told = littleEndian(kAry(buckets, lie, bucket, words), bytesBelow(buckets));
    return joined([...coefficients.map((each) => littleEndian(each, bytesBelow(prime))), told]);
  },

  subset({ domain, chosen, truth, listed }, value, words) {
    const inside = words.next() < BigInt(truth);
    const others = domain - 1;
    const taken = new Set();
    for (let last = others - chosen + (inside ? 1 : 0); last < others; last += 1) {
      const drawn = below(last + 1, words);
      taken.add(taken.has(drawn) ? last : drawn);
    }
    const told = [...taken].map((other) => other + (other >= value ? 1 : 0));
    if (inside) told.push(value);
    if (listed) {
      told.sort((one, another) => one - another);
      return joined(told.map((each) => littleEndian(each, bytesBelow(domain))));
    }
    const found = new Uint8Array((domain + 7) >> 3);
    for (const each of told) setBit(found, each);
    return found;
  },
};

/** Base64url without padding. */
export function base64url(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The bytes that base64url without padding spells. */
export const fromBase64url = (given) =>
  Uint8Array.from(atob(given.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** What is asked, by kind: from what is public about the survey, an answer to its code, or a refusal. `ways.js` adds more. */
export const questions = {
  value({ values, randomizer }, value) {
    const named = typeof value === "string" ? value.normalize("NFC") : value;
    const fits = Number.isSafeInteger(named) && named >= 0 && named < Number(randomizer.domain);
    const found = !values ? (fits ? named : -1) : values.indexOf(named);
    if (found < 0) {
      throw new Refusal("SRD-C104", "the answer is none of the values that are asked for; send one of them");
    }
    return found;
  },
};

/** Ways that keep an answer from one report to the next, by name: what is drawn once, for a value, and each day. */
export const remembered = {};

/** A survey, from the text that a server spells: its digest is that of the very text. */
export class Survey {
  constructor(spelled) {
    this.public = JSON.parse(spelled);
    this.digest = sha256(new TextEncoder().encode(spelled));
    const { version, randomizer, trust, what = "value", periods } = this.public;
    const known = trust === "two-servers" ? randomizer.protocol === SHARES : Object.hasOwn(randomizers, randomizer.protocol);
    if (version !== VERSION || !known || !Object.hasOwn(questions, what)) {
      throw new Refusal("SRD-C715", "this client does not know this survey's way to answer; load a newer one");
    }
    if (!fitting(this.public)) {
      throw new Refusal("SRD-C715", "this survey's answers are not those of its way to answer; it is not answered");
    }
    if (periods !== undefined) this.#checkMemory();
    if (trust !== "two-servers" && !(loss(randomizer) <= fraction(this.public.epsilon) * SLACK)) {
      throw new Refusal("SRD-C715", "this survey's coins tell more than the ε that it shows; it is not answered");
    }
  }

  /** All reports of a period come from one answer that is kept, whose loss is the one that is shown. */
  #checkMemory() {
    const { randomizer, periods, days_of_a_period: days } = this.public;
    const counted = [periods, days].every((each) => Number.isSafeInteger(each) && each >= 1);
    const known = Object.hasOwn(remembered, randomizer.protocol);
    if (!counted || !known || !(lastingLoss(randomizer) <= fraction(randomizer.longitudinal) * SLACK)) {
      throw new Refusal("SRD-C715", "this survey's coins tell more over days than it shows; it is not answered");
    }
  }

  /** The code of a value, or a refusal that does not show it. */
  code(value) {
    return questions[this.public.what ?? "value"](this.public, value);
  }

  /** With what each report of this survey begins. */
  head() {
    return joined([Uint8Array.of(VERSION), this.digest]);
  }

  /** A report as bytes: version, digest, id, payload. Charges nothing: a device does. */
  report(value, words = new Words()) {
    if (this.public.periods !== undefined) {
      throw new Refusal("SRD-C150", "answers to this survey are remembered; have a device report them");
    }
    const code = this.code(value);
    const { randomizer } = this.public;
    return this.#reported(words, () => randomizers[randomizer.protocol](randomizer, code, words));
  }

  /** A report of a day, from the answer that is kept for its period, and what to keep: after what was `kept` before. */
  remembered(value, day, kept, words = new Words()) {
    const code = this.code(value);
    const { randomizer, periods, days_of_a_period: days } = this.public;
    const floors = remembered[randomizer.protocol];
    let next = kept;
    const report = this.#reported(words, () => {
      next = kept ?? { first: day, enrolled: floors.enrol(randomizer, words), answers: [] };
      const period = Math.floor(Math.min(Math.max(day - next.first, 0), periods * days - 1) / days);
      if (!next.answers.some(([of]) => of === period) && next.answers.length < periods) {
        const drawn = floors.permanent(randomizer, code, next.enrolled, words);
        next = { ...next, answers: [...next.answers, [period, base64url(drawn)]] };
      }
      const [, answer] = next.answers.find(([of]) => of === period) ?? next.answers.at(-1);
      return floors.daily(randomizer, fromBase64url(answer), next.enrolled, words);
    });
    return [report, next];
  }

  /** The random id comes first, then what the answer draws. */
  #reported(words, payload) {
    const id = joined([littleEndian(words.next(), 8), littleEndian(words.next(), 8)]);
    return joined([this.head(), id, payload()]);
  }
}

const SHARES = "prio3-histogram"; // answered in two shares (sending.js)
const SLACK = 1 + 1e-9; // for floats, which look at what whole numbers keep

/** Whoever answers: keeps in `storage` (localStorage) how many reports left, before one leaves. */
export class Device {
  #storage;
  #today;

  constructor(storage, today = () => Math.floor(Date.now() / 86_400_000)) {
    this.#storage = storage;
    this.#today = today;
  }

  /** How many reports of a survey may still leave today. */
  left(survey) {
    const { per_day: perDay, days } = survey.public;
    const held = this.#held(survey);
    return Math.min(perDay - held.today, perDay * days - held.sent);
  }

  /** A report of a value, once it is counted; refused if today's or the survey's share is used. */
  report(survey, value) {
    if (survey.public.periods === undefined) {
      this.charge(survey, value);
      return survey.report(value);
    }
    const held = this.#open(survey, value);
    const [report, state] = survey.remembered(value, held.day, held.state ?? null);
    this.#keep(survey, { ...held, state });
    return report;
  }

  /** Count one report of a value, kept before this returns; refused if today's or the survey's share is used. */
  charge(survey, value) {
    this.#keep(survey, this.#open(survey, value));
  }

  #open(survey, value) {
    survey.code(value); // what is no answer costs nothing
    if (this.left(survey) < 1) {
      throw new Refusal("SRD-C707", "this device's share of this survey is used; answer again on another day, if there is one");
    }
    return this.#held(survey);
  }

  /** Have one report more kept, with what is remembered, before it leaves. */
  #keep(survey, { day, today, sent, state }) {
    const next = JSON.stringify({ day, today: today + 1, sent: sent + 1, ...(state && { state }) });
    try {
      this.#storage.setItem(this.#key(survey), next);
    } catch {
      throw forgetful();
    }
    if (this.#storage.getItem(this.#key(survey)) !== next) throw forgetful();
  }

  #key(survey) {
    return `sordino ${base64url(survey.digest)}`;
  }

  /** What is held about a survey, with today's count begun anew on a later day; a clock set back opens none. */
  #held(survey) {
    const kept = this.#storage.getItem(this.#key(survey));
    const held = kept === null ? { day: -1, today: 0, sent: 0 } : counted(kept);
    const day = Math.max(this.#today(), held.day);
    return { ...held, day, today: held.day === day ? held.today : 0 };
  }
}

/** What was kept, if it is a count; what is damaged is never taken for new. */
function counted(kept) {
  let held = null;
  try {
    held = JSON.parse(kept);
  } catch {
    // refused below
  }
  if (held && [held.day, held.today, held.sent].every((each) => Number.isSafeInteger(each) && each >= 0)) return held;
  throw new Refusal("SRD-C708", "what this browser kept of this survey is damaged, so nothing is sent");
}

const forgetful = () =>
  new Refusal("SRD-C708", "this browser keeps nothing, so that what was spent would be forgotten; allow storage");

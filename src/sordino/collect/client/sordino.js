/* A client of sordino's surveys, for browsers and Node: no dependencies, and nothing leaves but noisy reports.
 *
 * Guarantee: a report is a function of the survey, the value and random words alone, and the same function as in
 * Python, bit for bit: whole numbers up to 64 bits (BigInt), no floats. Random words come from crypto.getRandomValues.
 * A device keeps what it has spent before a report leaves, per survey and day, and refuses beyond it.
 */

const WORD = 1n << 64n;
const MASK = WORD - 1n;
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

/** SHA-256 (FIPS 180-4) of bytes: here, as browsers have one only where pages are encrypted. */
export function sha256(bytes) {
  const bits = BigInt(bytes.length) * 8n;
  const padded = new Uint8Array(((bytes.length + 8) >> 6) * 64 + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, bits, false);
  const state = Uint32Array.from(INITIAL);
  const schedule = new Uint32Array(64);
  for (let start = 0; start < padded.length; start += 64) compress(state, schedule, view, start);
  const found = new Uint8Array(32);
  state.forEach((word, place) => new DataView(found.buffer).setUint32(4 * place, word, false));
  return found;
}

function compress(state, schedule, view, start) {
  const turned = (word, by) => (word >>> by) | (word << (32 - by));
  for (let place = 0; place < 16; place += 1) schedule[place] = view.getUint32(start + 4 * place, false);
  for (let place = 16; place < 64; place += 1) {
    const early = schedule[place - 15];
    const late = schedule[place - 2];
    const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    schedule[place] = schedule[place - 16] + first + schedule[place - 7] + second;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let place = 0; place < 64; place += 1) {
    const mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + mixed + ((e & f) ^ (~e & g)) + ROUNDS[place] + schedule[place]) >>> 0;
    const other = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) >>> 0, c, b, a, (one + other) >>> 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, place) => {
    state[place] += word;
  });
}

/** The first 32 bits of the fractional parts of roots of the first primes, as the standard has them. */
const [INITIAL, ROUNDS] = (() => {
  const primes = [];
  for (let number = 2; primes.length < 64; number += 1) {
    if (primes.every((prime) => number % prime)) primes.push(number);
  }
  const root = (value, power) => {
    let low = 0n;
    let high = 1n << 48n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** power <= value) low = middle;
      else high = middle;
    }
    return low;
  };
  const fraction = (prime, power) => Number(root(BigInt(prime) << (32n * power), power) & 0xffffffffn);
  return [primes.slice(0, 8).map((prime) => fraction(prime, 2n)), primes.map((prime) => fraction(prime, 3n))];
})();

/** Base64url without padding. */
export function base64url(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The bytes that base64url without padding spells. */
export const fromBase64url = (given) =>
  Uint8Array.from(atob(given.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** A survey, from the text that a server spells: its digest is that of the very text. */
export class Survey {
  constructor(spelled) {
    this.public = JSON.parse(spelled);
    this.digest = sha256(new TextEncoder().encode(spelled));
    const { version, randomizer, trust } = this.public;
    const known = trust === "two-servers" ? randomizer.protocol === SHARES : Object.hasOwn(randomizers, randomizer.protocol);
    if (version !== VERSION || !known) {
      throw new Refusal("SRD-C715", "this client does not know this survey's way to answer; load a newer one");
    }
    if (trust !== "two-servers" && loss(randomizer) > fraction(this.public.epsilon) * (1 + 1e-9)) {
      throw new Refusal("SRD-C715", "this survey's coins tell more than the ε that it shows; it is not answered");
    }
  }

  /** The code of a value, or a refusal that does not show it. */
  code(value) {
    const { values, randomizer, scale } = this.public;
    if (scale) return placed(scale, value);
    const named = typeof value === "string" ? value.normalize("NFC") : value;
    const fits = Number.isInteger(named) && named >= 0 && named < randomizer.domain;
    const found = !values ? (fits ? named : -1) : values.indexOf(named);
    if (found < 0) {
      throw new Refusal("SRD-C104", "the answer is none of the values that are asked for; send one of them");
    }
    return found;
  }

  /** With what each report of this survey begins. */
  head() {
    return joined([Uint8Array.of(VERSION), this.digest]);
  }

  /** A report as bytes: version, digest, id, payload. Charges nothing: a device does. */
  report(value, words = new Words()) {
    const code = this.code(value);
    const id = joined([littleEndian(words.next(), 8), littleEndian(words.next(), 8)]);
    const { randomizer } = this.public;
    return joined([this.head(), id, randomizers[randomizer.protocol](randomizer, code, words)]);
  }
}

const SHARES = "prio3-histogram"; // answered in two shares (sending.js)

/** A number's place on the public grid: clipped to the bounds, rounded; what is no number is refused. */
function placed({ low, high, factor, steps }, value) {
  if (typeof value !== "number" || Number.isNaN(value)) {
    throw new Refusal("SRD-C201", "the answer must be a number; it is not shown here, and nothing was sent");
  }
  const inside = Math.min(Math.max(value, Number(low)), Number(high));
  return Math.min(Math.max(Math.floor((inside - Number(low)) * Number(factor) + 0.5), 0), steps);
}

const share = (words) => Number(BigInt(words)) / 2 ** 64;
const lies = (count, lie) => Math.log((1 - (count - 1) * share(lie)) / share(lie));

/** What one report of each way loses at most, by its coins: the logarithm of the largest quotient of two chances. */
export const losses = {
  "k-ary": ({ domain, lie }) => lies(domain, lie),
  hashing: ({ buckets, lie }) => lies(buckets, lie),
  hadamard: ({ truth }) => Math.abs(Math.log(share(truth) / (1 - share(truth)))),
  unary: ({ own, other }) => Math.log((share(own) * (1 - share(other))) / (share(other) * (1 - share(own)))),
  subset: ({ truth, domain, chosen }) => Math.log((share(truth) * (domain - chosen)) / ((1 - share(truth)) * chosen)),
};

/** The loss of a way to answer; without bound for one of which this client cannot tell. */
export const loss = (way) => (Object.hasOwn(losses, way.protocol) ? losses[way.protocol](way) : Infinity);

const fraction = (given) => given.split("/").map(Number).reduce((above, below) => above / below);

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
    this.charge(survey, value);
    return survey.report(value);
  }

  /** Count one report of a value, kept before this returns; refused if today's or the survey's share is used. */
  charge(survey, value) {
    survey.code(value); // what is no answer costs nothing
    if (this.left(survey) < 1) {
      throw new Refusal("SRD-C707", "this device's share of this survey is used; answer again on another day, if there is one");
    }
    const held = this.#held(survey);
    const next = JSON.stringify({ day: held.day, today: held.today + 1, sent: held.sent + 1 });
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
    return { day, today: held.day === day ? held.today : 0, sent: held.sent };
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

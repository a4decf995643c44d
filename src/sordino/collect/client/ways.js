/* Further ways to answer: numbers, sketches, words, memory over days, projective geometry. Importing this adds them to
 * `randomizers`, `remembered` and `questions`, so to what a `Survey` can answer. Each is, bit for bit, the Python side's
 * way of that name (vectors: `directions.js`).
 *
 * Values are codes, as there: for numbers a place on the public grid, for words a prefix tree's number or a fingerprint,
 * for several numbers a list: `questions` finds them.
 */

import { Refusal, bytesBelow, joined, kAry, littleEndian, oddBits, questions, randomizers, remembered, setBit, sha256 } from "./sordino.js";

const MASK = (1n << 64n) - 1n;

// Places in sketches: the finaliser of SplitMix64 (fingerprint.py)

function mixed(given) {
  let number = ((given ^ (given >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  number = ((number ^ (number >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return number ^ (number >> 31n);
}

const keyOf = (salt, which) => mixed((BigInt(salt) + (BigInt(which) + 1n) * 0x9e3779b97f4a7c15n) & MASK);
const cellOf = (value, by, cells) => Number(((mixed(BigInt(value) ^ by) >> 32n) * BigInt(cells)) >> 32n);
const drawn = (count, words) => Number((words.next() * BigInt(count)) >> 64n);

/** A word as a number below 2⁶⁴: the first eight bytes, lowest first, of SHA-256 of its normal form C. */
export const fingerprint = (word) => new DataView(sha256(new TextEncoder().encode(word.normalize("NFC"))).buffer).getBigUint64(0, true);

/** Bits, each of which is 1 with the chance of its limit. */
function tossed(limits, words) {
  const found = new Uint8Array((limits.length + 7) >> 3);
  limits.forEach((limit, place) => {
    if (words.next() < limit) setBit(found, place);
  });
  return found;
}

const bitAt = (bytes, place) => (bytes[place >> 3] >> (place & 7)) & 1;

// Numbers

/** The cell of a window around a code: one word decides. */
function windowed({ steps, width, outside, inside }, code, words) {
  const [low, high, word] = [BigInt(outside), BigInt(inside), words.next()];
  const border = BigInt(steps) * low;
  if (word < border) {
    const place = Number(word / low);
    return place < code ? place : place + width;
  }
  const place = (word - border) / high;
  return code + Number(place < BigInt(width) ? place : word - border - BigInt(width) * high);
}

const sizeOfWindow = ({ steps, width }) => bytesBelow(steps + width);
const window = (way, code, words) => littleEndian(windowed(way, code, words), sizeOfWindow(way));
const yes = ({ least, step }, code, words) => Number(words.next() < BigInt(least) + BigInt(code) * BigInt(step));
const hybridCells = (way) => way.piecewise.steps + way.piecewise.width;

function laplace({ steps, below, digits }, code, words) {
  const fine = Math.log2(steps) - below;
  const reach = 2 ** (digits.length - below) - 1;
  const outside = (2 * reach + 1) * steps;
  let blocks = 0n;
  digits.forEach((limit, place) => {
    if (words.next() < BigInt(limit)) blocks += 1n << BigInt(place);
  });
  const last = words.next();
  const far = (blocks << BigInt(fine)) + (last & ((1n << BigInt(fine)) - 1n));
  const place = BigInt(reach * steps) + (last >> 63n ? BigInt(code) + far : BigInt(code) - 1n - far);
  const cell = place >= 0n && place < BigInt(outside) ? place : BigInt(outside);
  return littleEndian(cell, bytesBelow(outside + 1));
}

/** How many bytes a payload has, where it stands in one of several. */
const sizes = {
  "two-values": () => 1,
  piecewise: sizeOfWindow,
  "square-wave": sizeOfWindow,
  hybrid: (way) => bytesBelow(hybridCells(way) + 2),
  "local-laplace": ({ steps, below, digits }) => bytesBelow((2 * (2 ** (digits.length - below) - 1) + 1) * steps + 1),
};

function wrapped(ways, which, payload) {
  const found = new Uint8Array(1 + Math.max(...ways.map((way) => sizes[way.protocol](way))));
  found[0] = which;
  found.set(payload, 1);
  return found;
}

const told = (way, code, words) => randomizers[way.protocol](way, code, words);

// Projective geometry (points.py): points are vectors modulo q whose first coordinate that is not 0 is 1

const pointsOf = (q, t) => (q ** t - 1) / (q - 1);
const modulo = (number, q) => ((number % q) + q) % q;
const digitsOf = (number, q, t) => Array.from({ length: t }, (_, place) => Math.floor(number / q ** (t - 1 - place)) % q);

function coordinates(q, t, number) {
  let after = 0;
  while (after + 1 < t && pointsOf(q, after + 1) <= number) after += 1;
  return digitsOf(number - pointsOf(q, after) + q ** after, q, t);
}

function inverse(value, q) {
  let found = 1;
  while ((found * value) % q !== 1) found += 1;
  return found;
}

function numberOf(vector, q) {
  const after = vector.length - 1 - vector.findIndex((each) => each !== 0);
  return vector.reduce((total, each) => total * q + each, 0) - q ** after + pointsOf(q, after);
}

/** The point that has the given other coordinates and u·v = product, scaled so that its first one is 1. */
function pointWith(own, others, product, q) {
  const pivot = own.findLastIndex((each) => each !== 0);
  const vector = [...others.slice(0, pivot), 0, ...others.slice(pivot)];
  const dot = vector.reduce((total, each, place) => total + each * own[place], 0);
  vector[pivot] = modulo((product - dot) * inverse(own[pivot], q), q);
  const scale = inverse(vector.find((each) => each !== 0), q);
  return numberOf(vector.map((each) => (each * scale) % q), q);
}

function projective({ prime: q, dimensions: t, lie }, value, words) {
  const own = coordinates(q, t, value);
  const word = words.next();
  const beyond = BigInt(q ** (t - 1)) * BigInt(lie);
  const point = word < beyond
    ? pointWith(own, digitsOf(Number(word / BigInt(lie)), q, t - 1), 1, q)
    : pointWith(own, coordinates(q, t - 1, Number((word - beyond) % BigInt(pointsOf(q, t - 1)))), 0, q);
  return littleEndian(point, bytesBelow(pointsOf(q, t)));
}

// What a device keeps for life: the word of each draw comes in the order enrol, permanent, daily (memory.py)

/** A way to answer with a permanent floor: what a device enrols in, keeps for a value, and reports each day. */
Object.assign(remembered, {
  "memoised-hashing": {
    enrol: ({ seeds }, words) => drawn(seeds, words),
    permanent: ({ cells, salt, permanent }, value, enrolled, words) =>
      Uint8Array.of(kAry(cells, permanent, cellOf(value, keyOf(salt, enrolled), cells), words)),
    daily: ({ cells, daily }, [kept], enrolled, words) =>
      joined([littleEndian(enrolled, 2), Uint8Array.of(kAry(cells, daily, kept, words))]),
  },
  rappor: {
    enrol: ({ cohorts }, words) => drawn(cohorts, words),
    permanent({ bits, hashes, salt, flip }, value, enrolled, words) {
      const found = tossed(new Array(bits).fill(BigInt(flip)), words);
      const places = Array.from({ length: hashes }, (_, which) => cellOf(value, keyOf(salt, enrolled * hashes + which), bits));
      for (const place of new Set(places)) found[place >> 3] ^= 1 << (place & 7);
      return found;
    },
    daily({ bits, one, zero }, kept, enrolled, words) {
      const limits = Array.from({ length: bits }, (_, place) => BigInt(bitAt(kept, place) ? one : zero));
      return joined([littleEndian(enrolled, 2), tossed(limits, words)]);
    },
  },
});

const once = (floors) => (way, value, words) => {
  const enrolled = floors.enrol(way, words);
  return floors.daily(way, floors.permanent(way, value, enrolled, words), enrolled, words);
};

Object.assign(randomizers, {
  "two-values": (way, code, words) => Uint8Array.of(yes(way, code, words)),
  piecewise: window,
  "square-wave": window,
  hybrid(way, code, words) {
    const cell = words.next() < BigInt(way.share)
      ? windowed(way.piecewise, code, words)
      : hybridCells(way) + yes(way["two-values"], code, words);
    return littleEndian(cell, sizes.hybrid(way));
  },
  "local-laplace": laplace,
  attributes({ ways }, codes, words) {
    const each = (MASK + BigInt(ways.length)) / BigInt(ways.length);
    const which = ways.length > 1 ? Math.min(Number(words.next() / each), ways.length - 1) : 0;
    return wrapped(ways, which, told(ways[which], codes[which], words));
  },
  "epsilon-classes": ({ ways }, [which, code], words) => wrapped(ways, which, told(ways[which], code, words)),
  "count-mean-sketch": ({ hashes, width, salt, flip }, value, words) => {
    const which = drawn(hashes, words);
    const bits = tossed(new Array(width).fill(BigInt(flip)), words);
    const place = cellOf(value, keyOf(salt, which), width);
    bits[place >> 3] ^= 1 << (place & 7);
    return joined([littleEndian(which, 2), bits]);
  },
  "hadamard-count-mean-sketch": ({ hashes, width, salt, flip }, value, words) => {
    const place = drawn(hashes * width, words);
    const cell = cellOf(value, keyOf(salt, Math.floor(place / width)), width);
    const minus = oddBits(BigInt(cell & place % width)) !== words.next() < BigInt(flip);
    return littleEndian(2 * place + Number(minus), bytesBelow(2 * hashes * width));
  },
  "prefix-tree": ({ alphabet, lengths, limits, seeds, cells, salt, lie }, value, words) => {
    const first = words.next();
    const level = limits.filter((limit) => first >= BigInt(limit)).length;
    const seed = drawn(seeds, words);
    const rest = BigInt([...alphabet].length + 1) ** BigInt(lengths.at(-1) - lengths[level]);
    const place = cellOf(BigInt(value) / rest, keyOf(salt, level * seeds + seed), cells);
    return joined([Uint8Array.of(level), littleEndian(seed, 2), littleEndian(kAry(cells, lie, place, words), bytesBelow(cells))]);
  },
  "projective-geometry": projective,
  "memoised-hashing": once(remembered["memoised-hashing"]),
  rappor: once(remembered.rappor),
});

// What is asked: from an answer to its code

/** A number's place on the public grid: clipped to the bounds, rounded; what is no number is refused. */
export function placed({ low, high, factor, steps }, value) {
  if (typeof value !== "number" || Number.isNaN(value)) {
    throw new Refusal("SRD-C201", "the answer must be a number; it is not shown here, and nothing was sent");
  }
  const inside = Math.min(Math.max(value, Number(low)), Number(high));
  return Math.min(Math.max(Math.floor((inside - Number(low)) * Number(factor) + 0.5), 0), steps);
}

const number = ({ scale }, value) => placed(scale, value);

/** [class, number] for people of public classes. */
function ofClass({ scale, randomizer }, value) {
  const which = Array.isArray(value) && value.length === 2 ? randomizer.ways.findIndex((way) => way.class === value[0]) : -1;
  if (which < 0) throw new Refusal("SRD-C206", "the answer must be a class that is asked for and a number");
  return [which, placed(scale, value[1])];
}

/** A word's letters as digits, the first one highest; 0 for one with other letters, which is not told. */
function spelled({ alphabet, lengths }, word) {
  const [letters, longest] = [[...alphabet], lengths.at(-1)];
  const base = BigInt(letters.length + 1);
  const places = [...word.normalize("NFC")].slice(0, longest).map((letter) => letters.indexOf(letter) + 1);
  if (places.includes(0)) return 0n;
  return places.reduce((total, place, at) => total + BigInt(place) * base ** BigInt(longest - 1 - at), 0n);
}

Object.assign(questions, {
  mean: (asked, value) => (asked.randomizer.protocol === "epsilon-classes" ? ofClass : number)(asked, value),
  distribution: number,
  variance({ scale }, value) {
    const code = placed(scale, value);
    return [code, Math.floor(((2 * code - scale.steps) ** 2 + scale.steps / 2) / scale.steps)];
  },
  means({ scales }, value) {
    const names = Object.keys(value ?? {});
    if (names.length !== scales.length || !scales.every(({ name }) => names.includes(name))) {
      throw new Refusal("SRD-C206", "the answer must have a number for each of those that are asked for");
    }
    return scales.map((scale) => placed(scale, value[scale.name]));
  },
  word({ randomizer }, value) {
    if (typeof value !== "string") throw new Refusal("SRD-C104", "the answer must be a word; it is not shown here");
    return randomizer.protocol === "prefix-tree" ? spelled(randomizer, value) : fingerprint(value);
  },
});

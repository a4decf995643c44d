/* What one report tells at most, found from the coins that a survey spells out: whoever asks is not taken at their word.
 *
 * Guarantee: `loss` is the logarithm of the largest quotient of the chances of one payload for two codes that the way to
 * answer can be given, or more; infinite for what is no way to answer (a coin that always falls on one side, values that
 * it has no coins for, a shape that no sampler has). `fitting` says whether a survey's values have such codes.
 */

const WORD = 1n << 64n;

class Unfit extends Error {}

function check(holds) {
  if (!holds) throw new Unfit();
}

/** A whole number between two others. */
function whole(given, least, most) {
  check(Number.isSafeInteger(given) && given >= least && given <= most);
  return given;
}

/** A power of two. */
function power(given, least, most) {
  whole(given, least, most);
  check((BigInt(given) & (BigInt(given) - 1n)) === 0n);
  return given;
}

/** So many of the 2⁶⁴ words, none and all of them excepted. */
function words(given, least = 1n) {
  check(typeof given === "string" && /^[0-9]{1,20}$/.test(given));
  const found = BigInt(given);
  check(found >= least && found < WORD);
  return found;
}

const quotient = (one, other) => {
  check(one > 0n && other > 0n);
  return Math.abs(Math.log(Number(one) / Number(other)));
};

/** One of `count` values by its true name, each other one by `lie` words. */
function response(count, lie) {
  const each = words(lie);
  return quotient(WORD - BigInt(whole(count, 2, 2 ** 31) - 1) * each, each);
}

/** A bit that is turned over by so many words. */
const turned = (flip) => quotient(WORD - words(flip), words(flip));

/** Some of all outcomes have `inside` words or one more, the others `outside`. */
function levels(own, others, inside, outside) {
  const [high, low] = [words(inside), words(outside)];
  const left = WORD - BigInt(others) * low - BigInt(own) * high;
  check(left >= 0n && left < BigInt(own));
  return Math.max(quotient(high + (left ? 1n : 0n), low), quotient(high, low));
}

const window = ({ steps, width, inside, outside }) => levels(whole(width, 1, 2 ** 26), power(steps, 2, 2 ** 20), inside, outside);

/** One bit whose chance of 1 rises from the lowest code to the highest. */
function ends({ steps, least, step }) {
  const low = words(least);
  const high = low + words(step, 0n) * BigInt(power(steps, 2, 2 ** 20));
  check(high < WORD);
  return Math.max(quotient(high, low), quotient(WORD - low, WORD - high));
}

/** The conditions of laplace.py: P(n) never grows, and falls by e^ε at most over a range; and of what lies outside. */
function laplace({ steps, below, digits }) {
  power(steps, 2, 2 ** 16);
  check(Array.isArray(digits) && digits.length > whole(below, 1, Math.log2(steps)) && digits.length - below < 32);
  let [lower, above, most] = [0, 0, -Math.log((2 * Number(words(digits[below - 1]))) / 2 ** 64)];
  digits.forEach((digit, place) => {
    const against = Math.log(Number(WORD - words(digit)) / Number(words(digit)));
    check(against >= lower);
    if (place >= below) {
      most = Math.max(most, against - above);
      above += against;
    }
    lower += against;
  });
  return most;
}

const isPrime = (number) => {
  for (let each = 2; each * each <= number; each += 1) if (number % each === 0) return false;
  return number > 1;
};

function projective({ domain, prime, dimensions, lie }) {
  check(isPrime(whole(prime, 2, 4096)) && prime ** whole(dimensions, 2, 24) <= 2 ** 24);
  const [off, on] = [prime ** (dimensions - 1), (prime ** (dimensions - 1) - 1) / (prime - 1)];
  whole(domain, 2, off + on);
  const each = words(lie);
  const rest = WORD - BigInt(off) * each;
  check(rest > 0n);
  const [least, more] = [rest / BigInt(on), rest % BigInt(on) ? 1n : 0n];
  return Math.max(quotient(least, each), quotient(least + more, each));
}

const subtle = (own, other) => quotient(own, other) + quotient(WORD - other, WORD - own);

function cells({ hashes, width }) {
  power(hashes, 1, 2 ** 16);
  power(width, 8, 2 ** 16);
}

const ONE = new Set(["two-values", "piecewise", "square-wave", "hybrid", "local-laplace"]);

/** The most of several ways with one number each. */
function several({ ways }) {
  check(Array.isArray(ways) && ways.length >= 1 && ways.length <= 256);
  return Math.max(...ways.map((way) => {
    check(ONE.has(way.protocol));
    return losses[way.protocol](way);
  }));
}

const losses = {
  "k-ary": ({ domain, lie }) => response(domain, lie),
  hashing({ domain, prime, digits, buckets, lie }) {
    whole(domain, 2, 2 ** 31);
    whole(prime, 2, 2 ** 32);
    whole(digits, 1, 64);
    return response(buckets, lie);
  },
  hadamard({ domain, places, truth }) {
    whole(domain, 2, power(places, 4, 2 ** 27) - 1);
    return quotient(words(truth), WORD - words(truth));
  },
  unary({ domain, own, other }) {
    whole(domain, 2, 2 ** 20);
    return subtle(words(own), words(other));
  },
  subset({ domain, chosen, truth }) {
    whole(chosen, 1, whole(domain, 2, 2 ** 20) - 1);
    return quotient(words(truth) * BigInt(domain - chosen), (WORD - words(truth)) * BigInt(chosen));
  },
  "two-values": ends,
  piecewise: window,
  "square-wave": window,
  hybrid(way) {
    check(way.piecewise.steps === way["two-values"].steps);
    words(way.share, 0n);
    return Math.max(window(way.piecewise), ends(way["two-values"]));
  },
  "local-laplace": laplace,
  attributes: several,
  "epsilon-classes"(way) {
    check(way.ways.every((each) => losses[each.protocol](each) <= fraction(each.epsilon) * (1 + 1e-9)));
    return several(way);
  },
  "count-mean-sketch"(way) {
    cells(way);
    return 2 * turned(way.flip);
  },
  "hadamard-count-mean-sketch"(way) {
    cells(way);
    return turned(way.flip);
  },
  "projective-geometry": projective,
  "prefix-tree"({ lengths, limits, seeds, cells: count, lie }) {
    check(Array.isArray(lengths) && Array.isArray(limits) && limits.length === lengths.length - 1 && lengths.length < 256);
    power(seeds, 1, 2 ** 16);
    return response(count, lie);
  },
  "memoised-hashing"({ cells: count, seeds, permanent, daily }) {
    power(seeds, 1, 2 ** 16);
    const chances = [permanent, daily].map((lie) => {
      response(whole(count, 2, 256), lie);
      return [Number(WORD - BigInt(count - 1) * words(lie)) / 2 ** 64, Number(words(lie)) / 2 ** 64];
    });
    const [[kept, other], [told, lie]] = chances;
    const own = kept * told + (count - 1) * other * lie;
    return Math.abs(Math.log(own / (kept * lie + other * told + (count - 2) * other * lie)));
  },
  rappor({ bits, hashes, cohorts, flip, zero, one }) {
    whole(bits, 8, 2 ** 14);
    power(cohorts, 1, 2 ** 15);
    const [turn, low, high] = [words(flip), words(zero, 0n), words(one)];
    const own = (WORD - turn) * high + turn * low;
    const other = turn * high + (WORD - turn) * low;
    const all = WORD * WORD;
    return whole(hashes, 1, 16) * (quotient(own, other) + quotient(all - other, all - own));
  },
  directions: ({ dimension, directions, near, inside, outside }) => {
    whole(dimension, 1, 4096);
    return levels(whole(near, 1, whole(directions, 2, 4096) - 1), directions - near, inside, outside);
  },
};

/** What any number of reports from one permanent answer tells at most. */
const lasting = {
  "memoised-hashing": ({ cells: count, permanent }) => response(whole(count, 2, 256), permanent),
  rappor: ({ hashes, flip }) => 2 * whole(hashes, 1, 16) * turned(flip),
};

function within(table, way) {
  try {
    const found = Object.hasOwn(table, way.protocol) ? table[way.protocol](way) : Infinity;
    return Number.isNaN(found) ? Infinity : found;
  } catch {
    return Infinity;
  }
}

/** What one report of a way to answer loses at most, whoever sees it; infinite for what is none. */
export const loss = (way) => within(losses, way);

/** What all reports from one permanent answer lose at most. */
export const lastingLoss = (way) => within(lasting, way);

/** A fraction as surveys spell it, as 3/2; NaN for anything else, which nothing is within. */
export function fraction(given) {
  const found = /^([0-9]{1,60})(?:\/([0-9]{1,60}))?$/.exec(given);
  return found ? Number(found[1]) / Number(found[2] ?? 1) : NaN;
}

/** Whether a public grid is what it says it is: bounds that rise, and as many equal steps as the way has codes for. */
function grid({ low, high, factor, steps }, way) {
  const [from, to] = [Number(low), Number(high)];
  const has = way.protocol === "hybrid" ? way.piecewise.steps : way.steps;
  return [low, high, factor].every((each) => typeof each === "string") && Number.isFinite(from) && Number.isFinite(to)
    && from < to && has === steps && Number(factor) === steps / (to - from) && Number.isFinite(Number(factor));
}

/** Whether each value that can be named has a code that the way to answer has coins for. */
export function fitting({ values, scale, scales, what, randomizer: way }) {
  try {
    if (what === "vector") return way.protocol === "directions";
    if (what === "word") return ["prefix-tree", "rappor", "count-mean-sketch", "hadamard-count-mean-sketch"].includes(way.protocol);
    if (scales) return way.protocol === "attributes" && scales.length === way.ways.length && scales.every((each, place) => grid(each, way.ways[place]));
    if (scale && way.ways) return (what === "variance" ? way.ways.length === 2 : way.protocol === "epsilon-classes") && way.ways.every((each) => grid(scale, each));
    if (scale) return grid(scale, way);
    return Array.isArray(values) ? values.length === way.domain : values === null;
  } catch {
    return false;
  }
}

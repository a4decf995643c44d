/* Vectors: a seed stands for directions, and one of the nearest is sent more often (vectors.py, directions.py). Importing
 * this adds them to `randomizers` and to what a `Survey` can ask.
 */

import { Refusal, bytesBelow, joined, littleEndian, questions, randomizers } from "./sordino.js";

const MASK = (1n << 64n) - 1n;
const RADIUS = 2 ** 15;

/** The upper half of the table of which two entries make a coordinate; the lower one has the opposite sign. */
const HALF = [
  5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 105, 116, 126, 136, 146, 156, 166, 176, 186, 197, 207, 217, 227, 237, 248,
  258, 268, 279, 289, 299, 310, 320, 331, 341, 352, 362, 373, 384, 394, 405, 416, 427, 438, 448, 459, 470, 481, 492,
  504, 515, 526, 537, 549, 560, 572, 583, 595, 606, 618, 630, 642, 654, 666, 678, 690, 703, 715, 728, 740, 753, 766,
  779, 792, 805, 819, 832, 846, 860, 874, 888, 902, 916, 931, 946, 961, 976, 991, 1007, 1023, 1039, 1055, 1072, 1089,
  1106, 1124, 1142, 1160, 1179, 1198, 1217, 1237, 1258, 1279, 1301, 1323, 1346, 1370, 1395, 1420, 1447, 1474, 1503,
  1534, 1566, 1600, 1636, 1674, 1716, 1761, 1810, 1865, 1927, 1999, 2084, 2191, 2334, 2555, 3070,
];
const TABLE = [...HALF.map((each) => -each).reverse(), ...HALF];

/** Word number `place` of the stream of a seed: SplitMix64. */
function mixed(seed, place) {
  let word = (seed + (place + 1n) * 0x9e3779b97f4a7c15n) & MASK;
  word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return word ^ (word >> 31n);
}

/** The direction of a seed by its number: so many whole numbers. */
function direction(seed, which, dimension) {
  const each = Math.ceil(dimension / 4);
  const found = [];
  for (let place = 0; place < each; place += 1) {
    let word = mixed(seed, BigInt(which * each + place));
    for (let part = 0; part < 4 && found.length < dimension; part += 1, word >>= 16n) {
      found.push(TABLE[Number(word & 255n)] + TABLE[Number((word >> 8n) & 255n)]);
    }
  }
  return found;
}

const squares = (vector) => vector.reduce((total, each) => total + each * each, 0);

/** Which of a seed's directions are the nearest: those with the largest inner products, of equal ones the first. */
function nearest(vector, seed, count, near) {
  const longer = [...vector, Math.floor(Math.sqrt(RADIUS ** 2 - squares(vector)))];
  const products = Array.from({ length: count }, (_, which) =>
    direction(seed, which, longer.length).reduce((total, each, place) => total + each * longer[place], 0));
  const order = products.map((_, which) => which).sort((one, other) => products[other] - products[one] || one - other);
  return new Set(order.slice(0, near));
}

randomizers.directions = ({ directions: count, near, outside, inside }, vector, words) => {
  const seed = words.next();
  const chosen = nearest(vector, seed, count, near);
  const [word, low, high] = [words.next(), BigInt(outside), BigInt(inside)];
  const border = BigInt(count - near) * low;
  const own = word >= border;
  const place = own ? (word - border) / high : word / low;
  const which = own && place >= BigInt(near) ? word - border - BigInt(near) * high : place;
  const among = Array.from({ length: count }, (_, each) => each).filter((each) => chosen.has(each) === own);
  return joined([littleEndian(seed, 8), littleEndian(among[Number(which)], bytesBelow(count))]);
};

/** A vector on the grid: shortened to the length that is asked for, each coordinate rounded towards 0. */
questions.vector = ({ radius, randomizer }, value) => {
  const numbers = Array.isArray(value) && value.every((each) => typeof each === "number" && !Number.isNaN(each));
  if (!numbers || value.length !== randomizer.dimension) {
    throw new Refusal("SRD-C201", "the answer must be a vector of numbers; it is not shown here, and nothing was sent");
  }
  const limited = value.map((each) => Math.min(Math.max(each / Number(radius), -1e9), 1e9));
  const length = Math.max(Math.sqrt(squares(limited)), 1);
  const codes = limited.map((each) => Math.trunc((each / length) * RADIUS) || 0);
  const over = squares(codes) > RADIUS ** 2;
  return codes.map((each) => (over ? each - Math.sign(each) : each));
};

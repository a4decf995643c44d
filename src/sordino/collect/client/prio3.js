/* What a device sends to two servers: its answer in two shares, with a proof. draft-irtf-cfrg-vdaf-18, Section 7.2.1.
 *
 * Guarantee: bit for bit what Python's `sordino.collect.prio3.shard` makes, from the answer, a nonce and random bytes
 * (BigInt, no floats). Prio3Count, Prio3Sum and Prio3Histogram, two servers.
 */

import { joined, littleEndian } from "./sordino.js";

const MASK = (1n << 64n) - 1n;
const SEED = 32;
const RATE = 168;

// TurboSHAKE128 (RFC 9861): Keccak's permutation of 12 rounds, 25 lanes of 64 bits

const [ROTATIONS, LANES, CONSTANTS] = (() => {
  const rotations = new Array(25).fill(0n);
  const lanes = new Array(25).fill(0);
  for (let x = 0; x < 5; x += 1) for (let y = 0; y < 5; y += 1) lanes[y + 5 * ((2 * x + 3 * y) % 5)] = x + 5 * y;
  for (let step = 0, x = 1, y = 0; step < 24; step += 1) {
    rotations[x + 5 * y] = BigInt(((step + 1) * (step + 2)) / 2) & 63n;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  const constants = [];
  let register = 1;
  for (let round = 0; round < 24; round += 1) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) constant |= 1n << BigInt((1 << bit) - 1);
      register <<= 1;
      if (register & 256) register ^= 0x171;
    }
    constants.push(constant);
  }
  return [rotations, lanes, constants.slice(12)];
})();

const turned = (lane, by) => ((lane << by) | (lane >> (64n - by))) & MASK;

function permute(state) {
  for (const constant of CONSTANTS) {
    const columns = [0, 1, 2, 3, 4].map((x) => state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20]);
    for (let x = 0; x < 5; x += 1) {
      const mixed = columns[(x + 4) % 5] ^ turned(columns[(x + 1) % 5], 1n);
      for (let y = 0; y < 25; y += 5) state[x + y] ^= mixed;
    }
    const moved = LANES.map((from) => turned(state[from], ROTATIONS[from]));
    for (let y = 0; y < 25; y += 5) {
      for (let x = 0; x < 5; x += 1) {
        state[x + y] = moved[x + y] ^ (~moved[((x + 1) % 5) + y] & MASK & moved[((x + 2) % 5) + y]);
      }
    }
    state[0] ^= constant;
  }
}

/** A function that returns the next so many bytes of TurboSHAKE128 of a message, with the domain byte 1. */
function stream(message) {
  const state = new Array(25).fill(0n);
  const padded = new Uint8Array((Math.floor((message.length + 1) / RATE) + 1) * RATE);
  padded.set(message);
  padded[message.length] = 1;
  const blocks = message.length + 1 <= padded.length - RATE ? padded.length / RATE - 1 : padded.length / RATE;
  padded[blocks * RATE - 1] ^= 0x80;
  const view = new DataView(padded.buffer);
  for (let block = 0; block < blocks; block += 1) {
    for (let lane = 0; lane < RATE / 8; lane += 1) state[lane] ^= view.getBigUint64(block * RATE + 8 * lane, true);
    permute(state);
  }
  let left = squeezed(state);
  return (count) => {
    while (left.length < count) {
      permute(state);
      left = joined([left, squeezed(state)]);
    }
    const found = left.slice(0, count);
    left = left.slice(count);
    return found;
  };
}

const squeezed = (state) => joined(state.slice(0, RATE / 8).map((lane) => littleEndian(lane, 8)));

// Fields, and polynomials as their values at roots of unity

function power(base, exponent, modulus) {
  let found = 1n;
  for (let square = base % modulus, rest = exponent; rest; rest >>= 1n, square = (square * square) % modulus) {
    if (rest & 1n) found = (found * square) % modulus;
  }
  return found;
}

function field(size, twos, cofactor) {
  const modulus = (1n << BigInt(twos)) * cofactor + 1n;
  const generator = power(7n, cofactor, modulus);
  return {
    size,
    modulus,
    inverse: (value) => power(BigInt(value), modulus - 2n, modulus),
    root: (count) => power(generator, (1n << BigInt(twos)) / BigInt(count), modulus),
    below: (value) => ((value % modulus) + modulus) % modulus,
    encode: (elements) => joined(elements.map((each) => littleEndian(each, size))),
  };
}

const FIELD64 = field(8, 32, 4294967295n);
const FIELD128 = field(16, 66, 4611686018427387897n);

/** The values at all n-th roots of unity of a polynomial with n coefficients. */
function values(over, coefficients, root) {
  const count = coefficients.length;
  if (count === 1) return coefficients;
  const square = (root * root) % over.modulus;
  const even = values(over, coefficients.filter((_, place) => place % 2 === 0), square);
  const odd = values(over, coefficients.filter((_, place) => place % 2 === 1), square);
  const low = [];
  const high = [];
  for (let place = 0, turn = 1n; place < count / 2; place += 1, turn = (turn * root) % over.modulus) {
    const mixed = odd[place] * turn;
    low.push(over.below(even[place] + mixed));
    high.push(over.below(even[place] - mixed));
  }
  return [...low, ...high];
}

/** The values of the same polynomial at twice as many roots of unity. */
function doubled(over, found) {
  const count = found.length;
  const backwards = values(over, found, over.inverse(over.root(count)));
  const scale = over.inverse(count);
  const coefficients = backwards.map((each) => (each * scale) % over.modulus);
  return values(over, [...coefficients, ...new Array(count).fill(0n)], over.root(2 * count));
}

// Circuits: what is valid, how it is encoded, what is proven (Section 7.4)

const products = (inputs) => {
  let sum = 0n;
  for (let place = 0; place < inputs.length; place += 2) sum += inputs[place] * inputs[place + 1];
  return sum;
};

/** 1 for yes, 0 for no. */
export const count = () => ({
  algorithm: 1, over: FIELD64, calls: 1, length: 1, joint: 0, arity: 2,
  gadget: products,
  encode: (value) => [BigInt(value)],
  wires: ([one]) => [[one, one]],
});

/** A whole number up to `most`. */
export function sum(most) {
  const largest = BigInt(most);
  const bits = largest.toString(2).length;
  const rest = (1n << BigInt(bits - 1)) - 1n;
  return {
    algorithm: 2, over: FIELD64, calls: bits, length: bits, joint: 0, arity: 1,
    gadget: ([bit]) => bit * (bit - 1n),
    encode(value) {
      const high = BigInt(value) > rest ? 1n : 0n;
      const left = BigInt(value) - high * (largest - rest);
      return [...Array.from({ length: bits - 1 }, (_, place) => (left >> BigInt(place)) & 1n), high];
    },
    wires: (encoded) => encoded.map((bit) => [bit]),
  };
}

/** One of `bins` values, checked in chunks of so many. */
export function histogram(bins, chunk) {
  const calls = Math.ceil(bins / chunk);
  return {
    algorithm: 4, over: FIELD128, calls, length: bins, joint: calls, arity: 2 * chunk,
    gadget: products,
    encode: (value) => Array.from({ length: bins }, (_, place) => (place === value ? 1n : 0n)),
    wires: (encoded, random) => random.map((seed, call) => {
      const inputs = [];
      for (let place = 0, turn = seed; place < chunk; place += 1, turn = (turn * seed) % FIELD128.modulus) {
        const bin = encoded[call * chunk + place] ?? 0n;
        inputs.push((bin * turn) % FIELD128.modulus, FIELD128.below(bin - 1n));
      }
      return inputs;
    }),
  };
}

// Shares

const USES = { measurement: 1, proof: 2, joint: 3, prove: 4, jointSeed: 6, jointPart: 7 };

/** What is derived for one circuit in one context. */
function derivations({ algorithm, over }, context) {
  const begun = (use, seed, binder) => {
    const tag = joined([Uint8Array.of(18, 0, 0, 0, 0, algorithm, 0, use), context]);
    return stream(joined([littleEndian(tag.length, 2), tag, Uint8Array.of(SEED), seed, binder]));
  };
  return {
    bytes: (use, seed, binder) => begun(use, seed, binder)(SEED),
    elements(use, seed, binder, wanted) {
      const next = begun(use, seed, binder);
      const found = [];
      while (found.length < wanted) {
        const value = next(over.size).reduceRight((total, byte) => (total << 8n) | BigInt(byte), 0n);
        if (value < over.modulus) found.push(value);
      }
      return found;
    },
  };
}

/** How many random bytes `shard` takes. */
export const randomnessSize = (circuit) => SEED * (circuit.joint ? 4 : 2);

/** The public share and both input shares of a value: a function of it, the nonce and random bytes alone. */
export function shard(circuit, context, value, nonce, random) {
  const { over, calls, length } = circuit;
  const derive = derivations(circuit, context);
  const seeds = Array.from({ length: random.length / SEED }, (_, place) => random.slice(SEED * place, SEED * place + SEED));
  const [helper, helperBlind, leaderBlind] = seeds;
  const encoded = circuit.encode(value);
  const helperShare = derive.elements(USES.measurement, helper, Uint8Array.of(1), length);
  const leaderShare = encoded.map((each, place) => over.below(each - helperShare[place]));
  const parts = circuit.joint
    ? [[0, leaderBlind, leaderShare], [1, helperBlind, helperShare]].map(([server, blind, share]) =>
        derive.bytes(USES.jointPart, blind, joined([Uint8Array.of(server), nonce, over.encode(share)])))
    : [];
  const publicShare = joined(parts);
  const joint = circuit.joint
    ? derive.elements(USES.joint, derive.bytes(USES.jointSeed, new Uint8Array(SEED), publicShare), Uint8Array.of(1), circuit.joint)
    : [];
  const proof = prove(circuit, encoded, derive.elements(USES.prove, seeds.at(-1), Uint8Array.of(1), circuit.arity), joint);
  const helperProof = derive.elements(USES.proof, helper, Uint8Array.of(1, 1), proof.length);
  const leaderProof = proof.map((each, place) => over.below(each - helperProof[place]));
  const leader = joined([over.encode(leaderShare), over.encode(leaderProof)]);
  const inputShares = circuit.joint ? [joined([leader, leaderBlind]), joined([helper, helperBlind])] : [leader, helper];
  return { publicShare, inputShares };

  function prove({ arity, gadget, wires }, measurement, wireSeeds, randomness) {
    const rows = [wireSeeds, ...wires(measurement, randomness)];
    let points = 1;
    while (points < 1 + calls) points *= 2;
    while (rows.length < points) rows.push(new Array(arity).fill(0n));
    const fine = Array.from({ length: arity }, (_, wire) => doubled(over, rows.map((row) => row[wire])));
    const product = [];
    for (let place = 0; place < 2 * points - 1; place += 1) {
      product.push(over.below(gadget(fine.map((wire) => wire[place]))));
    }
    return [...wireSeeds, ...product];
  }
}

/* SHA-256, by the standard's text: no page needs to be encrypted for it, as for that of browsers. */

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

/* HPKE (RFC 9180), base mode, single shot: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, by WebCrypto.
 *
 * Guarantee: what is sealed opens for the holder of the key's other half, about the same thing, and nobody else. Every
 * message has a fresh key of its own. Browsers have WebCrypto where pages are encrypted, and on the same machine.
 */

import { Refusal, joined } from "./sordino.js";

const text = (words) => new TextEncoder().encode(words);
const KEM = joined([text("KEM"), Uint8Array.of(0, 0x20)]);
const SUITE = joined([text("HPKE"), Uint8Array.of(0, 0x20, 0, 1, 0, 1)]);
const VERSION = text("HPKE-v1");
const NOTHING = new Uint8Array(0);

async function hmac(key, message) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, message));
}

/** LabeledExtract and LabeledExpand of RFC 9180, Section 4; lengths up to 32 bytes, so one block is enough. */
const extract = (suite, salt, label, given) =>
  hmac(salt.length ? salt : new Uint8Array(32), joined([VERSION, suite, text(label), given]));

async function expand(suite, secret, label, info, length) {
  const said = joined([Uint8Array.of(length >> 8, length & 255), VERSION, suite, text(label), info, Uint8Array.of(1)]);
  return (await hmac(secret, said)).slice(0, length);
}

/** A message sealed for the holder of a public key (32 bytes), about what both sides know. */
export async function seal(publicKey, about, message) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) {
    throw new Refusal("SRD-C716", "this browser seals nothing on a page that is not encrypted; open it by https");
  }
  const other = await subtle.importKey("raw", publicKey, { name: "X25519" }, false, []);
  const own = await subtle.generateKey({ name: "X25519" }, true, ["deriveBits"]);
  const encapsulated = new Uint8Array(await subtle.exportKey("raw", own.publicKey));
  const shared = new Uint8Array(await subtle.deriveBits({ name: "X25519", public: other }, own.privateKey, 256));
  const early = await extract(KEM, NOTHING, "eae_prk", shared);
  const secret = await expand(KEM, early, "shared_secret", joined([encapsulated, publicKey]), 32);
  const context = joined([
    Uint8Array.of(0),
    await extract(SUITE, NOTHING, "psk_id_hash", NOTHING),
    await extract(SUITE, NOTHING, "info_hash", about),
  ]);
  const schedule = await extract(SUITE, secret, "secret", NOTHING);
  const iv = await expand(SUITE, schedule, "base_nonce", context, 12);
  const key = await subtle.importKey("raw", await expand(SUITE, schedule, "key", context, 16), "AES-GCM", false, ["encrypt"]);
  return joined([encapsulated, new Uint8Array(await subtle.encrypt({ name: "AES-GCM", iv }, key, message))]);
}

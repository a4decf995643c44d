/* How a report travels under each trust: as it is; sealed twice, to a shuffler; in two shares, each sealed for a server. */

import { seal } from "./sealing.js";
import { Refusal, Words, fromBase64url, joined, littleEndian } from "./sordino.js";
import { histogram, randomnessSize, shard } from "./prio3.js";

const text = (words) => new TextEncoder().encode(words);

/** A report of a value as bytes. Charges nothing: a device does (`Device.charge`). */
export async function made(survey, value, words = new Words()) {
  if (survey.public.trust !== "two-servers") return survey.report(value, words);
  const { randomizer, parties } = survey.public;
  const code = survey.code(value);
  const id = joined([littleEndian(words.next(), 8), littleEndian(words.next(), 8)]);
  const circuit = histogram(randomizer.domain, randomizer.chunk);
  const random = joined(Array.from({ length: randomnessSize(circuit) / 8 }, () => littleEndian(words.next(), 8)));
  const { publicShare, inputShares } = shard(circuit, survey.digest, code, id, random);
  const sealed = await Promise.all(inputShares.map((share, server) =>
    seal(fromBase64url(parties[server].key), shareAbout(survey, server, id, publicShare), share)));
  return joined([survey.head(), id, publicShare, ...sealed]);
}

const shareAbout = (survey, server, id, publicShare) =>
  joined([text("sordino share 1 "), Uint8Array.of(server), survey.digest, id, publicShare]);

/** Where a report goes, and as which bytes. `reports` is where the survey's service takes some. */
export async function addressed(survey, report, reports) {
  const { trust, parties } = survey.public;
  if (trust !== "shuffled" || !parties) return { url: reports, body: report };
  const [analyser, shuffler] = parties;
  const inner = await seal(fromBase64url(analyser.key), joined([text("sordino report 1 "), survey.digest]), report);
  const body = await seal(fromBase64url(shuffler.key), joined([text("sordino envelope 1 "), survey.digest]), inner);
  return { url: `${shuffler.url}/reports`, body };
}

/** Returns once a report is taken; one that was lost on its way is sent again as it is, and counts once. */
export async function send({ url, body }, code = "") {
  const headers = { "content-type": "application/octet-stream" };
  if (code) headers["sordino-code"] = code;
  let response;
  try {
    response = await fetch(url, { method: "POST", body, headers, credentials: "omit", referrerPolicy: "no-referrer" });
  } catch {
    throw new Refusal("SRD-C715", "the service of this survey does not answer; send the same report later");
  }
  if (response.ok) return;
  const said = await response.json().catch(() => null);
  throw new Refusal(said?.error?.code ?? "SRD-C715", said?.error?.message ?? "the service does not take this");
}

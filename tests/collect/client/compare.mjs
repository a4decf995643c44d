// Reads vectors from a file, computes each payload, and prints how many differ.
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";

const module = pathToFileURL(process.argv[2]);
const { randomizers, sha256, Words } = await import(module.href);
for (const more of ["ways.js", "directions.js"]) await import(new URL(more, module).href);
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
let differ = 0;
for (const [way, value, given, wanted] of JSON.parse(readFileSync(process.argv[3]))) {
  const payload = randomizers[way.protocol](way, value, new Words(bytes(given)));
  differ += Buffer.from(payload).toString("hex") !== wanted;
}
for (let length = 0; length < 200; length += 1) {
  const text = new Uint8Array(length).map((_, place) => place * 7 + length);
  differ += Buffer.from(sha256(text)).toString("hex") !== createHash("sha256").update(text).digest("hex");
}
console.log(differ);

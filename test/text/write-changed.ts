import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { TOP } from "../architecture/top.ts";
import { openNet, tables } from "./voice.ts";

/**
 * Run as `node dist/test/text/write-changed.js`: rewrites test/golden/text/changed.jsonl. Keeps reasons, and prints
 * new lines, whose reason a person adds.
 */
const folder = join(TOP, "test/golden/text");
const rowsOf = (name: string): { line: number; reason: string; text: string; phonemes: string[] }[] =>
  readFileSync(join(folder, name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

const reasons = new Map(rowsOf("changed.jsonl").map(({ line, reason }) => [line, reason]));
const { net, close } = await openNet();
const phonemizer = createPhonemizer(tables, net);
let written = "";
for (const [index, { text, phonemes }] of rowsOf("cases.jsonl").entries()) {
  const line = index + 1;
  const read = await phonemizer.phonemes(text);
  if (read.join("\n") === phonemes.join("\n")) continue;
  const reason = reasons.get(line) ?? "";
  if (reason === "") console.log(`${line}: ${text}\n    ${phonemes.join(" | ")}\n    ${read.join(" | ")}`);
  written += `${JSON.stringify({ line, reason, phonemes: read })}\n`;
}
await close();
writeFileSync(join(folder, "changed.jsonl"), written);

/** Writes the exemplars' vectors for head.py: as they are, and without their last mark, as speech is transcribed. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readActs } from "./read.mjs";
import { CACHE, openVectors } from "./vectors.mjs";

const vectors = await openVectors();
const { acts } = readActs(dirname(fileURLToPath(import.meta.url)));
const lines = [];
for (const [kind, { exemplars }] of acts.entries())
  for (const [exemplar, text] of exemplars.entries())
    for (const said of new Set([text, text.replace(/[.!?…]+$/, "")]))
      lines.push(JSON.stringify({ kind, exemplar, text: said, vector: Array.from(await vectors.of(said)) }));
await vectors.close();
const kinds = acts.map(({ name, answered, polarity }) => ({ name, answered, polarity }));
writeFileSync(join(CACHE, "exemplars.jsonl"), `${JSON.stringify(kinds)}\n${lines.join("\n")}\n`);
console.log(`${acts.length} kinds, ${lines.length} vectors`);

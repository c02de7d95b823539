/** Writes what finetune.py learns from: the kinds with their exemplars, and all turns of the conversations. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { evaluationPrompts, readActs, readConversations, without } from "./read.mjs";
import { CACHE } from "./vectors.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const { acts } = readActs(HERE);
const conversations = without(
  readConversations([join(HERE, "pairs"), join(HERE, "conversations")]),
  evaluationPrompts(HERE, []),
);
const turns = [...new Set(conversations.flatMap(({ turns }) => turns.slice(0, -1).map(([, text]) => text)))];
mkdirSync(CACHE, { recursive: true });
writeFileSync(
  join(CACHE, "texts.json"),
  JSON.stringify({
    acts: acts.map(({ name, answered, polarity, exemplars }) => ({ name, answered, polarity, exemplars })),
    turns,
  }),
);
console.log(`${acts.length} kinds, ${turns.length} turns`);

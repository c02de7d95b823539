/**
 * Builds `replies/` from what people can read and extend: kinds of turns with their lines (`acts/`), tones
 * with theirs (`tones/`), and conversations (`pairs/` and `conversations/`). Needs `npm run build` and `replies/encoder.gguf`; six minutes of one core, less
 * when repeated. Repeats to the bit on one machine.
 *
 *     node training/replies/build.mjs [PROMPTS.jsonl …]
 *
 * Conversations that ask what one of the prompts asks are left out: by them the replies are judged.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projected, readReplyBook } from "../../dist/src/writers/small-talk/canned-replies.js";
import { guessOf, isAsked } from "../../dist/src/writers/small-talk/classify-turn.js";
import {
  borrowedWords,
  contentWords,
  datesAndNumbers,
} from "../../dist/src/writers/small-talk/content-words.js";
import { replyBookFiles } from "../../dist/test/writers/small-talk/canned-replies-files.js";
import { claimsToBeAPerson } from "./claims.mjs";
import { leadingDirections } from "./directions.mjs";
import { namesAmong } from "./names.mjs";
import { evaluationPrompts, readActs, readConversations, readTones, without } from "./read.mjs";
import { CACHE, openVectors } from "./vectors.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "../../replies");
/** Of the bank's vectors. */
const RANK = 96;
/** A reply that takes up more of its own conversation than so many words fits hardly any other. */
const MOST_BORROWED = 3;

const vectors = await openVectors();

const { acts, unknown } = readActs(HERE);
const tones = readTones(HERE);
const prompts = evaluationPrompts(HERE, process.argv.slice(2));
const conversations = without(readConversations([join(HERE, "pairs"), join(HERE, "conversations")]), prompts);
console.log(`${acts.length} kinds, ${conversations.length} conversations`);

// What finetune.py learnt, a row a kind and a row a tone; after a fresh checkout, as it was built last.
const heads = await headsLearnt();
for (const [learnt, now] of [
  [heads.acts, acts],
  [heads.tones, tones],
])
  if (learnt.names.join() !== now.map(({ name }) => name).join())
    throw new Error("the kinds or tones have changed since they were learnt: run finetune.py again");

// The bank.
const names = namesAmong(conversations.flatMap(({ turns }) => turns.map(([, text]) => text)));
const entries = [];
const seen = new Set();
let left = 0;
let tied = 0;
for (const { turns, isScene } of conversations) {
  turns.forEach(([role, reply], n) => {
    if (role !== "<" || n === 0) return;
    const [newest, previous] = [turns[n - 1][1], n > 1 ? turns[n - 2][1] : null];
    const key = `${newest}\n${reply}\n${previous}`.toLowerCase();
    if (seen.has(key)) return;
    seen.add(key);
    const claims = claimsToBeAPerson(reply);
    if (claims && !isScene) {
      left++;
      return;
    }
    const isAnswer = isAsked(newest);
    const said = turns.slice(0, n).map(([, text]) => text);
    const borrowed = [
      ...new Set([...borrowedWords(reply, said), ...(isAnswer ? [] : datesAndNumbers(reply))]),
    ];
    if (borrowed.length > MOST_BORROWED || (borrowed.length === MOST_BORROWED && previous !== null)) tied++;
    else {
      // "Jane Austen did" names nothing of the question, and answers that one alone.
      const asksAbout = isAnswer ? [...contentWords(newest)].filter((stem) => names.has(stem)) : [];
      const tiedTo = [...new Set([...borrowed, ...asksAbout])];
      entries.push({ reply, newest, previous, borrowed: tiedTo, isInRole: claims, isAnswer });
    }
  });
}
console.log(
  `${entries.length} replies; left out: ${left} that claim too much, ${tied} that are tied to their conversation`,
);
for (const entry of entries) {
  entry.vector = await vectors.of(entry.newest);
  entry.before = entry.previous === null ? null : await vectors.of(entry.previous);
}
const projection = leadingDirections(
  entries.map(({ vector }) => vector),
  RANK,
);
const rows = (vectors) => {
  const matrix = new Int8Array(vectors.length * RANK);
  vectors.forEach((vector, row) => {
    matrix.set(projected(projection, vector), row * RANK);
  });
  return matrix;
};
let previousRows = 0;
const numbers = {
  actWeights: Float32Array.from(heads.acts.weights),
  actBiases: Float32Array.from(heads.acts.biases),
  toneWeights: Float32Array.from(heads.tones.weights),
  toneBiases: Float32Array.from(heads.tones.biases),
  projection,
  newest: rows(entries.map(({ vector }) => vector)),
  previous: Int32Array.from(entries, ({ before }) => (before === null ? -1 : previousRows++)),
  previousVectors: rows(entries.flatMap(({ before }) => (before === null ? [] : [before]))),
};
const book = {
  encoder: vectors.file,
  acts: acts.map(({ name, answered, polarity, lines }, n) => ({
    name,
    answered,
    polarity,
    least: heads.acts.least[n],
    lines,
  })),
  tones,
  unknown,
  bank: entries.map(({ reply, borrowed, vector, isInRole, isAnswer }) => {
    const odds = guessOf({ acts, numbers }, [vector]).tones;
    return { reply, borrowed, tone: odds.indexOf(Math.max(...odds)), isInRole, isAnswer };
  }),
  numbers,
};
for (const [name, bytes] of replyBookFiles(book)) {
  writeFileSync(join(OUT, name), bytes);
  console.log(`${name}: ${bytes.length} bytes`);
}
await vectors.close();

async function headsLearnt() {
  const path = join(CACHE, "heads.json");
  if (existsSync(path)) {
    const { acts, tones } = JSON.parse(readFileSync(path, "utf8"));
    for (const head of [acts, tones]) head.weights = head.weights.flat();
    return { acts, tones };
  }
  const { acts, tones, numbers } = await readReplyBook(OUT);
  return {
    acts: {
      names: acts.map(({ name }) => name),
      least: acts.map(({ least }) => least),
      weights: numbers.actWeights,
      biases: numbers.actBiases,
    },
    tones: {
      names: tones.map(({ name }) => name),
      weights: numbers.toneWeights,
      biases: numbers.toneBiases,
    },
  };
}

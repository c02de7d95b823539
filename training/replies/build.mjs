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
import { projected, readCannedReplies } from "../../dist/src/writers/small-talk/canned-replies.js";
import { classifyTurn, isQuestion } from "../../dist/src/writers/small-talk/classify-turn.js";
import {
  contentWords,
  datesAndNumbers,
  wordsFromContext,
} from "../../dist/src/writers/small-talk/content-words.js";
import { cannedRepliesFiles } from "../../dist/test/writers/small-talk/canned-replies-files.js";
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
const MAX_CONTEXT_WORDS = 3;

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
    const isAnswer = isQuestion(newest);
    const said = turns.slice(0, n).map(([, text]) => text);
    const contextWords = [
      ...new Set([...wordsFromContext(reply, said), ...(isAnswer ? [] : datesAndNumbers(reply))]),
    ];
    if (
      contextWords.length > MAX_CONTEXT_WORDS ||
      (contextWords.length === MAX_CONTEXT_WORDS && previous !== null)
    )
      tied++;
    else {
      // "Jane Austen did" names nothing of the question, and answers that one alone.
      const asksAbout = isAnswer ? [...contentWords(newest)].filter((stem) => names.has(stem)) : [];
      const tiedTo = [...new Set([...contextWords, ...asksAbout])];
      entries.push({ reply, newest, previous, contextWords: tiedTo, isInRole: claims, isAnswer });
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
const matrices = {
  actWeights: Float32Array.from(heads.acts.weights),
  actBiases: Float32Array.from(heads.acts.biases),
  toneWeights: Float32Array.from(heads.tones.weights),
  toneBiases: Float32Array.from(heads.tones.biases),
  projection,
  newest: rows(entries.map(({ vector }) => vector)),
  previous: Int32Array.from(entries, ({ before }) => (before === null ? -1 : previousRows++)),
  previousVectors: rows(entries.flatMap(({ before }) => (before === null ? [] : [before]))),
};
const replies = {
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
  bank: entries.map(({ reply, contextWords, vector, isInRole, isAnswer }) => {
    const odds = classifyTurn({ acts, matrices }, [vector]).tones;
    return { reply, contextWords, tone: odds.indexOf(Math.max(...odds)), isInRole, isAnswer };
  }),
  matrices,
};
for (const [name, bytes] of cannedRepliesFiles(replies)) {
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
  const { acts, tones, matrices } = await readCannedReplies(OUT);
  return {
    acts: {
      names: acts.map(({ name }) => name),
      least: acts.map(({ least }) => least),
      weights: matrices.actWeights,
      biases: matrices.actBiases,
    },
    tones: {
      names: tones.map(({ name }) => name),
      weights: matrices.toneWeights,
      biases: matrices.toneBiases,
    },
  };
}

/**
 * What somebody told and what they ask then, a talk a line of `told/*.txt`:
 *
 *     what they say / what they say next => what they ask | the clause that answers, or -
 *
 * as rows for learning which clause answers: `{ features, verdict, fold }`, verdict `a` or `n`. The questions of other talks
 * (`talks/*.jsonl`), which ask for nothing that was told, teach what is none; so do clauses that were judged as replies
 * (`verdicts/*.jsonl`). Needs `npm run build`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentWords } from "../../dist/src/writers/heard/content-words.js";
import { isAsked } from "../../dist/src/writers/heard/turn-form.js";
import { openLlama } from "../../dist/src/writers/llama/llama-runtime.js";
import { SentenceEncoder } from "../../dist/src/writers/llama/sentence-encoder.js";
import { evidenceOf, recallable } from "../../dist/src/writers/replies/memory/recall.js";
import { statementsOf } from "../../dist/src/writers/replies/memory/statements.js";
import { unitVector } from "../../dist/src/writers/replies/open-reply-source.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const ENCODER = join(HERE, "../../replies/encoder.gguf");
/** Of the words of a clause, how many make it the one. */
const ENOUGH = 0.7;

/** A turn with the clauses that may answer it: `{ asked, answers, file, fold, clauses: [{ text, features, verdict }] }`. */
export async function recallTurns(folds) {
  const encoder = await SentenceEncoder.open(await openLlama(), ENCODER);
  const signal = new AbortController().signal;
  const turns = [];
  for (const { file, history, asked, answer, judged } of [
    ...toldTalks(),
    ...otherTalks(),
    ...judgedTurns(),
  ]) {
    const found = recallable(asked, history.length - 1, statementsOf(history, "0"));
    const vector = await unitVector(encoder, asked, signal);
    const clauses = [];
    for (const { text, saidBack, features } of found) {
      const other = await unitVector(encoder, text, signal);
      const nearness = vector.reduce((sum, value, n) => sum + value * other[n], 0);
      if (judged !== undefined && !judged.has(saidBack)) continue;
      const answers =
        judged === undefined ? answer !== null && isThat(text, answer) : judged.get(saidBack) === "a";
      clauses.push({
        text,
        saidBack,
        features: evidenceOf(features, nearness),
        verdict: answers ? "a" : "n",
      });
    }
    if (clauses.length > 0)
      turns.push({ asked, answer, file, clauses, fold: foldOf(history[0].text, folds) });
  }
  await encoder.close();
  return turns;
}

function* toldTalks() {
  for (const file of files("told", ".txt")) {
    for (const line of readFileSync(join(HERE, "told", file), "utf8")
      .trim()
      .split("\n")) {
      const [told, rest] = line.split(" => ");
      const [asked, answer] = rest.split(" | ");
      const turns = [...told.split(" / "), asked];
      const history = turns.flatMap((text, n) => [
        ...(n > 0 ? [{ speaker: "1", text: "All right.", audio: null }] : []),
        { speaker: "0", text, audio: null },
      ]);
      yield { file, history, asked, answer: answer === "-" ? null : answer };
    }
  }
}

function* otherTalks() {
  for (const file of files("talks", ".jsonl")) {
    for (const line of readFileSync(join(HERE, "talks", file), "utf8")
      .trim()
      .split("\n")) {
      const { turns } = JSON.parse(line);
      for (const [k, { u, kind }] of turns.entries()) {
        if (k === 0 || !isAsked(u) || kind === "memory") continue;
        const history = turns
          .slice(0, k)
          .flatMap((turn) => [
            { speaker: "0", text: turn.u, audio: null },
            { speaker: "1", text: turn.a, audio: null },
          ])
          .concat({ speaker: "0", text: u, audio: null });
        yield { file, history, asked: u, answer: null };
      }
    }
  }
}

/** Turns to which clauses were offered, with the verdict on each. */
function* judgedTurns() {
  for (const file of files("verdicts", ".jsonl")) {
    for (const line of readFileSync(join(HERE, "verdicts", file), "utf8")
      .trim()
      .split("\n")) {
      const { before, newest, offers } = JSON.parse(line);
      const judged = new Map(
        offers.flatMap(({ origin, text, verdict }) => (origin === "told" ? [[text, verdict]] : [])),
      );
      if (judged.size === 0) continue;
      const answer = [...judged].find(([, verdict]) => verdict === "a")?.[0] ?? null;
      yield { file, history: historyOf(before, newest), asked: newest, answer, judged };
    }
  }
}

/** Turns as `verdicts/*.jsonl` has them: `P: ` is the other person, `V: ` us. */
export function historyOf(before, newest) {
  return [...before, `P: ${newest}`].map((turn) => ({
    speaker: turn.startsWith("P: ") ? "0" : "1",
    text: turn.slice(3),
    audio: null,
  }));
}

function files(dir, ending) {
  return readdirSync(join(HERE, dir))
    .filter((name) => name.endsWith(ending))
    .sort();
}

function isThat(clause, answer) {
  const [one, other] = [plainOf(clause), plainOf(answer)];
  if (one.includes(other) || other.includes(one)) return true;
  const [said, wanted] = [contentWords(clause), contentWords(answer)];
  return wanted.size > 0 && [...wanted].filter((word) => said.has(word)).length / wanted.size >= ENOUGH;
}

function plainOf(text) {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} ]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** By what was told first, so that a talk is not asked of what it taught. */
function foldOf(text, folds) {
  return [...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % folds;
}

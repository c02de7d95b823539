/**
 * Learns from verdicts how good a reply of each origin is: `replies/replies.json` gets a weight for each origin and feature
 * (`src/writers/replies/reckoning.ts`). Needs `npm run build`. Says first what would have been said, by weights that were
 * learnt on other talks.
 *
 *     node training/replies/reckon.mjs [--dry]
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { featureCount, featuresOf, ORIGINS, worthOf } from "../../dist/src/writers/replies/reckoning.js";
import { talkOf } from "../../dist/src/writers/replies/talk.js";
import { readActs, readTones } from "./read.mjs";
import { historyOf, recallTurns } from "./recall.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const VERDICTS = join(HERE, "verdicts");
/** What a verdict is worth: acceptable, borderline, bad, and contradicting what was told. */
const WORTH = { a: 1, b: 0.4, n: 0, x: 0 };
/** What a line is worth at most that asks to hear more, whatever was told. */
const NEUTRAL = 0.5;
/** What is thought of an origin before anything is known of it, and how much that counts. */
const FIRST = {
  corrected: 0.8,
  desk: 0.7,
  whole: 0.75,
  told: 0.05,
  limit: 0.5,
  noted: 0.45,
  honest: 0.38,
  asked: 0.33,
  view: 0.36,
  doubt: 0.5,
};
const PENALTY = 0.5;
/** Of fewer verdicts nothing is learnt. */
const LEAST = 30;
const FOLDS = 5;
/** About what something else is worth that might be said. */
const SURE = 0.4;

const SAID_TO_A_KIND = new Set(["form", "kind", "tone", "neutral"]);
/** Those that are there still. */
const lines = new Set([...readActs(HERE).acts, ...readTones(HERE)].flatMap((each) => each.lines));
const neutral = new Set(readTones(HERE).find(({ name }) => name === "plain").lines);
const turns = readdirSync(VERDICTS)
  .filter((name) => name.endsWith(".jsonl"))
  .flatMap((name) =>
    readFileSync(join(VERDICTS, name), "utf8")
      .trim()
      .split("\n")
      .map((line, n) => turnOf(JSON.parse(line), name, n)),
  );

const recalls = await recallTurns(FOLDS);
for (const file of new Set(turns.map((turn) => turn.file))) tell(file);
tellRecall();
const reckoning = learnt(turns);
for (const origin of ORIGINS)
  console.log(origin.padEnd(10), reckoning[origin].map((x) => x.toFixed(2).padStart(6)).join(""));
if (!process.argv.includes("--dry")) {
  const path = join(HERE, "../../replies/replies.json");
  const { encoder, acts, tones, forms, sha256, lengths } = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(
    path,
    `${JSON.stringify({ encoder, acts, tones, forms, reckoning, sha256, lengths }, null, 1)}\n`,
  );
}

function turnOf({ id, before, newest, offers }, file, n) {
  const talk = talkOf({
    history: historyOf(before, newest),
    speaker: "1",
    temperature: 0,
    topK: null,
    seed: 0n,
  });
  const fold =
    [...`${file}/${String(id).split(".")[0]}`].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % FOLDS;
  return {
    file,
    fold,
    n,
    follows: before.length > 0,
    // Which of what was told answers is learnt apart (`recall.mjs`).
    offers: offers
      .filter(({ origin, text }) => origin !== "told" && (!SAID_TO_A_KIND.has(origin) || lines.has(text)))
      .map((offer) => ({ ...offer, features: featuresOf(offer, talk), worth: verdictOf(offer) })),
    ready: talk,
  };
}

/** What an offer is worth. Of a line that does for anything at all judges think very differently. */
function verdictOf({ text, verdict }) {
  return verdict === "a" && neutral.has(text) ? NEUTRAL : WORTH[verdict];
}

/** Logistic regression of each origin towards what was thought first, by Newton's method. */
function learnt(from, recalled = recalls) {
  return Object.fromEntries(
    ORIGINS.map((origin) => {
      const rows =
        origin === "told"
          ? recalled.flatMap(({ clauses }) => clauses)
          : from.flatMap(({ offers }) => offers.filter((offer) => offer.origin === origin));
      const first = FIRST[origin] ?? 0.25;
      const start = [Math.log(first / (1 - first)), ...Array(featureCount(origin) - 1).fill(0)];
      // What a model writes to a turn that was made whole: judged apart, five of nine.
      if (origin === "model") start[1] = 1.3;
      return [origin, rows.length < LEAST ? start : newton(rows, start)];
    }).map(([origin, weights]) => [origin, weights.map((x) => Number(x.toFixed(3)))]),
  );
}

function newton(rows, start) {
  let weights = [...start];
  for (let step = 0; step < 200; step++) {
    const gradient = weights.map((w, n) => penaltyOf(n) * (w - start[n]));
    const hessian = weights.map((_, n) => weights.map((__, m) => (n === m ? penaltyOf(n) : 0)));
    for (const { features, verdict, worth = WORTH[verdict] } of rows) {
      const p = 1 / (1 + Math.exp(-features.reduce((sum, x, n) => sum + x * weights[n], 0)));
      // Whoever is contradicted minds it more.
      const weight = verdict === "x" ? 2 : 1;
      for (let n = 0; n < features.length; n++) {
        if (features[n] === 0) continue;
        gradient[n] += weight * features[n] * (p - worth);
        for (let m = 0; m < features.length; m++)
          hessian[n][m] += weight * features[n] * features[m] * p * (1 - p);
      }
    }
    // No further at once than the curve may be trusted.
    const change = solved(hessian, gradient).map((x) => Math.max(-1, Math.min(1, x)));
    weights = weights.map((w, n) => w - change[n]);
    if (Math.max(...change.map(Math.abs)) < 1e-6) break;
  }
  return weights;
}

function penaltyOf(n) {
  return n === 0 ? 0.05 * PENALTY : PENALTY;
}

/** Gauss's elimination. */
function solved(matrix, vector) {
  const rows = matrix.map((row, n) => [...row, vector[n]]);
  for (let n = 0; n < rows.length; n++) {
    const pivot = rows
      .slice(n)
      .reduce((best, row, k) => (Math.abs(row[n]) > Math.abs(rows[best][n]) ? n + k : best), n);
    [rows[n], rows[pivot]] = [rows[pivot], rows[n]];
    for (let m = n + 1; m < rows.length; m++) {
      const factor = rows[m][n] / rows[n][n];
      for (let k = n; k <= rows.length; k++) rows[m][k] -= factor * rows[n][k];
    }
  }
  const x = Array(rows.length).fill(0);
  for (let n = rows.length - 1; n >= 0; n--)
    x[n] =
      (rows[n][rows.length] - rows[n].slice(n + 1, -1).reduce((sum, a, k) => sum + a * x[n + 1 + k], 0)) /
      rows[n][n];
  return x;
}

/** What would have been said back of what was told, where it is likelier than not that it answers. */
function tellRecall() {
  const count = { answerable: 0, right: 0, wrong: 0 };
  for (let fold = 0; fold < FOLDS; fold++) {
    const { told } = learnt(
      [],
      recalls.filter((turn) => turn.fold !== fold),
    );
    for (const { clauses, answer } of recalls.filter((turn) => turn.fold === fold)) {
      const worth = ({ features }) => worthOf({ evidence: features, origin: "told" }, null, { told });
      const [best] = clauses.toSorted((a, b) => worth(b) - worth(a));
      if (answer !== null) count.answerable++;
      if (worth(best) > SURE) count[best.verdict === "a" ? "right" : "wrong"]++;
    }
  }
  const { answerable, right, wrong } = count;
  console.log(
    `told: ${recalls.length} turns, ${answerable} ask for it, ${right} answered by it, ${wrong} by something else`,
  );
}

/** What would have been said to the turns of a file. */
function tell(file) {
  const count = {
    opening: { a: 0, b: 0, n: 0, x: 0, model: 0 },
    following: { a: 0, b: 0, n: 0, x: 0, model: 0 },
  };
  const by = {};
  for (let fold = 0; fold < FOLDS; fold++) {
    const weights = learnt(turns.filter((turn) => turn.fold !== fold));
    for (const turn of turns.filter((each) => each.file === file && each.fold === fold)) {
      const worth = (offer) => worthOf(offer, turn.ready, weights);
      const ready = turn.offers.filter(({ origin }) => origin !== "model");
      const written = turn.offers.find(({ origin }) => origin === "model");
      let best = ready.toSorted((a, b) => worth(b) - worth(a))[0];
      const expected = worthOf({ origin: "model", text: "", nearness: 0, context: 0 }, turn.ready, weights);
      const counted = count[turn.follows ? "following" : "opening"];
      if (written !== undefined && (best === undefined || expected > worth(best))) {
        counted.model++;
        if (best === undefined || worth(written) > worth(best)) best = written;
      }
      if (best === undefined) continue;
      counted[best.verdict]++;
      by[best.origin] ??= { a: 0, b: 0, n: 0, x: 0 };
      by[best.origin][best.verdict]++;
    }
  }
  for (const [name, { a, b, n, x, model }] of Object.entries(count)) {
    const all = a + b + n + x;
    if (all > 0)
      console.log(
        `${file}, ${name}: ${all} turns, acceptable ${(a / all).toFixed(3)}, borderline ${(b / all).toFixed(3)}, bad ${((n + x) / all).toFixed(3)}, ${x} of them contradict, model asked ${(model / all).toFixed(2)}`,
      );
  }
  console.log(
    Object.entries(by)
      .map(([origin, { a, b, n, x }]) => `${origin} ${a}/${b}/${n + x}`)
      .join(", "),
  );
}

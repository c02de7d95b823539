/**
 * Says how near turns that are made whole come to what their authors wrote them out as: the F1 of content words, over the
 * follow-ups of `talks/` that ask something. Needs `npm run build`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentWords } from "../../dist/src/writers/heard/content-words.js";
import { isAsked } from "../../dist/src/writers/heard/turn-form.js";
import { wholeTurns } from "../../dist/src/writers/heard/whole-turn.js";

const TALKS = join(dirname(fileURLToPath(import.meta.url)), "talks");
for (const name of readdirSync(TALKS).sort()) {
  const rows = readFileSync(join(TALKS, name), "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => {
      const { turns } = JSON.parse(line);
      return turns.flatMap(({ u, whole }, n) => {
        if (n === 0 || !whole || whole === u || !isAsked(u)) return [];
        const history = turns
          .slice(0, n)
          .flatMap(({ u: theirs, a: ours }) => [theirs, ours])
          .concat(u)
          .map((text, turn) => ({ speaker: `${turn % 2}`, text, audio: null }));
        const [made = u] = wholeTurns(history, "1").turns;
        return [{ isMade: made !== u, before: likeness(u, whole), after: likeness(made, whole) }];
      });
    });
  const mean = (value) => (rows.reduce((sum, row) => sum + value(row), 0) / rows.length).toFixed(2);
  console.log(
    `${name}: ${rows.length} follow-ups, ${mean(({ isMade }) => (isMade ? 1 : 0))} made whole, F1 ${mean(({ before }) => before)} before, ${mean(({ after }) => after)} after`,
  );
}

function likeness(one, other) {
  const [a, b] = [contentWords(one), contentWords(other)];
  const shared = [...a].filter((word) => b.has(word)).length;
  return a.size + b.size === 0 ? 1 : (2 * shared) / (a.size + b.size);
}

import { contentWords } from "../../dist/src/writers/small-talk/content-words.js";

/**
 * The stems of words that are names: written with a capital within sentences more often than without. People who type in
 * haste write none, so whether "hamlet" is a name is learnt from everybody's texts together.
 */
export function namesAmong(texts) {
  const counts = new Map();
  for (const text of texts) {
    for (const [, before, word] of text.matchAll(/(^|[.!?:"“] *|\s)(\p{L}[\p{L}'’]*)/gu)) {
      if (before.trim() !== "" || before === "") continue;
      const [stem] = contentWords(word);
      if (stem === undefined) continue;
      const [names = 0, others = 0] = counts.get(stem) ?? [];
      counts.set(stem, /^\p{Lu}/u.test(word) ? [names + 1, others] : [names, others + 1]);
    }
  }
  return new Set([...counts].filter(([, [names, others]]) => names > others).map(([stem]) => stem));
}

import type { Phrase } from "./phrases.ts";
import { DIMENSIONS, meaningOf, setOf, TRAITS, type Trait } from "./traits.ts";

/** A speed as a number: "at 0.8x", "80% speed", "30% slower", "1.5 times faster", "twice as fast", "half the speed". */
export function rateAt(words: readonly string[], at: number): Phrase | null {
  const found = factorAt(words, at);
  if (found === null || found.factor < LEAST || found.factor > MOST || found.factor === 1) return null;
  const trait: Trait = found.factor < 1 ? "slower" : "faster";
  const strength = Math.log(found.factor) / Math.log(TRAITS[trait].figures.tempo);
  const isAllOfIt = found.factor >= LEAST_TEMPO && found.factor <= MOST_TEMPO;
  return { meaning: { trait, strength, isAllOfIt }, count: found.count };
}

const [LEAST, MOST] = [0.1, 10];
/** What a manner's tempo is kept within: see `figures.ts`. */
const [LEAST_TEMPO, MOST_TEMPO] = [0.75, 1.25];

function factorAt(words: readonly string[], at: number): { factor: number; count: number } | null {
  const word = words[at]!;
  const multiple =
    MULTIPLES.get(word) ?? Number(/^(\d+(?:\.\d+)?)(?:x|times)$/.exec(word)?.[1] ?? Number.NaN);
  const percent = Number(/^(\d+(?:\.\d+)?)%$/.exec(word)?.[1] ?? Number.NaN);
  const next = words[at + 1] ?? "";
  if (!Number.isNaN(percent)) {
    const trait = meaningOf(next)?.trait;
    if (trait === "slower") return { factor: 1 - percent / 100, count: 2 };
    if (trait === "faster") return { factor: 1 + percent / 100, count: 2 };
  }
  const factor = Number.isNaN(multiple) ? percent / 100 : multiple;
  if (Number.isNaN(factor)) {
    // "Speed: 0.8", "a rate of 1.2"
    const plain = /^\d\.\d+$/.test(word) && isOfSpeed(words, at - 1, -1);
    return plain ? { factor: Number(word), count: 1 } : null;
  }
  if (next === "as") {
    const { trait } = meaningOf(words[at + 2] ?? "") ?? {};
    if (trait === "faster") return { factor, count: 3 };
    if (trait === "slower" && factor > 1) return { factor: 1 / factor, count: 3 };
    return null;
  }
  const { trait } = meaningOf(next) ?? {};
  if (trait === "faster") return { factor: factor > 1 ? factor : 1 + factor, count: 2 };
  if (trait === "slower" && factor > 1) return { factor: 1 / factor, count: 2 };
  if (isOfSpeed(words, at + 1, 1) || isOfSpeed(words, at - 1, -1) || isAlone(words, at))
    return { factor, count: 1 };
  return null;
}

/** "The normal speed" behind it, "speed of" before it. */
function isOfSpeed(words: readonly string[], from: number, step: 1 | -1): boolean {
  let at = from;
  while (OF_SPEED.has(words[at] ?? "")) at += step;
  return DIMENSIONS.get(words[at] ?? "") === DIMENSIONS.get("speed");
}

/** "At 0.8x". */
function isAlone(words: readonly string[], at: number): boolean {
  return (
    words[at]!.endsWith("x") &&
    words.every((word, other) => other === at || OF_SPEED.has(word) || SPEAKING.has(word))
  );
}

const OF_SPEED = setOf("the your of at to is a normal usual regular original it its");
const SPEAKING = setOf("speak talk say read it this please go run play");
const MULTIPLES: ReadonlyMap<string, number> = new Map([
  ["half", 0.5],
  ["twice", 2],
  ["double", 2],
  ["triple", 3],
]);

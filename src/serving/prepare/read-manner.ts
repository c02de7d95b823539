import type { VoiceSupport } from "../../core/model-card.ts";
import type { Manner, RequestedManner } from "../../core/script.ts";

type Row = readonly [
  tempo: number,
  pitch: number,
  range: number,
  pause: number,
  levelDb: number,
  words: string,
];

/**
 * Factors of each trait, its level in dB, and other words for it. The directions follow Scherer's review of vocal emotion
 * (Speech Communication 40, 2003, table 2); the amounts cost hardly any intelligibility (`bench/rows/manners.ts`).
 * The table in docs/voices.md has the same figures.
 */
export const TRAITS: ReadonlyMap<string, Row> = new Map<string, Row>([
  ["slower", [0.85, 1, 1, 1.2, 0, "slow slowly"]],
  ["faster", [1.15, 1, 1, 0.8, 0, "fast quick quicker quickly"]],
  ["quieter", [1, 1, 1, 1, -6, "quiet quietly soft softer softly"]],
  ["louder", [1, 1, 1, 1, 4, "loud loudly"]],
  ["lower", [1, 0.9, 1, 1, 0, "low deep deeper"]],
  ["higher", [1, 1.11, 1, 1, 0, "high"]],
  ["livelier", [1.03, 1, 1.3, 1, 0, "lively expressive"]],
  ["flatter", [1, 1, 0.6, 1, 0, "flat monotone"]],
  ["cheerful", [1.05, 1.07, 1.25, 0.9, 1, "cheerfully happy happily positive"]],
  ["friendly", [1.02, 1.03, 1.12, 0.95, 0.5, "warm warmly"]],
  ["sad", [0.88, 0.94, 0.7, 1.3, -3, "sadly"]],
  ["excited", [1.12, 1.1, 1.35, 0.75, 2, "excitedly enthusiastic energetic"]],
  ["calm", [0.92, 0.97, 0.85, 1.25, -2, "calmly relaxed"]],
  ["serious", [0.95, 0.94, 0.8, 1.15, 0, "seriously"]],
  ["gentle", [0.94, 1, 0.9, 1.15, -3, "gently"]],
  ["angry", [1.06, 1.03, 1.3, 0.85, 4, "angrily"]],
]);
const TRAIT_BY_WORD = new Map(
  [...TRAITS].flatMap(([trait, row]) => [trait, ...row[5].split(" ")].map((word) => [word, trait] as const)),
);
const DEGREES = new Map([
  ...["slightly", "somewhat", "bit", "little"].map((word) => [word, 0.5] as const),
  ...["much", "very", "really", "extremely"].map((word) => [word, 1.6] as const),
]);
/** Words that ask for nothing. */
const FILLERS = new Set(
  "a an and be down in it like more pitched please say speak talk the tone voice with".split(" "),
);
const NEGATION = /^(?:not|no|never|nor|without|avoid|stop|dont|cannot)$|n't$/;

export interface ReadManner {
  readonly asked: RequestedManner;
  /** Traits that are applied: `much slower`, `slightly cheerful`. */
  readonly followed: readonly string[];
  /** Clauses that change nothing, in ASCII letters, digits and spaces. */
  readonly unfollowed: readonly string[];
}

/**
 * Parses instructions on how to speak a text; `null` if they ask for nothing. A clause counts only if every word in
 * it is known, and no clause counts after a negation in its sentence, so the worst error is to change nothing.
 */
export function readManner(instructions = ""): ReadManner | null {
  const words = instructions.trim();
  if (words === "") return null;
  const asked = new Map<string, number>();
  const unfollowed = new Set<string>();
  const text = words
    .replaceAll(/[’‘ʼ´`]/g, "'")
    .normalize("NFKD")
    .toLowerCase();
  // The lines of a list belong to the sentence before them: "Avoid:\n- loud".
  for (const sentence of text.split(/[.;!?]|\n(?!\s*[-*•])/)) {
    let isNegated = false;
    for (const clause of sentence.split(/[,:\n]/)) {
      const written = clause.match(/[\p{L}\p{N}\p{M}']+/gu) ?? [];
      isNegated ||= written.some((word) => NEGATION.test(word));
      if (isNegated || !written.every(isKnown)) unfollowed.add(printable(written));
      else readTraits(written, asked);
    }
  }
  unfollowed.delete("");
  const followed = [...asked].map(([trait, strength]) => describeTrait(trait, strength));
  return { asked: { words, figures: combine(asked) }, followed, unfollowed: [...unfollowed] };
}

/** Reports what instructions do, or `none`, and what they do not: at most 500 characters of ASCII, for a header. */
export function mannerHeader({ followed, unfollowed }: ReadManner, takes: VoiceSupport["manner"]): string {
  if (takes === "words") return "passed on";
  const [done, left] = takes === "figures" ? [followed, unfollowed] : [[], [...followed, ...unfollowed]];
  const rest = left.length === 0 ? "" : `; not followed: ${left.join(", ")}`;
  return `${done.join(", ") || "none"}${rest}`.slice(0, 500).trimEnd();
}

function isKnown(word: string): boolean {
  return TRAIT_BY_WORD.has(word) || DEGREES.has(word) || FILLERS.has(word);
}

function readTraits(words: readonly string[], asked: Map<string, number>): void {
  let strength = 1;
  for (const word of words) {
    const trait = TRAIT_BY_WORD.get(word);
    if (trait !== undefined) asked.set(trait, strength);
    strength = trait === undefined ? (DEGREES.get(word) ?? strength) : 1;
  }
}

function printable(words: readonly string[]): string {
  const wanted = words.filter((word) => !FILLERS.has(word));
  const ascii = wanted.map((word) => word.replaceAll(/[^a-z0-9]/g, "") || "words that are not English");
  return [...new Set(ascii)].join(" ");
}

function describeTrait(trait: string, strength: number): string {
  if (strength === 1) return trait;
  return `${strength < 1 ? "slightly" : trait.endsWith("er") ? "much" : "very"} ${trait}`;
}

/** Multiplies the factors and adds the levels, within bounds. */
function combine(asked: ReadonlyMap<string, number>): Manner {
  const product = (at: 0 | 1 | 2 | 3, min: number, max: number): number =>
    within(
      [...asked].reduce((all, [trait, strength]) => all * TRAITS.get(trait)![at] ** strength, 1),
      min,
      max,
    );
  const levelDb = [...asked].reduce((sum, [trait, strength]) => sum + strength * TRAITS.get(trait)![4], 0);
  return {
    tempo: product(0, 0.75, 1.25),
    pitch: product(1, 0.84, 1.19),
    range: product(2, 0.5, 1.6),
    pause: product(3, 0.6, 1.6),
    levelDb: within(levelDb, -9, 5),
  };
}

function within(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

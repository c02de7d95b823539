import type { CannedReplies, DialogueAct } from "./canned-replies.ts";

export interface TurnClassification {
  readonly act: DialogueAct;
  /** Probability of the act. */
  readonly probability: number;
  /** Probability of each tone, in order. */
  readonly tones: readonly number[];
}

/**
 * Classifies a turn from unit vectors: its own and optionally its last sentence's, whose act probabilities are
 * averaged. The tone is that of the whole turn.
 */
export function classifyTurn(
  { acts, matrices }: Pick<CannedReplies, "acts" | "matrices">,
  vectors: readonly Float32Array[],
): TurnClassification {
  const kinds = meanProbabilities(matrices.actWeights, matrices.actBiases, vectors);
  const tones = meanProbabilities(matrices.toneWeights, matrices.toneBiases, vectors.slice(0, 1));
  let best: { act: DialogueAct; probability: number } | null = null;
  for (const [n, act] of acts.entries()) {
    const probability = kinds[n] ?? 0;
    if (best === null || probability > best.probability) best = { act, probability };
  }
  if (best === null) throw new Error("the head knows no act");
  return { ...best, tones };
}

function meanProbabilities(
  weights: Float32Array,
  biases: Float32Array,
  vectors: readonly Float32Array[],
): number[] {
  const each = vectors.map((vector) => softmax(weights, biases, vector));
  return Array.from(biases, (_, n) => each.reduce((sum, odds) => sum + (odds[n] ?? 0), 0) / each.length);
}

/** Applies a linear head with softmax. */
function softmax(weights: Float32Array, biases: Float32Array, vector: Float32Array): Float64Array {
  const odds = new Float64Array(biases.length);
  let max = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < biases.length; row++) {
    let sum = biases[row] ?? 0;
    const start = row * vector.length;
    for (let i = 0; i < vector.length; i++) sum += (weights[start + i] ?? 0) * (vector[i] ?? 0);
    odds[row] = sum;
    max = Math.max(max, sum);
  }
  let total = 0;
  for (const [row, logit] of odds.entries()) {
    const odd = Math.exp(logit - max);
    odds[row] = odd;
    total += odd;
  }
  return odds.map((odd) => odd / total);
}

/** Acts recognised by pattern, whatever the subject; the first match counts. */
const ACT_PATTERNS: readonly (readonly [act: string, form: RegExp])[] = [
  // Not garbled: "Hmmmm" (three equal characters in a row) and "Dallas" (home-row letters without a run like "asdf").
  [
    "garbled",
    /^[\W_]*$|^(?!.*(.)\1\1)(?:(?![aeiouy])[a-z]){5,}$|^(?=.*(?:asdf|sdfg|fghj|hjkl|jkl;))[asdfghjkl;\s]+$/,
  ],
  ["what", /^(?:what|huh|pardon|sorry|excuse me|come again|eh|say again)\W*$/],
  ["bare-why", /^(?:but |and |oh |so )?(?:why|how come)(?: is that| so| not| though)?\W*$/],
  [
    "correction",
    /^(?:no|nope)[,.!]* (?:no[,.!]* )?(?:i (?:meant|mean|said)\b|not that\b)|\bthat(?:'s| is) not what i (?:said|asked|meant|mean)\b/,
  ],
  ["same", /^(?:same(?: here)?|me too|me neither|likewise|so do i|as do i)\W*$/],
  [
    "ack",
    /^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nope|maybe|sure|right|fine|cool|alright|all right|hm+|got it|i see|makes sense|fair enough)(?:,? (?:then|ok(?:ay)?|sure|got it))?)\W*$/,
  ],
  [
    "thanks",
    /^(?:(?:ok(?:ay)?|great|cool),? )?(?:thanks|thank you|cheers|ta)(?: (?:so much|a lot|very much|again|anyway))?\W*$/,
  ],
  [
    "goodbye",
    /^(?:ok(?:ay)?,? )?(?:bye(?:[ -]bye)?|goodbye|see (?:you|ya)(?: later| soon| tomorrow)?|talk to you later|catch you later)(?: then| now)?\W*$/,
  ],
  [
    "identity",
    /\b(?:are|r) (?:you|u) (?:really |actually |even )?(?:an? |some (?:kind|sort) of )?(?:real|human|robot|bot|machine|computer|program|a\.?i\b|chat ?bot|alive|(?:actual |living )?person)\b/,
  ],
  [
    "identity",
    /\b(?:person|human|man|woman)\b.{0,20}\bor\b.{0,20}\b(?:computer|machine|robot|bot|ai|program|software)\b/,
  ],
  [
    "identity",
    /\b(?:computer|machine|robot|bot|ai|program|software)\b.{0,20}\bor\b.{0,20}\b(?:person|human|man|woman)\b/,
  ],
  ["time", /\bwhat(?:'s| is)? the time\b(?! (?:difference|in))|\bwhat time is it\b(?! in)/],
  [
    "time",
    /\b(?:got|have) the time\b\??$|\bwhat(?:'s| is) (?:the date|today's date)\b|\bwhat day is (?:it|today)\b/,
  ],
];

/** Returns the act of the first matching pattern, or `null`. */
export function matchAct(turn: string): string | null {
  const text = turn.toLowerCase().replaceAll("’", "'").trim();
  return ACT_PATTERNS.find(([, form]) => form.test(text))?.[0] ?? null;
}

/** Returns whether a turn asks for something. Transcribed speech may lack a question mark. */
export function isQuestion(turn: string | null): boolean {
  return QUESTION.test(turn ?? "");
}

/** Returns whether a turn is a question, or none, as its act requires. */
export function hasSentenceTypeOf(
  { name, answered }: { readonly name: string; readonly answered: string },
  turn: string | null,
): boolean {
  const asked = isQuestion(turn);
  // "Is he okay?" does not ask about the writer.
  if (QUESTION_ACTS.has(name) && THIRD_PERSON.test(turn ?? "")) return false;
  return QUESTION_ACTS.has(name) ? asked : answered !== "told" || !asked;
}

/** Words that begin a question. */
const ASKING_WORDS =
  "why|how|what|which|who|where|when|hows|whats|whos|can|could|do|does|did|is|are|will|would|should|say|suggest|recommend";
const QUESTION = new RegExp(
  `\\?|^(?:(?:but|and|so|then|ok|okay|well|now|right|alright|um|please)[, ]+)*(?:${ASKING_WORDS})\\b` +
    "|\\b(?:tell|give|write|show|teach|explain|make|ask|sing|read|remind|suggest|recommend|help|find|name) me\\b|\\bcan (?:we|you|i)\\b",
  "i",
);
const THIRD_PERSON = /\b(?:he|she|they|him|her|them|his|their)\b(?!.*\byou\b)/i;
/** Acts that are always questions. */
const QUESTION_ACTS: ReadonlySet<string> = new Set(
  "how-are-you what-up our-body our-past our-feelings our-family our-skills name favourite time weather-now live see privacy".split(
    " ",
  ),
);

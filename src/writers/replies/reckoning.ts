import { contentWords, datesAndNumbers } from "../heard/content-words.ts";
import { isAsked } from "../heard/turn-form.ts";
import { EVIDENCE } from "./memory/recall.ts";
import type { Talk } from "./talk.ts";

/** Where a reply comes from. */
export const ORIGINS = [
  "corrected",
  "desk",
  "told",
  "limit",
  "form",
  "whole",
  "found",
  "kind",
  "tone",
  "noted",
  "view",
  "doubt",
  "honest",
  "asked",
  "neutral",
  "model",
] as const;
export type Origin = (typeof ORIGINS)[number];
/** Of a reply that no language model wrote. */
export type ReadyOrigin = Exclude<Origin, "model">;

/** What may be said, and what is known of it there. */
export interface Offer<From extends Origin = Origin> {
  readonly text: string;
  readonly origin: From;
  /**
   * How near it is to what was said, in its origin's own measure, 0 to 1. Of what a language model writes 1 says that it was
   * asked a turn that was made whole.
   */
  readonly nearness: number;
  /** How like what was said before is to what was said before it in its own conversation; 0 where nothing was. */
  readonly context: number;
  /** Of what was told what is known of it as an answer (`memory/recall.ts`): it is reckoned with instead of {@link featuresOf}. */
  readonly evidence?: readonly number[];
}

/** For each origin a weight for each number that is known of its offers ({@link featureCount}): learnt from verdicts by `training/replies/reckon.mjs`. */
export type Reckoning = Readonly<Record<Origin, readonly number[]>>;

/**
 * How likely it is that somebody would be content with a reply, 0 to 1, where a borderline one counts as two fifths, one that
 * contradicts what was told as two bad ones, and a line that fits anything as a half at most: a logistic line through what is
 * known of the turn and of the reply.
 */
export function worthOf(offer: Offer, talk: Talk, reckoning: Reckoning): number {
  const weights = reckoning[offer.origin];
  const features = offer.evidence ?? featuresOf(offer, talk);
  const sum = features.reduce((total, value, n) => total + value * (weights[n] ?? 0), 0);
  return 1 / (1 + Math.exp(-sum));
}

/** What is known of a turn and of a reply to it, numbers about 0 to 1. */
export function featuresOf({ text, nearness, context }: Offer, talk: Talk): readonly number[] {
  const { newest, previous, asksBack, asksOfTheirs } = talk;
  // Replies of other conversations are hardly ever less like than that.
  const near = Math.max(0, nearness - 0.6) / 0.4;
  const said = contentWords(newest ?? "");
  const reply = contentWords(text);
  const fullness = Math.min(1, said.size / 6);
  const follows = previous === null ? 0 : 1;
  const asks = isAsked(newest) ? 1 : 0;
  const shared = [...reply].filter((word) => said.has(word)).length;
  const unheard = [...reply].filter((word) => !talk.words.has(word)).length;
  return [
    1,
    near,
    near * fullness,
    near * follows,
    near * fullness * follows,
    Math.max(0, context) * follows,
    fullness,
    fullness * follows,
    follows,
    asks,
    asks * follows,
    asksBack ? 1 : 0,
    asksOfTheirs ? 1 : 0,
    // Whether it answers a question of ours.
    previous?.trimEnd().endsWith("?") ? 1 : 0,
    Math.min(1, shared / 3),
    Math.min(1, unheard / 6),
    Math.min(1, unheard / 6) * follows,
    text.trimEnd().endsWith("?") ? 1 : 0,
    Math.min(1, text.length / 120),
    datesAndNumbers(text).some((word) => !talk.words.has(word)) ? 1 : 0,
  ];
}

/** How many they are. */
export const FEATURES = 20;

/** How many numbers are known of an offer of an origin. */
export function featureCount(origin: Origin): number {
  return origin === "told" ? EVIDENCE : FEATURES;
}

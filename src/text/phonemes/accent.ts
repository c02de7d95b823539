import { asBritish } from "./british-phonemes.ts";
import { AMERICAN_ENDINGS, BRITISH_ENDINGS, type Endings } from "./endings.ts";

/** An accent by its language tag (BCP 47). */
export type AccentTag = (typeof ACCENT_TAGS)[number];

/** What a text can be read in. */
export const ACCENT_TAGS = ["en-US", "en-GB"] as const;

/** What an accent does to words beside the dictionary that it has. */
export interface Accent {
  readonly endings: Endings;
  /** Ways to write phonemes that it has a symbol of its own for, where American English has that of another sound. */
  readonly symbols: readonly (readonly [written: string, own: string])[];
  /** American phonemes, words between spaces, as this accent has them. Marks are left alone. */
  said(phonemes: string): string;
}

export const AMERICAN: Accent = { endings: AMERICAN_ENDINGS, symbols: [], said: (phonemes) => phonemes };

export const BRITISH: Accent = {
  endings: BRITISH_ENDINGS,
  symbols: [
    ["əʊ", "Q"],
    ["Q", "Q"],
    ["a", "a"],
    ["ɒ", "ɒ"],
    ["ː", "ː"],
  ],
  said: asBritish,
};

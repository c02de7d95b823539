/** One deliberate departure from the reference reading. */
export interface Difference {
  readonly id: DifferenceId;
  readonly why: string;
  /** A text on which it shows, and its phonemes without and with the difference, sentence by sentence. */
  readonly text: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export type DifferenceId =
  | "numeral-not-empty"
  | "word-not-abbreviation"
  | "quotes-are-marks"
  | "abbreviation-inside-sentence"
  | "sentence-keeps-its-stop"
  | "pattern-before-full-stop"
  | "long-phone-number"
  | "money-to-the-end"
  | "days-and-their-stops"
  | "closing-marks-kept"
  | "spaced-hyphen-is-a-dash"
  | "accents-looked-up-without"
  | "shouted-words"
  | "signs-said-apart"
  | "long-digits-one-by-one";

/**
 * How a text is read: exactly as the reference does, with every improvement, or with some of them.
 * See the table of differences.
 */
export type Readings = "reference" | "improved" | readonly DifferenceId[];

export const DIFFERENCES: readonly Difference[] = [];

/** The differences that a way of reading has switched on. */
export function differencesOf(readings: Readings): ReadonlySet<DifferenceId> {
  if (readings === "reference") return new Set();
  return new Set(readings === "improved" ? DIFFERENCES.map((difference) => difference.id) : readings);
}

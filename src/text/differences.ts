/** Every deliberate departure from the reference reading, and why. A test reads a text both ways for each. */
const DIFFERENCES = {
  "kinds-in-words":
    "Codes, sums, dates, measures, addresses and the like are told apart by what they are, and each is said as such.",
  "quotes-are-marks":
    "The tagger was never taught double quotes: untagged, they sent the word beside them to the unknown-word network.",
  "abbreviation-inside-sentence": '"No. 5", "vs. Bob" and "U.S. Army" are no places to end a sentence.',
  "closing-marks-kept": "What closes after the last mark belongs to the sentence that it ends.",
  "accents-looked-up-without":
    "The dictionaries list no accents; the word without them is a better guess than the network's.",
  "shouted-words": "Words in capitals that are listed by their stem only were spelled when taken for names.",
  "links-are-words": "The words of a link are read like any others.",
  "codes-are-no-marks":
    "What has a letter or a digit is no mark, whatever the tagger takes it for; as one it was silent.",
  "signs-said-apart": "Signs that follow one another are words of their own.",
  "long-digits-one-by-one": "Beyond fifteen digits nobody counts along.",
} as const;

export type DifferenceId = keyof typeof DIFFERENCES;

/** All of them. */
export const DIFFERENCE_IDS = Object.keys(DIFFERENCES) as readonly DifferenceId[];

/**
 * How a text is read: exactly as the reference does, mistakes included; or as a careful newsreader would, with every
 * departure (`standard`); or with some of them.
 */
export type Readings = "reference" | "standard" | readonly DifferenceId[];

/** The differences that a way of reading has switched on. */
export function differencesOf(readings: Readings): ReadonlySet<DifferenceId> {
  switch (readings) {
    case "reference":
      return new Set();
    case "standard":
      return new Set(DIFFERENCE_IDS);
    default:
      return new Set(readings);
  }
}

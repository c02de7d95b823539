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
  | "kinds-in-words"
  | "quotes-are-marks"
  | "abbreviation-inside-sentence"
  | "closing-marks-kept"
  | "accents-looked-up-without"
  | "shouted-words"
  | "links-are-words"
  | "codes-are-no-marks"
  | "signs-said-apart"
  | "long-digits-one-by-one";

/**
 * How a text is read: exactly as the reference does, mistakes included; or as a careful newsreader would, with every
 * departure (`standard`); or with some of them.
 */
export type Readings = "reference" | "standard" | readonly DifferenceId[];

/** Every departure, with what it changes. A test reads each text both ways. */
export const DIFFERENCES: readonly Difference[] = [
  {
    id: "kinds-in-words",
    why: "Codes, sums, dates, measures, addresses and the like are told apart by what they are, and each is said as such.",
    text: "King Charles paid €1.5bn on 3/8.",
    before: ["kˈɪŋ ðə zˌɪɹOθʧˈɑɹlz pˈAd wˈʌn fˈIv bˌiˈɛn ˌɔn θɹˈi ˈAt."],
    after: ["kˈɪŋ ʧˈɑɹlz pˈAd wˈʌn pYnt fˈIv bˈɪljən jˈʊɹOz ˌɔn mˈɑɹʧ ˈAθ."],
  },
  {
    id: "quotes-are-marks",
    why: "The tagger was never taught double quotes: untagged, they sent the word beside them to the unknown-word network.",
    text: 'She said "hello" again.',
    before: ["ʃˌi sˈɛd hˈɛlO əɡˈɛn."],
    after: ["ʃˌi sˈɛd “həlˈO” əɡˈɛn."],
  },
  {
    id: "abbreviation-inside-sentence",
    why: '"No. 5", "vs. Bob" and "U.S. Army" are no places to end a sentence.',
    text: "See vol. 3, Tom vs. Bob.",
    before: ["sˈi vˈɑljˌum.", "θɹˈi, tˈɑm vˈɜɹsəs.", "bˈɑb."],
    after: ["sˈi vˈɑljˌum θɹˈi, tˈɑm vˈɜɹsəs bˈɑb."],
  },
  {
    id: "closing-marks-kept",
    why: "What closes after the last mark belongs to the sentence that it ends.",
    text: "(Yes.) No.",
    before: ["(jˈɛs.", "nˈO."],
    after: ["(jˈɛs.)", "nˈO."],
  },
  {
    id: "accents-looked-up-without",
    why: "The dictionaries list no accents; the word without them is a better guess than the network's.",
    text: "a naïve coöperation",
    before: ["ɐ nIˈiv kˌɑəɹpəɹɹˈAʃən"],
    after: ["ɐ nɑˈiv kOˌɑpəɹˈAʃən"],
  },
  {
    id: "shouted-words",
    why: "Words in capitals that are listed by their stem only were spelled when taken for names.",
    text: "THE DOGS WALKED HOME",
    before: ["ðə dˌiˌOʤˌiˈɛs dˌʌbᵊljuˌAˌɛlkˌAˌidˈi hˈOm"],
    after: ["ðə dˈɔɡz wˈɔkt hˈOm"],
  },
  {
    id: "links-are-words",
    why: "The words of a link are read like any others.",
    text: "See [this page](page.html).",
    before: ["sˈi θˈɪs pˈAʤ."],
    after: ["sˈi ðɪs pˈAʤ."],
  },
  {
    id: "codes-are-no-marks",
    why: "What has a letter or a digit is no mark, whatever the tagger takes it for; as one it was silent.",
    text: "Open file A-12.",
    before: ["ˈOpᵊn fˈIl ˈA””."],
    after: ["ˈOpᵊn fˈIl ˈA twˈɛlv."],
  },
  {
    id: "signs-said-apart",
    why: "Signs that follow one another are words of their own.",
    text: "foo//bar",
    before: ["fˈu slˈæʃslˈæʃ bˈɑɹ"],
    after: ["fˈu slˈæʃ slˈæʃ bˈɑɹ"],
  },
  {
    id: "long-digits-one-by-one",
    why: "Beyond fifteen digits nobody counts along.",
    text: "1234567890123456",
    before: [
      "wˈʌn kwɑdɹˈɪljən tˈu hˈʌndɹəd θˈɜɹTi fˈɔɹ tɹˈɪljən fˈIv hˈʌndɹəd sˈɪksti sˈɛvən bˈɪljən ˈAt hˈʌndɹəd nˈIndi mˈɪljᵊn wˈʌn hˈʌndɹəd twˈɛnti θɹˈi θˈWzᵊnd fˈɔɹ hˈʌndɹəd fˈɪfti sˈɪks",
    ],
    after: ["wˈʌn tˈu θɹˈi fˈɔɹ fˈIv sˈɪks sˈɛvən ˈAt nˈIn zˈɪɹO wˈʌn tˈu θɹˈi fˈɔɹ fˈIv sˈɪks"],
  },
];

/** The differences that a way of reading has switched on. */
export function differencesOf(readings: Readings): ReadonlySet<DifferenceId> {
  switch (readings) {
    case "reference":
      return new Set();
    case "standard":
      return new Set(DIFFERENCES.map((difference) => difference.id));
    default:
      return new Set(readings);
  }
}

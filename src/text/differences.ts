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
  | "pattern-before-full-stop"
  | "long-phone-number"
  | "money-to-the-end"
  | "days-and-their-stops"
  | "closing-marks-kept"
  | "spaced-hyphen-is-a-dash"
  | "accents-looked-up-without"
  | "shouted-words"
  | "feet-and-inches"
  | "addresses-said"
  | "links-are-words"
  | "signs-said-apart"
  | "long-digits-one-by-one";

/**
 * How a text is read: exactly as the reference does; with the departures that mend plain misreadings and leave all else
 * as it was (`standard`); with every departure (`improved`); or with some of them.
 */
export type Readings = "reference" | "standard" | "improved" | readonly DifferenceId[];

/** The departures of the standard readings: together they change fewer than 1 in 100 of the reference's golden lines. */
export const STANDARD: readonly DifferenceId[] = [
  "numeral-not-empty",
  "word-not-abbreviation",
  "pattern-before-full-stop",
  "long-phone-number",
  "money-to-the-end",
  "days-and-their-stops",
  "closing-marks-kept",
  "shouted-words",
  "links-are-words",
  "long-digits-one-by-one",
];

/** Every departure, with what it changes. A test reads each text both ways. */
export const DIFFERENCES: readonly Difference[] = [
  {
    id: "numeral-not-empty",
    why: "A Roman numeral has at least one letter, and a lone I, C or L is mostly a pronoun or a letter.",
    text: "King Charles read the book I bought.",
    before: ["kˈɪŋ ðə zˌɪɹOθʧˈɑɹlz ɹˈɛd ðə bˈʊk wˈʌn bˈɔt."],
    after: ["kˈɪŋ ʧˈɑɹlz ɹˈɛd ðə bˈʊk ˌI bˈɔt."],
  },
  {
    id: "word-not-abbreviation",
    why: '"no." is an abbreviation before a number only, and the Sun is no Sunday.',
    text: "He said no.",
    before: ["hˌi sˈɛd nˈʌmbəɹ."],
    after: ["hˌi sˈɛd nˈO."],
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
    id: "pattern-before-full-stop",
    why: "Telephone numbers, fractions and ranges may end a sentence.",
    text: "See pages 10-20.",
    before: ["sˈi pˈAʤᵻz tˌɛntwˈɛnti."],
    after: ["sˈi pˈAʤᵻz tˈɛn tə twˈɛnti."],
  },
  {
    id: "long-phone-number",
    why: "Telephone numbers may have a country code, and brackets round the area code.",
    text: "Call 1-800-555-1234 now",
    before: ["kˈɔl wˌʌnˌAt hˌʌndɹədfˈIv fˈɪfti fˈIvtwˈɛlv θˈɜɹTi fˈɔɹ nˈW"],
    after: ["kˈɔl wˈʌn, ˈAt zˈɪɹO zˈɪɹO, fˈIv fˈIv fˈIv, wˈʌn tˈu θɹˈi fˈɔɹ nˈW"],
  },
  {
    id: "money-to-the-end",
    why: "One decimal is tens of cents, three are a fraction; bn is a billion; a minus is said; a comma ends what the sign counts.",
    text: "It rose from -$1.5 to $2.5bn.",
    before: ["ˌɪt ɹˈOz fɹʌm wˈʌn fˈIv tu tˈu fˈIv bˌiˈɛn."],
    after: ["ˌɪt ɹˈOz fɹʌm mˈInəs wˈʌn dˈɑləɹ ænd fˈɪfti sˈɛnts tə tˈu pYnt fˈIv bˈɪljən dˈɑləɹz."],
  },
  {
    id: "days-and-their-stops",
    why: "A date keeps the full stop of its sentence, and days may be a range.",
    text: "Open May 5-7, closed on 3 March.",
    before: ["ˈOpᵊn mˈA fˈɪfθ sˈɛvən, klˈOzd ˌɔn ðə θˈɜɹd ʌv mˈɑɹʧ"],
    after: ["ˈOpᵊn mˈA fˈɪfθ tə sˈɛvənθ, klˈOzd ˌɔn ðə θˈɜɹd ʌv mˈɑɹʧ."],
  },
  {
    id: "closing-marks-kept",
    why: "What closes after the last mark belongs to the sentence that it ends.",
    text: "(Yes.) No.",
    before: ["(jˈɛs.", "nˈO."],
    after: ["(jˈɛs.)", "nˈO."],
  },
  {
    id: "spaced-hyphen-is-a-dash",
    why: "A hyphen between spaces is a dash, which is heard as a pause.",
    text: "Great - confirm your order.",
    before: ["ɡɹˈAt  kənfˈɜɹm jʊɹ ˈɔɹdəɹ."],
    after: ["ɡɹˈAt — kənfˈɜɹm jʊɹ ˈɔɹdəɹ."],
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
    id: "feet-and-inches",
    why: "4'9\" is a height, not forty-nine.",
    text: "He is 4'9\" tall.",
    before: ["hˌi ɪz fˈɔɹTi nˈIn tˈɔl."],
    after: ["hˌi ɪz fˈɔɹ fˈʊt nˈIn tˈɔl."],
  },
  {
    id: "addresses-said",
    why: "Web and mail addresses are said sign by sign, and www letter by letter.",
    text: "Mail joe@my-site.co.uk or see www.example.com/help.",
    before: ["mˈAl ʤˈO æt mI sˈIt sˌiˌOjˌukˈA ɔɹ sˈi dʊˌʊuə ɛɡzˈæmpᵊl kˈɑm slˈæʃ hˈɛlp."],
    after: [
      "mˈAl ʤˈO æt mI dˈæʃ sˈIt dˈɑt kˈO dˈɑt jˌukˈA ɔɹ sˈi dˈʌbᵊlju dˈʌbᵊlju dˈʌbᵊlju dˈɑt ɪɡzˈæmpəl dˈɑt kˈɑm slˈæʃ hˈɛlp.",
    ],
  },
  {
    id: "links-are-words",
    why: "The words of a link are read like any others.",
    text: "See [this page](page.html).",
    before: ["sˈi θˈɪs pˈAʤ."],
    after: ["sˈi ðɪs pˈAʤ."],
  },
  {
    id: "signs-said-apart",
    why: "Signs that follow one another are words of their own.",
    text: "ftp://files.example",
    before: ["ˌɛftˌipˈi slˈæʃslˈæʃ fˈIlz ɛɡzˈæmpᵊl"],
    after: ["ˌɛftˌipˈi slˈæʃ slˈæʃ fˈIlz ɛɡzˈæmpᵊl"],
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
      return new Set(STANDARD);
    case "improved":
      return new Set(DIFFERENCES.map((difference) => difference.id));
    default:
      return new Set(readings);
  }
}

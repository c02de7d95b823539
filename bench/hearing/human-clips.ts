import type { WantedRecording } from "../debian-recordings.ts";

/** A recording of a person, and what is known of it. */
export interface HumanClip extends WantedRecording {
  /** ISO 639-1. */
  readonly language: string;
  /** What is said, where it is known: English alone. */
  readonly transcript: string | null;
}

const ASTERISK = "asterisk/sounds";
const FILLETS = "games/fillets-ng/sound";
const SPHINX = "pocketsphinx/test/data";

/** Licences: see `reference-recipes.ts`, which takes other stretches of the same packages. */
const CORE_SOUNDS = [
  { language: "en", voice: "en_US_f_Allison" },
  { language: "es", voice: "es_MX_f_Allison" },
  { language: "fr", voice: "fr_CA_f_June" },
  { language: "it", voice: "it_IT_m_Carlo" },
  { language: "ru", voice: "ru_RU_f_IvrvoiceRU" },
];

/** Prompts that each of the five voices has, of 3 to 10 s; of the longest the first 10 s. */
const PROMPTS = [
  "agent-alreadyon",
  "conf-onlyone",
  "demo-nogo",
  "dir-intro",
  "queue-periodic-announce",
  "queue-youarenext",
  "ss-noservice",
  "tt-allbusy",
];

const MAX_PROMPT_S = 10;

const CZECH = [
  "atlantis/cs/sp-v-vratit1",
  "briefcase/cs/kd-mesto",
  "city/cs/vit-hs-kacir",
  "computer/cs/poc-v-vyresil",
  "ending/cs/z-v-pozdrav",
  "tank/cs/sv-m-kecy",
  "warcraft/cs/war-m-pichat",
  "warcraft/cs/war-v-pohadka",
];

const DUTCH = [
  "atlantis/nl/sp-v-vratit1",
  "cabin1/nl/k1-v-citis",
  "computer/nl/poc-v-vyresil",
  "emulator/nl/zx-v-otazka",
  "ending/nl/z-v-pozdrav",
  "stairs/nl/sch-v-setkani",
  "tank/nl/sv-m-kecy",
  "warcraft/nl/war-m-hodiny",
];

/** As they come over a telephone, at 8 kHz. */
const TELEPHONE = [
  { language: "es", package: "asterisk-prompt-es-co", files: ["es/dir-intro.gsm", "es/vm-options.gsm"] },
  { language: "fr", package: "asterisk-prompt-fr-armelle", files: ["fr/dir-intro.gsm", "fr/vm-review.gsm"] },
  {
    language: "it",
    package: "asterisk-prompt-it-menardi-wav",
    files: ["it_IT_f_Menardi/demo-moreinfo.wav", "it_IT_f_Menardi/demo-abouttotry.wav"],
  },
];

function fillets(language: string, files: readonly string[]): HumanClip[] {
  return files.map((file) => ({
    name: `${language}-${file.split("/").at(-1)}`,
    package: `fillets-ng-data-${language}`,
    pieces: [{ path: `${FILLETS}/${file}.ogg`, toS: MAX_PROMPT_S }],
    language,
    transcript: null,
  }));
}

/** Seven languages; clips of men and women, clean and over a telephone. Chosen by name and length before any was heard. */
export const CLIPS_OF_LANGUAGES: readonly HumanClip[] = [
  ...CORE_SOUNDS.flatMap(({ language, voice }) =>
    PROMPTS.map((prompt) => ({
      name: `${language}-${prompt}`,
      package: `asterisk-core-sounds-${language}-g722`,
      pieces: [{ path: `${ASTERISK}/${voice}/${prompt}.g722`, toS: MAX_PROMPT_S }],
      language,
      transcript: null,
    })),
  ),
  ...fillets("cs", CZECH),
  ...fillets("nl", DUTCH),
  ...TELEPHONE.flatMap(({ language, package: from, files }) =>
    files.map((file) => ({
      name: `${language}-telephone-${file.split("/").at(-1)?.split(".")[0]}`,
      package: from,
      pieces: [{ path: `${ASTERISK}/${file}`, toS: MAX_PROMPT_S }],
      language,
      transcript: null,
    })),
  ),
];

const LIBRIVOX: Readonly<Record<string, string>> = {
  "0870":
    "and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them",
  "0880": "he was not an ill disposed young man",
  "0890": "unless to be rather cold hearted and rather selfish is to be ill disposed",
  "0920": "had he married a more amiable woman he might have been made still more respectable than he was",
  "0930": "he might even have been made amiable himself",
};

/** As Asterisk's list of its sounds has them. */
const ALLISON: Readonly<Record<string, string>> = {
  "agent-alreadyon":
    "That agent is already logged on. Please enter your agent number followed by the pound key.",
  "conf-onlyone": "There is currently one other participant in the conference.",
  "demo-nomatch": "I'm sorry there are no matches for those keywords.",
  "dir-instr": "If this is the person you are looking for press 1 now, otherwise please press star now.",
  "privacy-prompt": "Please enter your phone number, starting with the area code.",
  "queue-youarenext":
    "Your call is now first in line and will be answered by the next available representative.",
  "ss-noservice": "The number you have dialed is not in service. Please check the number and try again.",
  "tt-allbusy":
    "All representatives of the household are currently assisting other telemarketers. Please hold and your call " +
    "will be answered in the order it was received.",
};

const CARDS: Readonly<Record<string, string>> = {
  "001": "ten of clubs",
  "002": "four queen of clubs",
  "003": "seven of clubs",
  "004": "five five",
  "005": "eight of spades four of clubs seven of hearts",
};

/** English whose words are known. */
export const CLIPS_WITH_WORDS: readonly HumanClip[] = [
  ...Object.entries(LIBRIVOX).map(([number, words]) =>
    english(`librivox-${number}`, `librivox/sense_and_sensibility_01_austen_64kb-${number}.wav`, words),
  ),
  english("dhd-forward", "goforward.raw", "go forward ten meters"),
  english("dhd-numbers", "numbers.raw", "thirty three four six ninety two"),
  ...Object.entries(CARDS).map(([number, words]) => english(`cards-${number}`, `cards/${number}.wav`, words)),
  {
    name: "radio",
    package: "codec2-examples",
    pieces: [{ path: "codec2/wav/ve9qrp.wav", fromS: 23, toS: 34.3 }],
    language: "en",
    transcript:
      "And Sackville is a small university town. Closest large town is Moncton, New Brunswick. That's where the " +
      "international airport is.",
  },
  ...Object.entries(ALLISON).map(([prompt, transcript]) => ({
    name: `allison-${prompt}`,
    package: "asterisk-core-sounds-en-g722",
    pieces: [{ path: `${ASTERISK}/en_US_f_Allison/${prompt}.g722` }],
    language: "en",
    transcript,
  })),
];

function english(name: string, file: string, transcript: string): HumanClip {
  const pieces = [{ path: `${SPHINX}/${file}` }];
  return { name, package: "pocketsphinx-testdata", pieces, language: "en", transcript };
}

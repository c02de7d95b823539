/** A speaker whose recordings are in a Debian package, and which of them make the two clips. */
export interface ReferenceRecipe {
  readonly name: string;
  readonly sex: "female" | "male";
  /** ISO 639-1. */
  readonly language: string;
  /** How it was recorded: at 16 kHz or more; at 8 kHz; or over a radio, at 8 kHz with noise some 25 dB below the voice. */
  readonly kind: "clean" | "telephone" | "noisy";
  readonly package: string;
  /** As the package's copyright file says. */
  readonly licence: string;
  /** What the clip says, where it is English. */
  readonly transcript: string | null;
  readonly clip: readonly Piece[];
  readonly heldOut: readonly Piece[];
}

/** A recording or, where it says so, a part of it. */
export interface Piece {
  /** Below `/usr/share` of the unpacked package. */
  readonly path: string;
  readonly fromS?: number;
  readonly toS?: number;
}

const ASTERISK = "asterisk/sounds";
const FILLETS = "games/fillets-ng/sound";
const SPHINX = "pocketsphinx/test/data";
const SENSE = `${SPHINX}/librivox/sense_and_sensibility_01_austen_64kb`;

export const REFERENCE_RECIPES: readonly ReferenceRecipe[] = [
  {
    name: "allison",
    sex: "female",
    language: "en",
    kind: "clean",
    package: "asterisk-core-sounds-en-g722",
    licence: "CC-BY-SA-3.0",
    transcript:
      "If you are using a console channel driver instead of a real phone, you can use the dial, answer, and " +
      "hang up commands to simulate the actions of a standard telephone.",
    clip: [{ path: `${ASTERISK}/en_US_f_Allison/demo-congrats.g722`, fromS: 19.4, toS: 29.95 }],
    heldOut: [{ path: `${ASTERISK}/en_US_f_Allison/demo-abouttotry.g722` }],
  },
  {
    name: "june",
    sex: "female",
    language: "fr",
    kind: "clean",
    package: "asterisk-core-sounds-fr-g722",
    licence: "CC-BY-SA-3.0",
    transcript: null,
    clip: [{ path: `${ASTERISK}/fr_CA_f_June/demo-congrats.g722`, toS: 11.43 }],
    heldOut: [{ path: `${ASTERISK}/fr_CA_f_June/demo-abouttotry.g722` }],
  },
  {
    name: "carlo",
    sex: "male",
    language: "it",
    kind: "clean",
    package: "asterisk-core-sounds-it-g722",
    licence: "CC-BY-3.0",
    transcript: null,
    clip: [{ path: `${ASTERISK}/it_IT_m_Carlo/demo-congrats.g722`, toS: 12.1 }],
    heldOut: [{ path: `${ASTERISK}/it_IT_m_Carlo/demo-abouttotry.g722` }],
  },
  {
    name: "russian",
    sex: "female",
    language: "ru",
    kind: "clean",
    package: "asterisk-core-sounds-ru-g722",
    licence: "CC-BY-3.0",
    transcript: null,
    clip: [{ path: `${ASTERISK}/ru_RU_f_IvrvoiceRU/demo-congrats.g722`, fromS: 12.35, toS: 23.95 }],
    heldOut: [{ path: `${ASTERISK}/ru_RU_f_IvrvoiceRU/conf-adminmenu-162.g722`, toS: 16.4 }],
  },
  {
    name: "libri",
    sex: "male",
    language: "en",
    kind: "clean",
    package: "pocketsphinx-testdata",
    licence: "BSD-2",
    transcript:
      "And Mister John Dashwood had then leisure to consider how much there might be prudently in his power " +
      "to do for them. Unless to be rather cold hearted and rather selfish is to be ill disposed.",
    clip: [{ path: `${SENSE}-0870.wav` }, { path: `${SENSE}-0890.wav` }],
    heldOut: [{ path: `${SENSE}-0880.wav` }, { path: `${SENSE}-0920.wav` }, { path: `${SENSE}-0930.wav` }],
  },
  {
    name: "dhd",
    sex: "male",
    language: "en",
    kind: "clean",
    package: "pocketsphinx-testdata",
    licence: "BSD-2",
    transcript: "Thirty three four six ninety two. Go forward ten meters.",
    clip: [{ path: `${SPHINX}/numbers.raw` }, { path: `${SPHINX}/goforward.raw` }],
    heldOut: [{ path: `${SPHINX}/something.raw` }, { path: `${SPHINX}/tidigits/dhd.2934z.raw` }],
  },
  {
    name: "bruce",
    sex: "male",
    language: "en",
    kind: "noisy",
    package: "codec2-examples",
    licence: "LGPL-2.1",
    transcript:
      "And Sackville is a small university town. Closest large town is Moncton, New Brunswick. That's where " +
      "the international airport is.",
    clip: [{ path: "codec2/wav/ve9qrp.wav", fromS: 23, toS: 34.3 }],
    heldOut: [{ path: "codec2/wav/ve9qrp.wav", fromS: 9.8, toS: 22.5 }],
  },
  {
    name: "paola",
    sex: "female",
    language: "it",
    kind: "telephone",
    package: "asterisk-prompt-it-menardi-wav",
    licence: "CC-BY-SA-3.0 (Italian)",
    transcript: null,
    clip: [{ path: `${ASTERISK}/it_IT_f_Menardi/demo-congrats.wav`, fromS: 6.5, toS: 17.6 }],
    heldOut: [{ path: `${ASTERISK}/it_IT_f_Menardi/demo-moreinfo.wav` }],
  },
  {
    name: "armelle",
    sex: "female",
    language: "fr",
    kind: "telephone",
    package: "asterisk-prompt-fr-armelle",
    licence: "BSD-like (Indigen Solutions)",
    transcript: null,
    clip: [{ path: `${ASTERISK}/fr/conf-usermenu.gsm`, toS: 9.1 }],
    heldOut: [{ path: `${ASTERISK}/fr/vm-options.gsm`, toS: 15.9 }],
  },
  {
    name: "july",
    sex: "female",
    language: "es",
    kind: "telephone",
    package: "asterisk-prompt-es-co",
    licence: "GPL-2",
    transcript: null,
    clip: [{ path: `${ASTERISK}/es/vm-options.gsm` }],
    heldOut: [{ path: `${ASTERISK}/es/dir-intro.gsm` }],
  },
  {
    name: "czech-man",
    sex: "male",
    language: "cs",
    kind: "clean",
    package: "fillets-ng-data-cs",
    licence: "GPL-2",
    transcript: null,
    clip: [{ path: `${FILLETS}/hanoi/cs/v-restartovat.ogg` }],
    heldOut: [{ path: `${FILLETS}/hanoi/cs/v-kopie.ogg` }, { path: `${FILLETS}/hanoi/cs/v-plny.ogg` }],
  },
  {
    name: "czech-woman",
    sex: "female",
    language: "cs",
    kind: "clean",
    package: "fillets-ng-data-cs",
    licence: "GPL-2",
    transcript: null,
    clip: [{ path: `${FILLETS}/hanoi/cs/m-predstavujes.ogg` }],
    heldOut: [
      { path: `${FILLETS}/hanoi/cs/m-rekurzivni.ogg` },
      { path: `${FILLETS}/hanoi/cs/m-restartuj.ogg` },
    ],
  },
  {
    name: "dutch-man",
    sex: "male",
    language: "nl",
    kind: "clean",
    package: "fillets-ng-data-nl",
    licence: "GPL-2",
    transcript: null,
    clip: [{ path: `${FILLETS}/airplane/nl/let-v-oko.ogg` }],
    heldOut: [{ path: `${FILLETS}/warcraft/nl/war-v-pohadka.ogg` }],
  },
  {
    name: "dutch-woman",
    sex: "female",
    language: "nl",
    kind: "clean",
    package: "fillets-ng-data-nl",
    licence: "GPL-2",
    transcript: null,
    clip: [{ path: `${FILLETS}/labyrinth/nl/bl-m-funkce.ogg` }],
    heldOut: [{ path: `${FILLETS}/warcraft/nl/war-m-hodiny.ogg` }],
  },
];

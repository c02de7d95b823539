import Type, { type Static } from "typebox";
import { stringEnum } from "./string-enum.ts";

const start = Type.Number({ description: "Seconds from the reply's first sample." });
const end = Type.Number({ description: "Seconds from the reply's first sample." });

export const WordTiming = Type.Object(
  {
    word: Type.String({
      description:
        "As it is written in the text: `$5` is one word, although two are spoken for it. Empty for a `mark`.",
    }),
    mark: Type.Optional(
      Type.String({
        description: "The name of a `<mark>` in SSML, and when it is reached: no word, of length 0.",
      }),
    ),
    start,
    end,
    offset: Type.Integer({ minimum: 0, description: "Position in the reply's text, in code points." }),
    length: Type.Integer({ minimum: 0, description: "Length in code points." }),
    speaker: Type.Optional(Type.String({ description: "In a dialogue: the name of the speaker." })),
    line: Type.Optional(
      Type.Integer({ minimum: 0, description: "In a dialogue: the number of the line, from 0." }),
    ),
  },
  { title: "SpokenWord" },
);
export type WordTiming = Static<typeof WordTiming>;

/** Oculus's fifteen mouth shapes. */
export const VISEMES = [
  "sil",
  "PP",
  "FF",
  "TH",
  "DD",
  "kk",
  "CH",
  "SS",
  "nn",
  "RR",
  "aa",
  "E",
  "I",
  "O",
  "U",
] as const;

export const VisemeTiming = Type.Object(
  { viseme: stringEnum(VISEMES), start, end },
  { title: "SpokenViseme" },
);
export type VisemeTiming = Static<typeof VisemeTiming>;

/** A phoneme in the voice's alphabet, with its times. */
export const PhonemeTiming = Type.Object({ phoneme: Type.String(), start, end }, { title: "SpokenPhoneme" });
export type PhonemeTiming = Static<typeof PhonemeTiming>;

export const VisemesOption = Type.Boolean({
  default: false,
  description:
    "Extension: whether the reply's `meta` and its `audio` events include `visemes` and `phonemes` in addition to `words`.",
});

/** Timings of words; in a frame, those of the words that begin in it. */
export const marks = {
  words: Type.Optional(Type.Array(WordTiming)),
  visemes: Type.Optional(Type.Array(VisemeTiming, { description: "If the request asks for them." })),
  phonemes: Type.Optional(Type.Array(PhonemeTiming, { description: "Together with `visemes`." })),
};
export interface Marks {
  readonly words?: WordTiming[];
  readonly visemes?: VisemeTiming[];
  readonly phonemes?: PhonemeTiming[];
}

export const ReplyMeta = Type.Unsafe<Record<string, unknown>>(
  Type.Object(marks, {
    title: "ReplyMeta",
    additionalProperties: true,
    description:
      "Diagnostics (latency, frames, why generation stopped) and the timing of words. More keys may be added.",
  }),
);

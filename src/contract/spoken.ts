import Type, { type Static } from "typebox";

const start = Type.Number({ description: "Seconds from the reply's first sample." });
const end = Type.Number({ description: "Seconds from the reply's first sample." });

/** A word of a reply and when it is heard. */
export const SpokenWord = Type.Object(
  {
    word: Type.String({
      description: "As the text writes it: `$5` is one word, although two are spoken for it.",
    }),
    start,
    end,
    offset: Type.Integer({ minimum: 0, description: "Where it stands in the reply's text, in code points." }),
    length: Type.Integer({ minimum: 1, description: "In code points." }),
  },
  { title: "SpokenWord" },
);
export type SpokenWord = Static<typeof SpokenWord>;

/** Oculus's fifteen shapes of a mouth. */
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
export type VisemeName = (typeof VISEMES)[number];

/** The shape of the mouth, and from when to when. */
export const SpokenViseme = Type.Object(
  {
    viseme: Type.Unsafe<VisemeName>({ type: "string", enum: [...VISEMES] }),
    start,
    end,
  },
  { title: "SpokenViseme" },
);
export type SpokenViseme = Static<typeof SpokenViseme>;

/** A phoneme, in the voice's alphabet, and when it is heard. */
export const SpokenPhoneme = Type.Object({ phoneme: Type.String(), start, end }, { title: "SpokenPhoneme" });
export type SpokenPhoneme = Static<typeof SpokenPhoneme>;

/** The field `visemes` of requests: an extension. */
export const AsksVisemes = Type.Boolean({
  default: false,
  description:
    "Extension: whether the reply's `meta` and its `audio` events tell, beside the words, of `visemes` and `phonemes`.",
});

/** What is said when: of a piece of a reply, what begins in it. */
export const marks = {
  words: Type.Optional(Type.Array(SpokenWord)),
  visemes: Type.Optional(Type.Array(SpokenViseme, { description: "Where the request asks for them." })),
  phonemes: Type.Optional(Type.Array(SpokenPhoneme, { description: "Beside `visemes`." })),
};
export interface Marks {
  readonly words?: SpokenWord[];
  readonly visemes?: SpokenViseme[];
  readonly phonemes?: SpokenPhoneme[];
}

/** A reply's `meta`. */
export const ReplyMeta = Type.Unsafe<Record<string, unknown>>(
  Type.Object(marks, {
    title: "ReplyMeta",
    additionalProperties: true,
    description:
      "Diagnostics: latency, frames, how generation stopped; and what is said when. Keys may be added.",
  }),
);

/** A word of a reply: when it is spoken, and where in the reply's text it stands. */
export interface Word {
  readonly word: string;
  /** Seconds from the reply's first sample. */
  readonly start: number;
  /** Seconds from the reply's first sample. */
  readonly end: number;
  /** Code points of the reply's text before the word. */
  readonly offset: number;
  /** Code points of the text that it stands for: `$5` is one word, though two are spoken. */
  readonly length: number;
}

/** One of Oculus's fifteen shapes of a mouth. */
export type VisemeName =
  | "sil"
  | "PP"
  | "FF"
  | "TH"
  | "DD"
  | "kk"
  | "CH"
  | "SS"
  | "nn"
  | "RR"
  | "aa"
  | "E"
  | "I"
  | "O"
  | "U";

/** The shape of the mouth, and from when to when, in seconds from the reply's first sample. */
export interface Viseme {
  readonly viseme: VisemeName;
  readonly start: number;
  readonly end: number;
}

/** What is said when, where the server tells: of a frame, what begins in it. */
export interface Marks {
  readonly words?: readonly Word[];
  /** Where the request asked for `visemes`. */
  readonly visemes?: readonly Viseme[];
  readonly phonemes?: readonly Phoneme[];
}

/** A phoneme in the voice's alphabet, and when it is heard, in seconds from the reply's first sample. */
export interface Phoneme {
  readonly phoneme: string;
  readonly start: number;
  readonly end: number;
}

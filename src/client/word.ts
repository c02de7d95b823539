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

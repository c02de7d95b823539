/** One caption: what is shown, at most two lines of it, and from when to when, in seconds. */
export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Where in `text` words begin, in UTF-16 units, and when: WebVTT shows them as they come. */
  readonly words?: readonly { readonly at: number; readonly start: number }[];
}

/** A word of a reply, as its `meta.words` have it: seconds, and its place in the reply's text in code points. */
export interface TimedWord {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly length: number;
}

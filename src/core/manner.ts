/** How something is said, against a voice's own way: factors, of which 1 changes nothing. */
export interface Manner {
  /** Above 1 is faster. */
  readonly tempo: number;
  readonly pitch: number;
  /** On how far the pitch moves away from its median, in semitones. */
  readonly range: number;
  /** On the length of pauses. */
  readonly pause: number;
  /** Added to the level. */
  readonly levelDb: number;
}

/** A manner as somebody asked for it, and what was understood of that. */
export interface AskedManner {
  /** Never blank. */
  readonly words: string;
  readonly figures: Manner;
}

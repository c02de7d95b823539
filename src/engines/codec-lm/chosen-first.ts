/** How less likely first codes become that were chosen before. */
export interface RepetitionPenalty {
  /** Applies it to the score of a code that was. */
  readonly of: (score: number) => number;
  /** Frames that it looks back over; `null`: all. */
  readonly window: number | null;
}

/** The first codes of an utterance's frames, as they were sampled. */
export class CodeHistory {
  readonly #codes: number[] = [];

  get count(): number {
    return this.#codes.length;
  }

  note(code: number): void {
    this.#codes.push(code);
  }

  /** Logits with the penalty, once for a code; `spared` has none. They are the caller's own. */
  penalised(logits: Float32Array, penalty: RepetitionPenalty | null, spared: number | null): Float32Array {
    const scores = logits.slice();
    if (penalty === null) return scores;
    const { window, of } = penalty;
    for (const code of new Set(window === null ? this.#codes : this.#codes.slice(-window))) {
      if (code !== spared) scores[code] = of(scores[code]!);
    }
    return scores;
  }
}

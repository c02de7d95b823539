/** What was understood of a turn that came as sound alone. */
export interface HeardTurn {
  /** In the conversation, from 0. */
  readonly index: number;
  /** `null`: nobody speaks in it, or it could not be heard. */
  readonly text: string | null;
  /** ISO 639-1; `null` where it is unknown. */
  readonly language: string | null;
  /** 0 to 1; `null` where the recogniser does not say. */
  readonly languageProbability: number | null;
  readonly speechProbability: number | null;
  /** How much of it was listened to, from its beginning. */
  readonly heardS: number;
  /** How long that took, with the wait for a place; next to nothing for a clip that was heard before. */
  readonly ms: number;
  /** Why it could not be heard, or not all of it, for the client; `null` where it was. */
  readonly problem: string | null;
}

/** As a reply's `meta` has it. */
export function heardMeta(heard: readonly HeardTurn[]): Record<string, unknown>[] {
  return heard.map((turn) => ({
    turn: turn.index,
    text: turn.text,
    language: turn.language,
    language_probability: rounded(turn.languageProbability),
    speech_probability: rounded(turn.speechProbability),
    heard_seconds: Math.round(turn.heardS * 100) / 100,
    ms: turn.ms,
    ...(turn.problem === null ? {} : { problem: turn.problem }),
  }));
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1_000) / 1_000;
}

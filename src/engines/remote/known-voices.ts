import type { CastVoice } from "../../core/model-card.ts";

/** A list is asked for anew after so long. */
const KEPT_MS = 60_000;

/**
 * A list of voices that is asked for when somebody wants it, once for all who do, and kept. Only the first time is there
 * anything to wait for: later whoever asks gets what was known, while it is asked anew. Never rejects: a list that cannot be
 * had is empty.
 *
 * @param nowMs milliseconds of a steady clock
 */
export function knownVoices(
  ask: () => Promise<readonly CastVoice[]>,
  nowMs: () => number = () => performance.now(),
): () => Promise<readonly CastVoice[]> {
  let known: readonly CastVoice[] | null = null;
  let asked: Promise<readonly CastVoice[]> | null = null;
  let askedAtMs = 0;
  const answer = async (): Promise<readonly CastVoice[]> => {
    known = await ask().catch(() => []);
    return known;
  };
  return async () => {
    if (asked === null || nowMs() - askedAtMs >= KEPT_MS) {
      askedAtMs = nowMs();
      asked = answer();
    }
    return known ?? asked;
  };
}

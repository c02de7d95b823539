import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { joined } from "../../../audio/joined.ts";
import type { SpokenTurn, Utterance } from "../model.ts";

/** What a speaker said before, end to end. */
export interface Reference {
  /** `null`: what was said is not known, or does not count. */
  readonly text: string | null;
  readonly audio: Float32Array;
}

/** More of a reference makes it worse, and from there on other implementations hear other codes. */
const MOST_S = 10;

/**
 * What the open speaker's own earlier turns come to: the newest whole ones with sound, up to ten seconds, or the newest
 * alone if it is longer. Where any has words too, only such turns count.
 *
 * @param isVoiceOnly whether the words are left out
 * @returns `null` when there is no turn of theirs with sound
 */
export function ownReference({ history, open }: Utterance, isVoiceOnly: boolean): Reference | null {
  const own = history.filter(({ speaker, audio }) => speaker === open.speaker && lengthOf(audio) > 0);
  const worded = own.filter(({ text }) => (text ?? "").trim() !== "");
  const turns = newest(worded.length > 0 ? worded : own);
  if (turns.length === 0) return null;
  const text = turns.map((turn) => (turn.text ?? "").trim()).join(" ");
  return {
    text: isVoiceOnly || worded.length === 0 ? null : text,
    audio: joined(turns.map(({ audio }) => audio!)),
  };
}

function newest(turns: readonly SpokenTurn[]): SpokenTurn[] {
  const kept: SpokenTurn[] = [];
  let samples = 0;
  for (const turn of turns.toReversed()) {
    samples += lengthOf(turn.audio);
    if (kept.length > 0 && samples > MOST_S * SAMPLE_RATE_HZ) break;
    kept.unshift(turn);
  }
  return kept;
}

const lengthOf = (audio: Float32Array | null): number => audio?.length ?? 0;

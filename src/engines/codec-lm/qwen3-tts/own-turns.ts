import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { joined } from "../../../audio/joined.ts";
import type { SpokenTurn, Utterance } from "../model.ts";

/** What a speaker said before. */
export interface Reference {
  /** What was heard, end to end: at 24 kHz, mono. */
  readonly audio: Float32Array;
  /** Names of its clips, where they have any. */
  readonly digests: readonly (string | undefined)[];
  /** What was said in it; `null`: that is not known, or does not count. */
  readonly text: string | null;
  /** Indices in the history of the turns that it is made of, oldest first. */
  readonly turns: readonly number[];
}

/** More of a reference makes it worse, and from there on other implementations hear other codes. */
const MAX_S = 10;

/**
 * What the open speaker's own earlier turns come to: of those that were heard the newest whole ones, up to ten seconds, or
 * the newest alone if it is longer. Where any has words too, only such turns count. What the model said itself does not.
 *
 * @param isVoiceOnly whether the words are left out
 * @returns `null` when nobody heard them
 */
export function ownReference({ history, open }: Utterance, isVoiceOnly: boolean): Reference | null {
  const heard = [...history.keys()].filter((at) => {
    const { speaker, audio, codes } = history[at]!;
    return speaker === open.speaker && codes === undefined && lengthOf(audio) > 0;
  });
  const worded = heard.filter((at) => wordsOf(history[at]!) !== "");
  const turns = newest(history, worded.length > 0 ? worded : heard);
  if (turns.length === 0) return null;
  const clips = turns.map((at) => history[at]!);
  return {
    audio: joined(clips.map(({ audio }) => audio!)),
    digests: clips.map(({ digest }) => digest),
    text: worded.length > 0 && !isVoiceOnly ? clips.map(wordsOf).join(" ") : null,
    turns,
  };
}

function newest(history: readonly SpokenTurn[], turns: readonly number[]): number[] {
  const kept: number[] = [];
  let samples = 0;
  for (const at of turns.toReversed()) {
    samples += lengthOf(history[at]!.audio);
    if (kept.length > 0 && samples > MAX_S * SAMPLE_RATE_HZ) break;
    kept.unshift(at);
  }
  return kept;
}

const wordsOf = ({ text }: SpokenTurn): string => (text ?? "").trim();

const lengthOf = (audio: Float32Array | null): number => audio?.length ?? 0;

import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { joined } from "../../../audio/joined.ts";
import type { Frame } from "../frame-decoder.ts";
import type { SpokenTurn, Utterance } from "../model.ts";

/** What a speaker said before. */
export interface Reference {
  /** What was heard, end to end: at 24 kHz, mono. */
  readonly audio: Float32Array;
  /** Names of its clips, where they have any. */
  readonly digests: readonly (string | undefined)[];
  /** What was said in it; `null`: that is not known, or does not count. */
  readonly text: string | null;
  /** What the model said itself behind it. */
  readonly said: { readonly text: string; readonly frames: readonly Frame[] };
  /** Indices in the history of the turns that it is made of, oldest first. */
  readonly turns: readonly number[];
}

/** More of a reference makes it worse, and from there on other implementations hear other codes. */
const MOST_S = 10;
/** The same, with what the model said itself. */
const MOST_WITH_SAID_S = 15;

/**
 * What the open speaker's own earlier turns come to: of those that were heard the newest whole ones, up to ten seconds, or
 * the newest alone if it is longer, and behind them what the model said itself. Where any has words too, only such turns
 * count.
 *
 * @param isVoiceOnly whether the words are left out
 * @returns `null` when nobody heard them
 */
export function ownReference({ history, open }: Utterance, isVoiceOnly: boolean): Reference | null {
  const own = [...history.keys()].filter((at) => history[at]!.speaker === open.speaker);
  const heard = own.filter((at) => history[at]!.codes === undefined && lengthOf(history[at]!) > 0);
  const worded = heard.filter((at) => wordsOf(history[at]!) !== "");
  const isWorded = worded.length > 0 && !isVoiceOnly;
  const turns = newest(history, worded.length > 0 ? worded : heard, MOST_S, 1);
  if (turns.length === 0) return null;
  const clips = turns.map((at) => history[at]!);
  const audio = joined(clips.map((turn) => turn.audio!));
  const repeated = isWorded ? own.filter((at) => history[at]!.codes !== undefined) : [];
  const said = newest(history, repeated, MOST_WITH_SAID_S - audio.length / SAMPLE_RATE_HZ, 0);
  return {
    audio,
    digests: clips.map(({ digest }) => digest),
    text: isWorded ? clips.map(wordsOf).join(" ") : null,
    said: {
      text: said.map((at) => wordsOf(history[at]!)).join(" "),
      frames: said.flatMap((at) => history[at]!.codes!),
    },
    turns: [...turns, ...said],
  };
}

/** The newest of these turns that together last no longer, but at least so many. */
function newest(
  history: readonly SpokenTurn[],
  turns: readonly number[],
  mostS: number,
  least: number,
): number[] {
  const kept: number[] = [];
  let samples = 0;
  for (const at of turns.toReversed()) {
    samples += lengthOf(history[at]!);
    if (kept.length >= least && samples > mostS * SAMPLE_RATE_HZ) break;
    kept.unshift(at);
  }
  return kept;
}

const wordsOf = ({ text }: SpokenTurn): string => (text ?? "").trim();

/** In samples. */
const lengthOf = ({ audio, codes }: SpokenTurn): number =>
  codes === undefined ? (audio?.length ?? 0) : codes.length * FRAME_SAMPLES;

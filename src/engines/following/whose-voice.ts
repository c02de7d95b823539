import type { Clip } from "../../core/conversation.ts";
import type { Script } from "../../core/script.ts";
import { MAX_STRETCH_S } from "./analysis/best-stretch.ts";
import type { VoiceProfile } from "./analysis/voice-profile.ts";

/** An earlier turn that can be heard. */
export interface HeardTurn {
  /** Index in the history; `null`: a recording that was chosen, and no turn. */
  readonly index: number | null;
  readonly clip: Clip;
  /** What is said in it, where that is known. */
  readonly text: string | null;
}

export interface HeardClip extends HeardTurn {
  readonly profile: VoiceProfile;
}

/** An earlier turn of somebody else. */
export type OthersTurn = HeardTurn & { readonly index: number };

/**
 * What shapes the open turn's voice: the speaker's own turns, the oldest first, so that a label keeps the voice that it was
 * given first, whatever is said later; where a recording was chosen, that in their place, and where one of our voices was,
 * nothing; and the newest turn of somebody else.
 */
export function turnsToHear({ history, speaker, voice }: Pick<Script, "history" | "speaker" | "voice">): {
  readonly own: readonly HeardTurn[];
  readonly other: OthersTurn | null;
} {
  const own: HeardTurn[] = [];
  let other: OthersTurn | null = null;
  for (const part of voice ?? []) {
    if ("sample" in part) own.push({ index: null, ...part.sample });
  }
  history.forEach(({ audio, text, speaker: label }, index) => {
    if (audio === null) return;
    const turn = { index, clip: audio, text };
    if (label !== speaker) other = turn;
    else if (voice === undefined) own.push(turn);
  });
  return { own, other };
}

/**
 * Hears turns, in their order, until there is enough speech: what comes after changes nothing any more. Clips that are
 * not to be trusted hold no speech. Long silences are not listened to without end.
 */
export async function hearEnough(
  turns: readonly HeardTurn[],
  hear: (turn: HeardTurn) => Promise<VoiceProfile>,
): Promise<readonly HeardClip[]> {
  const heard: HeardClip[] = [];
  let [speechS, listenedS] = [0, 0];
  for (const turn of turns) {
    if (speechS >= ENOUGH_SPEECH_S || listenedS >= MAX_LISTENING_S) break;
    const profile = await hear(turn);
    heard.push({ ...turn, profile });
    if (profile.suitability.trust > 0) speechS += profile.speechS;
    listenedS += Math.min(MAX_STRETCH_S, turn.clip.durationS);
  }
  return heard;
}

const ENOUGH_SPEECH_S = 12;
const MAX_LISTENING_S = 90;

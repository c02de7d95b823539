import type { Clip } from "../../../model/conversation.ts";
import type { Script } from "../../../model/script.ts";
import { MAX_STRETCH_S } from "../listen/best-stretch.ts";
import type { VoiceProfile } from "../listen/voice-profile.ts";

/** An earlier turn that can be heard. */
export interface HeardTurn {
  /** Index in the history. */
  readonly index: number;
  readonly clip: Clip;
  /** What is said in it, where that is known. */
  readonly text: string | null;
}

export interface HeardClip extends HeardTurn {
  readonly profile: VoiceProfile;
}

/**
 * Which earlier turns shape the open one's voice: the speaker's own, the oldest first, so that a label keeps the voice
 * that it was given first, whatever is said later; and the newest of somebody else.
 */
export function turnsToHear({ history, speaker }: Pick<Script, "history" | "speaker">): {
  readonly own: readonly HeardTurn[];
  readonly other: HeardTurn | null;
} {
  const own: HeardTurn[] = [];
  let other: HeardTurn | null = null;
  history.forEach(({ audio, text, speaker: label }, index) => {
    if (audio === null) return;
    const turn = { index, clip: audio, text };
    if (label === speaker) own.push(turn);
    else other = turn;
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

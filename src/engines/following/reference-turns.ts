import type { Clip } from "../../core/conversation.ts";
import type { Script } from "../../core/script.ts";
import { MAX_EXCERPT_S } from "./analysis/best-excerpt.ts";
import type { VoiceProfile } from "./analysis/voice-profile.ts";

/** A clip that may shape the voice. */
export interface ReferenceTurn {
  /** Index in the history; `null` for a chosen recording. */
  readonly index: number | null;
  readonly clip: Clip;
  readonly text: string | null;
}

export interface AnalysedClip extends ReferenceTurn {
  readonly profile: VoiceProfile;
}

export type OtherSpeakersTurn = ReferenceTurn & { readonly index: number };

/**
 * Returns the clips that shape the open turn's voice. The speaker's own turns come oldest first, so that a label
 * keeps its first voice; a chosen recording replaces them, and a chosen built-in voice excludes them. `other` is the
 * newest turn of another speaker.
 */
export function referenceTurns({ history, speaker, voice }: Pick<Script, "history" | "speaker" | "voice">): {
  readonly own: readonly ReferenceTurn[];
  readonly other: OtherSpeakersTurn | null;
} {
  const own: ReferenceTurn[] = [];
  let other: OtherSpeakersTurn | null = null;
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

/** Analyses turns in order until there is enough speech, or too much audio. Untrusted clips count as no speech. */
export async function analyseUntilEnough(
  turns: readonly ReferenceTurn[],
  hear: (turn: ReferenceTurn) => Promise<VoiceProfile>,
): Promise<readonly AnalysedClip[]> {
  const analysed: AnalysedClip[] = [];
  let [speechS, listenedS] = [0, 0];
  for (const turn of turns) {
    if (speechS >= ENOUGH_SPEECH_S || listenedS >= MAX_LISTENING_S) break;
    const profile = await hear(turn);
    analysed.push({ ...turn, profile });
    if (profile.suitability.trust > 0) speechS += profile.speechS;
    listenedS += Math.min(MAX_EXCERPT_S, turn.clip.durationS);
  }
  return analysed;
}

const ENOUGH_SPEECH_S = 12;
const MAX_LISTENING_S = 90;

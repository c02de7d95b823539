import { setImmediate } from "node:timers/promises";
import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import { resample } from "../../../audio/resample.ts";
import type { Clip, SpeakerLabel, Turn } from "../../../core/conversation.ts";
import type { ChosenVoice } from "../../../core/script.ts";
import { ConversationError } from "../../../core/speech-model.ts";
import type { ClipSupport, SpokenTurn } from "../codec-language-model.ts";
import { couldCoverAudio, toPlainText } from "./segments.ts";
import type { LabelVoices } from "./voices.ts";

export interface ContextTurns {
  readonly turns: readonly SpokenTurn[];
  /** Index in the history of each turn; `null` for a turn that is not in it. */
  readonly indices: readonly (number | null)[];
}

interface ContextRequest {
  readonly history: readonly Turn[];
  readonly speaker: SpeakerLabel;
  readonly voice?: ChosenVoice;
}

/** Without it, the first sound of the answer would be the last of the clip. */
const TRAILING_SILENCE = new Float32Array(SAMPLE_RATE_HZ / 2);

/**
 * Selects the turns of a conversation for the prompt. A model with presets gets none; a model that follows clips gets
 * the speaker's own turns with audio, else the clip of the label; any other model gets all turns, preceded by the
 * label's clip if the speaker has no audio in them. Audio is copied, since the caller may free its clips.
 *
 * @throws ConversationError if there is no voice to follow; the signal's reason
 */
export async function buildContext(
  situation: ContextRequest,
  { kind }: ClipSupport,
  voices: LabelVoices,
  signal: AbortSignal,
): Promise<ContextTurns> {
  if (kind === "presets") return { turns: [], indices: [] };
  const { speaker } = situation;
  const history =
    situation.voice === undefined ? situation.history : withoutSoundOf(speaker, situation.history);
  const clip = voices.clipOf(speaker);
  const hasOwn = history.some((turn) => turn.speaker === speaker && turn.audio !== null);
  const entries: { turn: SpokenTurn; place: number | null }[] = [];
  if (!hasOwn && clip !== null)
    entries.push({ turn: kind === "clips" ? withSilence(clip) : clip, place: null });
  if (kind === "clips" && !hasOwn && clip === null)
    throw new ConversationError(
      `this model needs a reference voice, and there is none of speaker ${JSON.stringify(speaker)}: give an earlier turn of that speaker audio_wav_b64, 3 to 10 s of speech, and its text`,
    );
  for (const [place, turn] of history.entries()) {
    if (turn.text === null && turn.audio === null) continue;
    if (kind === "clips" && (turn.speaker !== speaker || turn.audio === null)) continue;
    const spoken = spokenTurn(turn);
    entries.push({ turn: kind === "clips" ? toReference(spoken, turn) : spoken, place });
    if (turn.audio === null) continue;
    // Resampling takes a while: let other work run.
    await setImmediate();
    signal.throwIfAborted();
  }
  return { turns: entries.map(({ turn }) => turn), indices: entries.map(({ place }) => place) };
}

function withoutSoundOf(speaker: SpeakerLabel, history: readonly Turn[]): Turn[] {
  return history.map((turn) => (turn.speaker === speaker ? { ...turn, audio: null } : turn));
}

function spokenTurn({ speaker, text, audio }: Turn): SpokenTurn {
  const words = text === null ? null : toPlainText(text);
  if (audio === null) return { speaker, text: words, audio: null };
  return { speaker, text: words, ...resampledAudio(audio) };
}

function resampledAudio({ samples, sampleRateHz, digest }: Clip): Pick<SpokenTurn, "audio" | "digest"> {
  if (sampleRateHz === SAMPLE_RATE_HZ) return { audio: samples.slice(), digest };
  const audio = resample(samples, sampleRateHz, SAMPLE_RATE_HZ);
  return { audio: audio.length === 0 ? null : audio, digest: `${digest}:24k` };
}

/** Prepares a turn as a voice reference: its text is kept only if it covers all of the audio. */
function toReference(turn: SpokenTurn, { audio }: Turn): SpokenTurn {
  const { durationS, samples, sampleRateHz } = audio!;
  const isWhole = samples.length >= durationS * sampleRateHz - 1;
  const isCovered = turn.text !== null && isWhole && couldCoverAudio(turn.text, durationS);
  return withSilence(isCovered ? turn : { ...turn, text: null });
}

function withSilence(turn: SpokenTurn): SpokenTurn {
  if (turn.audio === null) return turn;
  return { ...turn, audio: joinSamples([turn.audio, TRAILING_SILENCE]), digest: `${turn.digest}:rest` };
}

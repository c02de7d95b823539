import { setImmediate } from "node:timers/promises";
import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import { resample } from "../../../audio/resample.ts";
import type { Clip, SpeakerLabel, Turn } from "../../../core/conversation.ts";
import type { ChosenVoice } from "../../../core/script.ts";
import { ConversationError } from "../../../core/speech-model.ts";
import type { SpokenTurn, VoiceSupport } from "../codec-language-model.ts";
import { couldCoverAudio, toPlainText } from "./segments.ts";
import type { LabelVoices } from "./voices.ts";

/** What a model is told of a conversation. */
export interface ContextTurns {
  readonly turns: readonly SpokenTurn[];
  /** Which of the history each is; `null`: it is none of them. */
  readonly indices: readonly (number | null)[];
}

/** A conversation, and who speaks next; whether in a voice that was chosen, whatever the speaker's turns sound like. */
interface ContextRequest {
  readonly history: readonly Turn[];
  readonly speaker: SpeakerLabel;
  readonly voice?: ChosenVoice;
}

/** Behind a clip: without it the first sound of the answer would be the last of the clip. */
const TRAILING_SILENCE = new Float32Array(SAMPLE_RATE_HZ / 2);

/**
 * What a model is told of a conversation, by what it can make of it. One with presets is told nothing. One that follows a
 * clip is told the speaker's own turns with sound, else the clip of the label. One that reads all of it is told
 * all; where the speaker has not been heard, the label's clip comes first. What it is told stays when the caller's
 * clips are gone.
 *
 * @throws ConversationError where there is no voice to follow; the signal's reason
 */
export async function buildContext(
  situation: ContextRequest,
  { kind }: VoiceSupport,
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
  if (kind === "clips" && !hasOwn && clip === null) throw missingVoiceError(speaker);
  for (const [place, turn] of history.entries()) {
    if (turn.text === null && turn.audio === null) continue;
    if (kind === "clips" && (turn.speaker !== speaker || turn.audio === null)) continue;
    const spoken = spokenTurn(turn);
    entries.push({ turn: kind === "clips" ? toReference(spoken, turn) : spoken, place });
    if (turn.audio === null) continue;
    // Resampling takes a while; others may go on.
    await setImmediate();
    signal.throwIfAborted();
  }
  return { turns: entries.map(({ turn }) => turn), indices: entries.map(({ place }) => place) };
}

/** The same turns at the same places, those of one speaker without their sound. */
function withoutSoundOf(speaker: SpeakerLabel, history: readonly Turn[]): Turn[] {
  return history.map((turn) => (turn.speaker === speaker ? { ...turn, audio: null } : turn));
}

function missingVoiceError(speaker: SpeakerLabel): ConversationError {
  return new ConversationError(
    `this model speaks in a voice that it hears, and it has heard none of speaker ${JSON.stringify(speaker)}: give an earlier turn of that speaker audio_wav_b64, 3 to 10 s of speech, and its text`,
  );
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

/** A turn as a voice to follow: with its words only where they are those of all of its sound. */
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

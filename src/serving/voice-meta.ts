import type { HeardVoice, ReadPrompt } from "../model/speech-model.ts";

/** `meta.voice`: what a reply's voice took from earlier turns; turns are counted as the request's conversation does. */
export function voiceMeta(voice: HeardVoice): Record<string, unknown> {
  return {
    start: voice.start,
    followed: [...voice.followed],
    turns: [...voice.turns],
    speech_seconds: rounded(voice.speechS, 1),
    trust: rounded(voice.trust, 2),
    cautions: [...voice.cautions],
    entrained_by: voice.entrainedBy,
    pitch_semitones: rounded(voice.pitchSemitones, 1),
    pitch_range: rounded(voice.pitchRange, 2),
    rate: rounded(voice.rate, 2),
    level_db: rounded(voice.levelDb, 1),
    warp: rounded(voice.warp, 2),
    spectrum_db: rounded(voice.spectrumDb, 1),
  };
}

/** `meta.prompt`: what the model read of the conversation, counted as the request does, and what went wrong. */
export function promptMeta({ turns, heard, forgotten, cautions }: ReadPrompt): Record<string, unknown> {
  return { turns, heard, forgotten, cautions };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

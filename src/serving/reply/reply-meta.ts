import { countChars } from "../../contract/limits.ts";
import type { Marks } from "../../contract/spoken.ts";
import type { FollowedVoice, PromptReport, SpeechReport } from "../../core/speech-model.ts";

/** Transcript of an audio-only turn. */
export interface TranscribedTurn {
  /** Index in the conversation, from 0. */
  readonly index: number;
  /** `null` if the turn has no speech or could not be transcribed. */
  readonly text: string | null;
  /** ISO 639-1; `null` if unknown. */
  readonly language: string | null;
  /** 0 to 1; `null` if the recogniser does not report it. */
  readonly languageProbability: number | null;
  readonly speechProbability: number | null;
  /** Seconds that were transcribed, from the beginning. */
  readonly heardS: number;
  /** Milliseconds that it took, including the wait for a slot; next to nothing for a cached clip. */
  readonly ms: number;
  /** Why the turn, or part of it, could not be transcribed, for the client; `null` if it was. */
  readonly problem: string | null;
}

export interface ReplyFacts {
  /** Times and frames from `UtteranceStats.meta`. */
  readonly stats: Readonly<Record<string, unknown>>;
  /** Load time of the model, if it had to be loaded. */
  readonly loadMs: number | null | undefined;
  readonly turns: readonly TranscribedTurn[];
  /** Report of the writing; `null` if nothing was written. */
  readonly writer: Readonly<Record<string, unknown>> | null;
  readonly report: SpeechReport;
  readonly marks: Marks;
  /** Requests of the text's markup that were not followed. */
  readonly cautions?: readonly string[];
}

/** Returns the `meta` of a spoken reply, without what does not apply to it. */
export function replyMeta({
  stats,
  loadMs,
  turns,
  writer,
  report,
  marks,
  cautions = [],
}: ReplyFacts): Record<string, unknown> {
  return {
    ...stats,
    ...(report.stop === "length" ? { spoken_characters: countChars(report.spoken) } : {}),
    ...(loadMs == null ? {} : { load_ms: Math.round(10 * loadMs) / 10 }),
    ...(turns.length === 0 ? {} : { heard: turns.map(heardMeta) }),
    ...(writer === null ? {} : { writer }),
    ...(report.voice === undefined ? {} : { voice: voiceMeta(report.voice) }),
    ...(report.prompt === undefined ? {} : { prompt: promptMeta(report.prompt) }),
    ...(cautions.length === 0 ? {} : { cautions }),
    ...marks,
  };
}

/** Returns `meta.voice`: what the voice took from earlier turns, counted as in the request. */
export function voiceMeta(voice: FollowedVoice): Record<string, unknown> {
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

/** Returns `meta.prompt`: what the model read of the conversation, counted as in the request, and what went wrong. */
function promptMeta({ turns, heard, forgotten, cautions }: PromptReport): Record<string, unknown> {
  return { turns, heard, forgotten, cautions };
}

function heardMeta(turn: TranscribedTurn): Record<string, unknown> {
  return {
    turn: turn.index,
    text: turn.text,
    language: turn.language,
    language_probability: inThousandths(turn.languageProbability),
    speech_probability: inThousandths(turn.speechProbability),
    heard_seconds: Math.round(turn.heardS * 100) / 100,
    ms: turn.ms,
    ...(turn.problem === null ? {} : { problem: turn.problem }),
  };
}

function inThousandths(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1_000) / 1_000;
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

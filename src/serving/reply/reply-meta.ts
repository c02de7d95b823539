import { countChars } from "../../contract/limits.ts";
import type { Marks } from "../../contract/spoken.ts";
import type { FollowedVoice, PromptReport, SpeechReport } from "../../core/speech-model.ts";

/** What was understood of a turn that came as sound alone. */
export interface TranscribedTurn {
  /** In the conversation, from 0. */
  readonly index: number;
  /** `null`: nobody speaks in it, or it could not be heard. */
  readonly text: string | null;
  /** ISO 639-1; `null` where it is unknown. */
  readonly language: string | null;
  /** 0 to 1; `null` where the recogniser does not say. */
  readonly languageProbability: number | null;
  readonly speechProbability: number | null;
  /** How much of it was listened to, from its beginning. */
  readonly heardS: number;
  /** How long that took, with the wait for a place; next to nothing for a clip that was heard before. */
  readonly ms: number;
  /** Why it could not be heard, or not all of it, for the client; `null` where it was. */
  readonly problem: string | null;
}

/** What a reply's `meta` is made of. */
export interface ReplyFacts {
  /** Its times and frames, as `UtteranceStats.meta` has them. */
  readonly stats: Readonly<Record<string, unknown>>;
  /** How long its model took to load, where it had to. */
  readonly loadMs: number | null | undefined;
  readonly heard: readonly TranscribedTurn[];
  /** What there is to say of the writing; `null` where nobody wrote. */
  readonly writer: Readonly<Record<string, unknown>> | null;
  readonly report: SpeechReport;
  readonly marks: Marks;
  /** What the text's marks ask for and is not done. */
  readonly cautions?: readonly string[];
}

/** The `meta` of a reply that was spoken: what does not apply to it is left out. */
export function replyMeta({
  stats,
  loadMs,
  heard,
  writer,
  report,
  marks,
  cautions = [],
}: ReplyFacts): Record<string, unknown> {
  return {
    ...stats,
    ...(report.stop === "length" ? { spoken_characters: countChars(report.spoken) } : {}),
    ...(loadMs == null ? {} : { load_ms: Math.round(10 * loadMs) / 10 }),
    ...(heard.length === 0 ? {} : { heard: heard.map(heardMeta) }),
    ...(writer === null ? {} : { writer }),
    ...(report.voice === undefined ? {} : { voice: voiceMeta(report.voice) }),
    ...(report.prompt === undefined ? {} : { prompt: promptMeta(report.prompt) }),
    ...(cautions.length === 0 ? {} : { cautions }),
    ...marks,
  };
}

/** `meta.voice`: what a reply's voice took from earlier turns; turns are counted as the request's conversation does. */
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

/** `meta.prompt`: what the model read of the conversation, counted as the request does, and what went wrong. */
function promptMeta({ turns, heard, forgotten, cautions }: PromptReport): Record<string, unknown> {
  return { turns, heard, forgotten, cautions };
}

/** One of `meta.heard`. */
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

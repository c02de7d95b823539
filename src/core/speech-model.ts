import type { Encoding } from "../audio/encode/encoder.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../audio/format.ts";
import type { SpeakerLabel } from "./conversation.ts";
import type { Script } from "./script.ts";

/** At most 80 ms of speech; only an utterance's last frame is shorter. */
export interface Frame extends SpeechEvents {
  /** 1 to 1920 samples in [-1, 1], mono, 24 kHz. The receiver owns the array. */
  readonly samples: Float32Array;
}

/** Events that begin in some samples. */
export interface SpeechEvents {
  /** Absent if the model knows no word times. */
  readonly words?: readonly SpokenWord[];
  /** Phonemes and visemes, if the script asks for them and the model knows them. */
  readonly mouth?: Mouth;
}

export interface Mouth {
  readonly phonemes: readonly TimedName[];
  readonly visemes: readonly TimedName[];
}

/** A named interval, in seconds from the utterance's first sample. */
export interface TimedName {
  readonly name: string;
  readonly startS: number;
  readonly endS: number;
}

/** Removes and returns the items of a sorted list that start before a time. */
export function takeStartedBefore<T extends { readonly startS: number }>(list: T[], endS: number): T[] {
  const next = list.findIndex(({ startS }) => startS >= endS);
  return list.splice(0, next < 0 ? list.length : next);
}

/**
 * A word as written, and its times: "$5" is one word, though two are spoken. Or a named mark of the text, without
 * words or length.
 */
export interface SpokenWord {
  readonly word: string;
  readonly mark?: string;
  /** Seconds from the utterance's first sample. */
  readonly startS: number;
  readonly endS: number;
  /** Position in the whole text, in code points. In order, never overlapping. */
  readonly offset: number;
  readonly length: number;
  /** In a dialogue: the speaker's name, and the number of the line, from 0. */
  readonly speaker?: string;
  readonly line?: number;
}

/** Some bytes of a file of speech, and the events in their samples. */
export interface EncodedPiece extends SpeechEvents {
  /** Never empty. The receiver owns them. */
  readonly bytes: Uint8Array;
  /** Samples at 24 kHz encoded since the previous piece; 0 when a codec only flushes. */
  readonly sampleCount: number;
}

/** Available after an utterance's last frame. */
export interface SpeechReport {
  /** `length`: the frame limit cut it short. */
  readonly stop: "finished" | "length";
  /** The spoken sentences: the whole text unless `stop` is `length`. */
  readonly spoken: string;
  /** What was taken from the audio of earlier turns; absent without audio. */
  readonly voice?: FollowedVoice;
  /** What the model read of the conversation; absent if the engine reads none. */
  readonly prompt?: PromptReport;
  /** Final version of the file's first bytes, now that its length is known. */
  readonly finishedHead?: Uint8Array;
}

/** What a conversational model read. Turns are indices of the history, oldest first. */
export interface PromptReport {
  /** Turns that were read. This and the next two are `null` if the speech ended early. */
  readonly turns: readonly number[] | null;
  /** Turns among them whose audio was read. */
  readonly heard: readonly number[] | null;
  /** Turns that did not fit. */
  readonly forgotten: readonly number[] | null;
  /** Problems with the speech, in a few words each. */
  readonly cautions: readonly string[];
}

/** What a voice took from the audio of earlier turns. */
export interface FollowedVoice {
  /** The label whose voice was the starting point. */
  readonly start: SpeakerLabel;
  /** Followed properties, as the engine names them: `pitch`, `level`, … May be empty. */
  readonly followed: readonly string[];
  /** Indices of the clips that were followed. */
  readonly turns: readonly number[];
  readonly speechS: number;
  /** 0 to 1: how far the clips were followed. */
  readonly trust: number;
  readonly cautions: readonly string[];
  /** Index of another speaker's clip that set level and pace; `null` if the speaker's own clips did. */
  readonly entrainedBy: number | null;
  /** Relative to the starting voice: pitch, factors of range and pace, level. */
  readonly pitchSemitones: number;
  readonly pitchRange: number;
  readonly rate: number;
  readonly levelDb: number;
  /** Factor on formant frequencies, for the length of the vocal tract. */
  readonly warp: number;
  /** Root mean square change of the spectral envelope over its bands. */
  readonly spectrumDb: number;
}

/**
 * Speaks one turn, given the earlier ones.
 *
 * `speak` computes frames only when the consumer pulls them (beyond a few frames of credit across threads), and pulls
 * `script.text` as needed. When `signal` aborts, it stops within a frame and throws the signal's reason; `return()`
 * stops it too. Throws {@link NothingToSpeakError} before the first frame if nothing in the text can be pronounced,
 * {@link ConversationError} if it cannot continue the conversation, and {@link SpeechFailedError} if the model fails.
 * Several utterances may be open at once.
 */
export interface SpeechModel {
  /**
   * Analyses the audio of the history and of chosen voices in small steps, so that open utterances are not delayed.
   * The results are cached: `speak` would otherwise do the same in one step before its first frame.
   */
  analyseHistory?(
    script: Pick<Script, "history" | "speaker" | "voice" | "textVoices" | "preset">,
    signal: AbortSignal,
  ): Promise<void>;
  speak(script: Script, signal: AbortSignal): AsyncGenerator<Frame, SpeechReport, void>;
  /** Encodes where the model computes. If absent, use `encodedSpeech`. */
  speakEncoded?(
    script: Script,
    encoding: Encoding,
    signal: AbortSignal,
  ): AsyncGenerator<EncodedPiece, SpeechReport, void>;
  /** Frees the weights. Open utterances fail with {@link SpeechFailedError}. May be called twice. */
  close(): Promise<void>;
}

/** Nothing in the text can be pronounced by this voice. The client's mistake. */
export class NothingToSpeakError extends Error {
  override readonly name = "NothingToSpeakError";
}

/**
 * The model cannot continue this conversation: it is too long, or lacks the voice the model needs. The message says
 * what to change. The client's mistake.
 */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
}

/** The model failed, its thread died, or it was closed. A retry may succeed. */
export class SpeechFailedError extends Error {
  override readonly name = "SpeechFailedError";
  /** Milliseconds to wait before a retry; `null` if unknown. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Speaks a text without words: frames of silence. */
export async function* silence(durationS: number): AsyncGenerator<Frame, SpeechReport, void> {
  let left = Math.round(durationS * SAMPLE_RATE_HZ);
  for (; left > 0; left -= FRAME_SAMPLES) {
    yield { samples: new Float32Array(Math.min(left, FRAME_SAMPLES)) };
  }
  return { stop: "finished", spoken: "" };
}

import type { Encoding } from "../audio/encode/encoder.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../audio/format.ts";
import type { SpeakerLabel } from "./conversation.ts";
import type { Script } from "./script.ts";

/** At most 80 ms of speech; only an utterance's last frame is shorter. */
export interface Frame extends SpeechEvents {
  /** 1 to 1920 samples in [-1, 1], mono, 24 kHz. The receiver owns the array. */
  readonly samples: Float32Array;
}

/** What begins in some samples of speech. */
export interface SpeechEvents {
  /** Absent where the model knows no words. */
  readonly words?: readonly SpokenWord[];
  /** Sounds and shapes of the mouth, where the script asks and the model knows any. */
  readonly mouth?: Mouth;
}

/** What a face does. */
export interface Mouth {
  readonly phonemes: readonly TimedName[];
  readonly visemes: readonly TimedName[];
}

/** Something with a name, from when to when. Times are from the utterance's first sample. */
export interface TimedName {
  readonly name: string;
  readonly startS: number;
  readonly endS: number;
}

/**
 * A word as the text writes it, and when it is heard. "$5" is one, although two words are spoken for it. Or a place that the
 * text gives a name (`mark`): of no words and no length, when it is come to.
 */
export interface SpokenWord {
  readonly word: string;
  readonly mark?: string;
  /** From the utterance's first sample. */
  readonly startS: number;
  readonly endS: number;
  /** Where it is written, in code points of the whole text: in order, and none over another. */
  readonly offset: number;
  readonly length: number;
}

/** Some of the bytes of a file of speech, and what begins in the samples that went in. */
export interface EncodedPiece extends SpeechEvents {
  /** Never empty. The receiver owns them. */
  readonly bytes: Uint8Array;
  /** Samples at 24 kHz that went into the file since the piece before: 0 where a codec gives what it held back. */
  readonly sampleCount: number;
}

/** What there is to say of an utterance once its last frame is out. */
export interface SpeechReport {
  /** `length`: the cap on frames cut it short. */
  readonly stop: "finished" | "length";
  /** The words whose audio was given, to the sentence: all of the text unless `stop` is `length`. */
  readonly spoken: string;
  /** What the voice took from earlier turns; absent where no audio was heard. */
  readonly voice?: FollowedVoice;
  /** What the model read before it spoke, and what went wrong; absent where an engine reads no conversation. */
  readonly prompt?: PromptReport;
  /** Of a file: what may stand in place of its first bytes where it is kept, since now its length is known. */
  readonly finishedHead?: Uint8Array;
}

/** What a model that goes on with a conversation read of it. Turns are indices in the history, oldest first. */
export interface PromptReport {
  /** The turns that were read; `null`, like the two that follow, where the speech was ended before the model said so. */
  readonly turns: readonly number[] | null;
  /** Of those, the ones whose sound was. */
  readonly heard: readonly number[] | null;
  /** The turns that it would have read but had no room for. */
  readonly forgotten: readonly number[] | null;
  /** What went wrong with the speech, in a few words each. */
  readonly cautions: readonly string[];
}

/** What a voice took from the audio of earlier turns. */
export interface FollowedVoice {
  /** The speaker whose voice it set out from. */
  readonly start: SpeakerLabel;
  /** What was followed, in the engine's own words: `pitch`, `level`, … Empty where nothing could be. */
  readonly followed: readonly string[];
  /** Indices in the history of the clips that led, and their speech in seconds, pauses left out. */
  readonly turns: readonly number[];
  readonly speechS: number;
  /** 0 to 1: how far the clips were followed, and why not further. */
  readonly trust: number;
  readonly cautions: readonly string[];
  /** Index of another speaker's clip that lent level and pace; `null` where one's own led. */
  readonly entrainedBy: number | null;
  /** Against the voice that it set out from: pitch, its range and the pace as factors, the level. */
  readonly pitchSemitones: number;
  readonly pitchRange: number;
  readonly rate: number;
  readonly levelDb: number;
  /** Length of the vocal tract against the voice as it was trained: formants go to this share of their frequency. */
  readonly warp: number;
  /** How far the colour of the sound moved, root mean square over its bands. */
  readonly spectrumDb: number;
}

/**
 * Speaks one turn in the light of the earlier ones.
 *
 * `speak` yields frames as the consumer pulls them and computes nothing that was not asked for (beyond the few
 * frames of credit that an adapter across a thread may keep). It pulls `script.text` as it needs it. When `signal`
 * aborts it stops within a frame and throws the signal's reason; leaving the iterator early (`return()`) stops it too.
 * It throws {@link NothingToSpeakError} before the first frame when the text has no reading,
 * {@link ConversationError} when it cannot go on with the turns, and {@link SpeechFailedError} when the model fails. Several utterances may be open at once.
 */
export interface SpeechModel {
  /**
   * Listens to the script's history, and to recordings that were chosen as its voices, in small pieces, so that utterances that are open already go on. What it finds out
   * is kept for a while: `speak` would do the same before its first frame, but as one step.
   */
  analyseHistory?(
    script: Pick<Script, "history" | "speaker" | "voice" | "textVoices" | "preset">,
    signal: AbortSignal,
  ): Promise<void>;
  speak(script: Script, signal: AbortSignal): AsyncGenerator<Frame, SpeechReport, void>;
  /** The same as a file, made where the model computes. Absent, whoever listens makes it (`encodedSpeech`). */
  speakEncoded?(
    script: Script,
    encoding: Encoding,
    signal: AbortSignal,
  ): AsyncGenerator<EncodedPiece, SpeechReport, void>;
  /** Frees the weights. Utterances still open fail with {@link SpeechFailedError}. Calling it twice is harmless. */
  close(): Promise<void>;
}

/** The text holds nothing that this voice can pronounce. The caller's mistake, found late. */
export class NothingToSpeakError extends Error {
  override readonly name = "NothingToSpeakError";
}

/**
 * The model cannot go on with this conversation: it is too long, or lacks the voice that the model needs. The message says
 * what to change. The caller's mistake, found late.
 */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
}

/** The model failed, its thread died, or it was closed. Retrying may help. */
export class SpeechFailedError extends Error {
  override readonly name = "SpeechFailedError";
  /** After how long it may; `null` where nobody knows. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Speech of a text that has no words: frames of silence. */
export async function* silence(durationS: number): AsyncGenerator<Frame, SpeechReport, void> {
  let left = Math.round(durationS * SAMPLE_RATE_HZ);
  for (; left > 0; left -= FRAME_SAMPLES) {
    yield { samples: new Float32Array(Math.min(left, FRAME_SAMPLES)) };
  }
  return { stop: "finished", spoken: "" };
}

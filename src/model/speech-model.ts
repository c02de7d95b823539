import type { Script } from "./script.ts";

/** At most 80 ms of speech; only an utterance's last frame is shorter. */
export interface Frame {
  /** 1 to 1920 samples in [-1, 1], mono, 24 kHz. The receiver owns the array. */
  readonly samples: Float32Array;
}

/** What there is to say of an utterance once its last frame is out. */
export interface SpeechReport {
  /** `length`: the cap on frames cut it short. */
  readonly stop: "finished" | "length";
  /** The words whose audio was given, to the sentence: all of the text unless `stop` is `length`. */
  readonly spoken: string;
}

/**
 * Speaks one turn in the light of the earlier ones.
 *
 * `speak` yields frames as the consumer pulls them and computes nothing that was not asked for (beyond the few
 * frames of credit that an adapter across a thread may keep). It pulls `script.text` as it needs it. When `signal`
 * aborts it stops within a frame and throws the signal's reason; leaving the iterator early (`return()`) stops it too.
 * It throws {@link NothingToSpeakError} before the first frame when the text has no reading, and
 * {@link SpeechFailedError} when the model fails. Several utterances may be open at once.
 */
export interface SpeechModel {
  speak(script: Script, signal: AbortSignal): AsyncGenerator<Frame, SpeechReport, void>;
  /** Frees the weights. Utterances still open fail with {@link SpeechFailedError}. Calling it twice is harmless. */
  close(): Promise<void>;
}

/** The text holds nothing that this voice can pronounce. The caller's mistake, found late. */
export class NothingToSpeakError extends Error {
  override readonly name = "NothingToSpeakError";
}

/** The model failed, its thread died, or it was closed. Retrying may help. */
export class SpeechFailedError extends Error {
  override readonly name = "SpeechFailedError";
}

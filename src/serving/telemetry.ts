import { newEventId, type UsageRecord } from "../accounts/store.ts";
import type { Encoding } from "../audio/encode/encoder.ts";
import type { Usage } from "../contract/replies.ts";

/** End of an utterance: completed, cut at its maximum length, left by the client, or failed (metering included). */
export type UtteranceEnd = "finished" | "length" | "gone" | "failed";

export interface EndedUtterance {
  /** Public id of the model. */
  readonly model: string;
  readonly format: Encoding;
  readonly reason: UtteranceEnd;
  /** Seconds of audio handed over. */
  readonly audioS: number;
  /** Seconds of waiting for the engine. */
  readonly engineS: number;
}

/** Receiver of measurements: sizes and times only, never text, audio or keys. */
export interface Telemetry {
  /** Records the seconds that a request waited for its first slot. */
  queued(seconds: number): void;
  /** Records the seconds until a writer's first token. */
  firstToken(seconds: number): void;
  /** Records the seconds from arrival to the first frame, by the model's public id. */
  firstAudio(model: string, seconds: number): void;
  /** Records a frame that came later than a real-time listener needed it, although it was asked for in time. */
  underrun(): void;
  ended(utterance: EndedUtterance): void;
  /** Records a transcribed recording: its length, and the wait for the recogniser, in seconds. */
  transcribed(audioS: number, recogniserS: number): void;
  /** Records the transcription of an audio-only turn before its reply. */
  turnTranscribed(outcome: "whole" | "part" | "none"): void;
  metered(usage: Usage): void;
}

export interface Metering {
  /** Resolves once the record is durable. */
  meter(record: UsageRecord): Promise<void>;
  readonly telemetry: Telemetry;
}

/** Commits a key's usage as one event of now. Resolves once it is durable. */
export async function meterUsage(metering: Metering, keyId: string, usage: Usage): Promise<void> {
  await metering.meter({
    eventId: newEventId(),
    keyId,
    inputChars: usage.input_chars,
    inputAudioS: usage.input_audio_seconds,
    outputAudioS: usage.output_audio_seconds,
    tsS: Date.now() / 1_000,
  });
  metering.telemetry.metered(usage);
}

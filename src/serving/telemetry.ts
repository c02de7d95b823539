import { newEventId, type UsageRecord } from "../accounts/store.ts";
import type { Encoding } from "../audio/encode/encoder.ts";
import type { Usage } from "../contract/replies.ts";

/**
 * How an utterance ended: all of it was spoken, as much as it may be long, its client went, or something failed, its
 * metering among that.
 */
export type UtteranceEnd = "finished" | "length" | "gone" | "failed";

/** An utterance that is over, however that came. */
export interface EndedUtterance {
  /** The public id of its model. */
  readonly model: string;
  readonly format: Encoding;
  readonly reason: UtteranceEnd;
  /** Handed over, in seconds. */
  readonly audioS: number;
  /** How long the engine was waited for, in seconds. */
  readonly engineS: number;
}

/** What the life of a request reports to whoever measures. Sizes and times only: never text, audio or keys. */
export interface Telemetry {
  /** Seconds that a request waited for its first place; it has that now. */
  queued(seconds: number): void;
  /** Seconds from when a model was asked to write to its first token. */
  firstToken(seconds: number): void;
  /** Seconds from the request's arrival to its first frame, spoken by the model of that public id. */
  firstAudio(model: string, seconds: number): void;
  /** A frame came later than a listener in real time needed it, and not because that listener was slow. */
  underrun(): void;
  ended(utterance: EndedUtterance): void;
  /** A recording was heard: its length, and how long the recogniser was waited for, in seconds. */
  transcribed(audioS: number, recogniserS: number): void;
  /** A turn of sound alone was to be heard before its reply. */
  turnTranscribed(outcome: "whole" | "part" | "none"): void;
  metered(usage: Usage): void;
}

/** Where usage goes. */
export interface Metering {
  /** Resolves once the record is durable. */
  meter(record: UsageRecord): Promise<void>;
  readonly telemetry: Telemetry;
}

/** Commits what a key has used, as one event of now. Resolves once that is durable. */
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

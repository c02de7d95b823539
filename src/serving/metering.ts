import type { Usage } from "../contract/replies.ts";
import { newEventId, type UsageRecord } from "../tenancy/store.ts";
import type { Telemetry } from "./telemetry.ts";

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

import type { VoiceRecord } from "./voice-store.ts";

/** A row of the table `voices`, but for the recording. */
export interface VoiceRow {
  readonly voice_id: string;
  readonly key_id: string;
  readonly name: string;
  readonly description: string;
  readonly ref_text: string | null;
  readonly consent: string;
  readonly created_ts: number;
  readonly duration_s: number;
  readonly trust: number;
  /** JSON: an array of strings. */
  readonly cautions: string;
}

/** The columns of a {@link VoiceRow}. */
export const VOICE_COLUMNS =
  "voice_id, key_id, name, description, ref_text, consent, created_ts, duration_s, trust, cautions";

export function voiceOf(row: VoiceRow): VoiceRecord {
  return {
    voiceId: row.voice_id,
    keyId: row.key_id,
    name: row.name,
    description: row.description,
    refText: row.ref_text,
    consent: row.consent,
    createdTsS: row.created_ts,
    durationS: row.duration_s,
    trust: row.trust,
    cautions: JSON.parse(row.cautions) as string[],
  };
}

/** The values of the columns, in their order. */
export function voiceValues(voice: VoiceRecord): (string | number | null)[] {
  return [
    voice.voiceId,
    voice.keyId,
    voice.name,
    voice.description,
    voice.refText,
    voice.consent,
    voice.createdTsS,
    voice.durationS,
    voice.trust,
    JSON.stringify(voice.cautions),
  ];
}

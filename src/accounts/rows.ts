import type { KeyRecord, UsageTotals, VoiceRecord } from "./store.ts";

/** A row of the table `keys`. */
export interface KeyRow {
  readonly key_id: string;
  readonly hash: string;
  readonly label: string;
  readonly rpm: number;
  readonly burst: number;
  readonly created_ts: number;
  readonly revoked_ts: number | null;
}

/**
 * A row of `usage_totals` joined to a key: large numbers as libsql or PostgreSQL return them; null without requests.
 */
export interface TotalsRow {
  readonly key_id: string;
  readonly requests: bigint | string | null;
  readonly input_chars: bigint | string | null;
  readonly input_ticks: bigint | string | null;
  readonly output_ticks: bigint | string | null;
  readonly last_ts: number | null;
}

export function keyOf(row: KeyRow): KeyRecord {
  return {
    keyId: row.key_id,
    label: row.label,
    rpm: row.rpm,
    burst: row.burst,
    createdTsS: row.created_ts,
    revokedTsS: row.revoked_ts,
  };
}

export function totalsOf(row: TotalsRow): UsageTotals {
  return {
    keyId: row.key_id,
    requests: Number(row.requests ?? 0),
    inputChars: Number(row.input_chars ?? 0),
    inputAudioS: fromTicks(BigInt(row.input_ticks ?? 0)),
    outputAudioS: fromTicks(BigInt(row.output_ticks ?? 0)),
    lastRequestTsS: row.last_ts,
  };
}

/** Converts seconds to ticks; exact for a whole number of samples at usual rates. */
export function toTicks(durationS: number): number {
  return Math.round(durationS * TICKS_PER_S);
}

/** Converts ticks to seconds. The only place that rounds. */
export function fromTicks(ticks: bigint): number {
  return Number(ticks) / TICKS_PER_S;
}

/**
 * Every usual sample rate from 8 to 192 kHz has a whole number of ticks per sample (24 kHz: 1176; 44.1 kHz: 640), so
 * that sums of clips of any rates are exact.
 */
const TICKS_PER_S = 28_224_000;

/** A row of the table `voices` without the recording. */
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
  /** JSON array of strings. */
  readonly cautions: string;
}

/** Columns of a {@link VoiceRow}. */
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

/** Returns the column values in order. */
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

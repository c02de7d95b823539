/** How samples are stored, of the kinds that can be read: little-endian numbers, and the codes of ITU-T G.711. */
export type SampleKind = "u8" | "s16" | "s24" | "s32" | "f32" | "f64" | "mulaw" | "alaw";

/** How bare samples lie, the channels interleaved. */
export interface PcmFormat {
  readonly kind: SampleKind;
  readonly sampleRateHz: number;
  readonly channels: number;
}

/** Bytes of one sample of each channel. */
export function frameBytes({ kind, channels }: Pick<PcmFormat, "kind" | "channels">): number {
  return channels * BYTES_PER_SAMPLE[kind];
}

const BYTES_PER_SAMPLE: Readonly<Record<SampleKind, number>> = {
  mulaw: 1,
  alaw: 1,
  u8: 1,
  s16: 2,
  s24: 3,
  s32: 4,
  f32: 4,
  f64: 8,
};

/**
 * Ticks in a second of audio. Every usual sample rate from 8 to 192 kHz has a whole number of them in a sample (24 kHz:
 * 1176; 44.1 kHz: 640), so that sums of clips are exact, whatever their rates.
 */
const TICKS_PER_S = 28_224_000;

/** A duration in seconds as ticks, exact for a whole number of samples at a usual rate. */
export function toTicks(durationS: number): number {
  return Math.round(durationS * TICKS_PER_S);
}

/** A total of ticks as seconds, rounded only here. */
export function fromTicks(ticks: bigint): number {
  return Number(ticks) / TICKS_PER_S;
}

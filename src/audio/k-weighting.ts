/** A filter of second order: y[n] = b0·x[n] + b1·x[n−1] + b2·x[n−2] − a1·y[n−1] − a2·y[n−2]. */
export interface Biquad {
  readonly b0: number;
  readonly b1: number;
  readonly b2: number;
  readonly a1: number;
  readonly a2: number;
}

/**
 * The two filters of the K-weighting (ITU-R BS.1770-5, tables 1 and 2), which are given for 48 kHz, for any rate: the
 * analogue prototypes behind them (Mansbridge, Finn and Reiss, "Implementation and evaluation of autonomous
 * multi-track fader control", 2012) through the bilinear transform.
 */
export function designKWeighting(sampleRateHz: number): { shelf: Biquad; highPass: Biquad } {
  return { shelf: designShelf(sampleRateHz), highPass: designHighPass(sampleRateHz) };
}

const TABLES_HZ = 48_000;

const SHELF_HZ = 1681.974450955533;
const SHELF_QUALITY = 0.7071752369554196;
const SHELF_GAIN = 10 ** (3.999843853973347 / 20);
const SHELF_MIDDLE_GAIN = SHELF_GAIN ** 0.4996667741545416;

function designShelf(sampleRateHz: number): Biquad {
  const k = Math.tan((Math.PI * SHELF_HZ) / sampleRateHz);
  const a0 = 1 + k / SHELF_QUALITY + k * k;
  const slope = (SHELF_MIDDLE_GAIN * k) / SHELF_QUALITY;
  return {
    b0: (SHELF_GAIN + slope + k * k) / a0,
    b1: (2 * (k * k - SHELF_GAIN)) / a0,
    b2: (SHELF_GAIN - slope + k * k) / a0,
    ...poles(k, SHELF_QUALITY),
  };
}

const HIGH_PASS_HZ = 38.13547087602444;
const HIGH_PASS_QUALITY = 0.5003270373238773;

/** The table's numerator is 1, −2, 1; at other rates it is scaled to the same gain in the pass band. */
function designHighPass(sampleRateHz: number): Biquad {
  const k = Math.tan((Math.PI * HIGH_PASS_HZ) / sampleRateHz);
  const b0 = highPassA0(Math.tan((Math.PI * HIGH_PASS_HZ) / TABLES_HZ)) / highPassA0(k);
  return { b0, b1: -2 * b0, b2: b0, ...poles(k, HIGH_PASS_QUALITY) };
}

function highPassA0(k: number): number {
  return 1 + k / HIGH_PASS_QUALITY + k * k;
}

function poles(k: number, quality: number): { a1: number; a2: number } {
  const a0 = 1 + k / quality + k * k;
  return { a1: (2 * (k * k - 1)) / a0, a2: (1 - k / quality + k * k) / a0 };
}

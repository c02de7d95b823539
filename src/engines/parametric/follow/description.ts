import { BIN_HZ, BINS, PART, VOICED_ABOVE_HZ } from "../geometry.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { bandLogs } from "../listen/bands.ts";

const powers = new Float64Array(BINS);

/**
 * Log powers of a frame in the bands, from what the kernel is about to make a sound of: the free part, and the pulses,
 * whose harmonics, 1 high and `pitchHz` apart, have 1.5 bins' worth of power each under a Hann window.
 */
export function describe<T extends Float32Array | Float64Array>(kernel: Kernel, pitchHz: number, out: T): T {
  const { spectrum, gain } = kernel;
  const pulsePower = pitchHz > VOICED_ABOVE_HZ ? (1.5 * BIN_HZ) / pitchHz : 0;
  for (let bin = 0; bin < BINS; bin++) {
    const added = gain[bin]!;
    const free = Math.exp(2 * (spectrum[PART.freeGain + bin]! + added));
    const pulses = pulsePower && pulsePower * Math.exp(2 * (spectrum[PART.pulseGain + bin]! + added));
    powers[bin] = free + pulses;
  }
  return bandLogs(powers, out);
}

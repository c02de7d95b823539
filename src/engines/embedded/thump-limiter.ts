import { BIN_HZ, BINS, VOICED_ABOVE_HZ } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { SPECTRUM_PART } from "./kernel/layout.ts";
import type { SpectrumTransform } from "./spectral-envelope.ts";

export type PulseReference = Pick<Plan, "pitchHz" | "energy">;

/**
 * Limits the pulses of each frame to what its planned energy implies. If the pitch is not the network's own, the
 * decoder now and then predicts a filter 10 to 24 dB too strong, for one to three frames at an onset or a closure: a
 * thump. Speech at the network's own pitch hardly changes. Noise and bursts stay as they are.
 *
 * @param strength the speaker's usual {@link pulseExcess}, in nepers of power
 */
export function createThumpLimiter(
  under: SpectrumTransform,
  measure: PulseReference,
  strength = 0,
): SpectrumTransform {
  return {
    apply(kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      const own = pulseExcess(kernel, measure, frame);
      if (own === null || own <= strength + KNEE) return;
      const excess = own - strength - KNEE;
      const down = (excess - ROOM * Math.tanh(excess / ROOM)) / 2;
      const { spectrum } = kernel;
      for (let bin = SPECTRUM_PART.pulseGain; bin < SPECTRUM_PART.pulseGain + BINS; bin++)
        spectrum[bin]! -= down;
    },
  };
}

/**
 * Returns the power of the pulses that the kernel is about to make over the power that the frame's energy implied in
 * training, as a natural logarithm; `null` in unvoiced frames.
 */
export function pulseExcess(
  kernel: Kernel,
  { pitchHz, energy }: PulseReference,
  frame: number,
): number | null {
  const hz = pitchHz[frame]!;
  if (hz <= VOICED_ABOVE_HZ) return null;
  const given = energy[frame]!;
  const expected = given - LOUD_SHARE * Math.max(0, given - LOUD_ENERGY);
  return Math.log(pulsePower(kernel, hz)) - (AT_ENERGY_0 + PER_ENERGY * expected);
}

/** Returns the power of the harmonics below 4 kHz through the window's main lobe, four bins wide. */
function pulsePower({ spectrum, gain }: Kernel, hz: number): number {
  let power = 0;
  for (let harmonicHz = hz; harmonicHz < MAX_HZ; harmonicHz += hz) {
    const low = Math.floor(harmonicHz / BIN_HZ);
    const apart = Math.max(MIN_DISTANCE, Math.min(1 - MIN_DISTANCE, harmonicHz / BIN_HZ - low));
    const sine = Math.sin(Math.PI * apart) / Math.PI;
    for (let bin = low - 1; bin <= low + 2; bin++) {
      const x = apart + low - bin;
      const lobe = sine / (x * (1 - x * x));
      power += lobe * lobe * Math.exp(2 * (spectrum[SPECTRUM_PART.pulseGain + bin]! + gain[bin]!));
    }
  }
  return power / LOBE_POWER;
}

const DB = Math.LN10 / 10;
/** Medians over the voiced frames of speaker `0` at energies from 6 to 9 (Harvard sentences). */
const PER_ENERGY = 4.2 * DB;
const AT_ENERGY_0 = -0.85 * DB;
/** At another pitch the loudest frames are less loud. */
const LOUD_ENERGY = 8;
const LOUD_SHARE = 0.5;
/** 95 % of those frames are less than 3.5 dB above the median, 99 % less than 5.5. */
const KNEE = 1.8 * DB;
const ROOM = 1.8 * DB;
const MAX_HZ = 4_000;
/** The lobe's formula divides by 0 at whole bins. */
const MIN_DISTANCE = 1e-4;
/** Sum of the squares of a Hann window's lobe over whole bins. */
const LOBE_POWER = 1.5;

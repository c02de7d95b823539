import { ButterworthLowPass } from "../../audio/low-pass.ts";
import type { AudioQuality } from "../../core/script.ts";
import type { HopSource } from "../prosody/sentence-audio.ts";

/** Returns a sentence's hops without the frequencies above the quality's cutoff. */
export function lowPassed(hops: HopSource, quality: AudioQuality): HopSource {
  const cutoffHz = CUTOFF_HZ[quality];
  if (cutoffHz === null) return hops;
  const filter = new ButterworthLowPass(cutoffHz);
  return {
    leadingHops: hops.leadingHops,
    async make(out) {
      await hops.make(out);
      filter.apply(out);
    },
  };
}

/** The embedded voice has the same bandwidths. */
const CUTOFF_HZ: Readonly<Record<AudioQuality, number | null>> = { low: 4_000, medium: 7_000, high: null };

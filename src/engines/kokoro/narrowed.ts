import { ButterworthLowPass } from "../../audio/low-pass.ts";
import type { HopSource } from "../prosody/sentence-audio.ts";

/** A sentence's hops without what lies above a frequency; `null` is all of it. */
export function narrowed(hops: HopSource, cutoffHz: number | null): HopSource {
  if (cutoffHz === null) return hops;
  const filter = new ButterworthLowPass(cutoffHz);
  return {
    lead: hops.lead,
    async make(out) {
      await hops.make(out);
      filter.apply(out);
    },
  };
}

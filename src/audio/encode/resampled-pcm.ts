import { SAMPLE_RATE_HZ } from "../format.ts";
import { pcm16Bytes } from "../pcm.ts";
import { Resampler } from "../resample.ts";
import { type Encoder, NOTHING, type PcmRate } from "./encoder.ts";

/**
 * 16-bit little-endian samples at another rate, no container, by {@link Resampler}. The file has as many as there are
 * before the end of what went in.
 */
export function resampledPcmEncoder(rateHz: PcmRate): Encoder {
  const resampler = new Resampler(SAMPLE_RATE_HZ, rateHz);
  let received = 0;
  return {
    head: () => NOTHING,
    push(pcm) {
      received += pcm.length;
      return bytesOf(resampler.push(pcm));
    },
    end: () => bytesOf(resampler.end(Math.ceil((received * rateHz) / SAMPLE_RATE_HZ))),
    finishedHead: () => NOTHING,
    free: () => {},
  };
}

/** Samples that are whole numbers but for rounding, in the range of 16 bits. */
function bytesOf(samples: Float32Array): Uint8Array {
  const pcm = Int16Array.from(samples, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
  return pcm16Bytes(pcm);
}

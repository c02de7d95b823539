import { wavHeader } from "../encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../format.ts";
import { kaiserLowPass } from "../low-pass.ts";
import { pcm16Bytes } from "../pcm.ts";
import type { Companding } from "../pcm-format.ts";
import { Resampler } from "../resample.ts";
import { type Encoder, NOTHING, type PcmRate } from "./encoder.ts";

const BARE = { head: () => NOTHING, finishedHead: () => NOTHING, free: () => {} };

/** Encodes raw samples, 16-bit little-endian. */
export function pcmEncoder(): Encoder {
  return { ...wavEncoder(), ...BARE };
}

/** Encodes samples after a WAV header. */
export function wavEncoder(): Encoder {
  let bytes = 0;
  return {
    head: () => wavHeader(null, SAMPLE_RATE_HZ),
    push(pcm) {
      bytes += pcm.byteLength;
      return pcm16Bytes(pcm).slice();
    },
    end: () => NOTHING,
    finishedHead: () => wavHeader(bytes, SAMPLE_RATE_HZ),
    free: () => {},
  };
}

/** Encodes 16-bit little-endian samples at another rate, without a container. The file ends with the input. */
export function resampledPcmEncoder(rateHz: PcmRate): Encoder {
  const resampler = new Resampler(SAMPLE_RATE_HZ, rateHz);
  let received = 0;
  return {
    ...BARE,
    push(pcm) {
      received += pcm.length;
      return bytesOf(resampler.push(pcm));
    },
    end: () => bytesOf(resampler.end(Math.ceil((received * rateHz) / SAMPLE_RATE_HZ))),
    finishedHead: () => NOTHING,
    free: () => {},
  };
}

const TELEPHONE_RATE_HZ = 8_000;

const STEP = SAMPLE_RATE_HZ / TELEPHONE_RATE_HZ;
const TAPS = 63;
const HALF = (TAPS - 1) / 2;

/** Flat to 3.1 kHz; 60 dB down from 4.5 kHz, which would alias to 3.5. */
const FILTER = kaiserLowPass(TAPS, 3_800 / SAMPLE_RATE_HZ, 60);

/** Encodes G.711 at 8 kHz, without a container. 1.3 ms are buffered, and nothing is delayed. */
export function telephoneEncoder(code: Companding): Encoder {
  // Past input that the filter still needs; at first silence.
  let kept: Int16Array = new Int16Array(HALF);

  const convert = (pcm: Int16Array): Uint8Array => {
    const input = new Int16Array(kept.length + pcm.length);
    input.set(kept);
    input.set(pcm, kept.length);
    const count = Math.max(0, Math.floor((input.length - TAPS) / STEP) + 1);
    const output = new Uint8Array(count);
    for (let k = 0; k < count; k += 1) output[k] = code(filtered(input, k * STEP));
    kept = input.slice(count * STEP);
    return output;
  };
  return { ...BARE, push: convert, end: () => convert(new Int16Array(HALF)) };
}

function filtered(input: Int16Array, start: number): number {
  let sum = 0;
  for (let i = 0; i < TAPS; i += 1) sum += FILTER[i]! * input[start + i]!;
  return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
}

/** Rounds samples that are integers but for rounding errors, within 16 bits. */
function bytesOf(samples: Float32Array): Uint8Array {
  const pcm = Int16Array.from(samples, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
  return pcm16Bytes(pcm);
}

import { wavHeader } from "../encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../format.ts";
import { kaiserLowPass } from "../low-pass.ts";
import { pcm16Bytes } from "../pcm.ts";
import type { Companding } from "../pcm-format.ts";
import { Resampler } from "../resample.ts";
import { type Encoder, NOTHING, type PcmRate } from "./encoder.ts";

/** Of samples without a container. */
const BARE = { head: () => NOTHING, finishedHead: () => NOTHING, free: () => {} };

/** The samples themselves, 16-bit little-endian. */
export function pcmEncoder(): Encoder {
  return { ...wavEncoder(), ...BARE };
}

/** The samples behind a WAV header. */
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

/**
 * 16-bit little-endian samples at another rate, no container, by {@link Resampler}. The file has as many as there are
 * before the end of what went in.
 */
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

/** What telephones take: a byte a sample, 8 kHz. */
const TELEPHONE_RATE_HZ = 8_000;

const STEP = SAMPLE_RATE_HZ / TELEPHONE_RATE_HZ;
const TAPS = 63;
const HALF = (TAPS - 1) / 2;

/** Level to 3.1 kHz; 60 dB down from 4.5 kHz on, which would come back as 3.5. */
const FILTER = kaiserLowPass(TAPS, 3_800 / SAMPLE_RATE_HZ, 60);

/** G.711 at 8 kHz, no container. An output lies where its input lay: 1.3 ms are held back, and nothing is delayed. */
export function telephoneEncoder(code: Companding): Encoder {
  // Silence before the beginning; what a filter still needs of the past stays here.
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

/** Samples that are whole numbers but for rounding, in the range of 16 bits. */
function bytesOf(samples: Float32Array): Uint8Array {
  const pcm = Int16Array.from(samples, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
  return pcm16Bytes(pcm);
}

import { fromPcm16 } from "../../audio/pcm.ts";
import { WholeFrames } from "../../audio/pcm-format.ts";

const BYTES_PER_SAMPLE = 2;

/**
 * Makes samples of 16-bit little-endian PCM that comes in pieces of any size, which may end in the middle of a sample or
 * between the two channels of one. Two channels are mixed down to their mean.
 */
export class PcmSamples {
  readonly #channels: 1 | 2;
  readonly #whole: WholeFrames;

  constructor(channels: 1 | 2) {
    this.#channels = channels;
    this.#whole = new WholeFrames(BYTES_PER_SAMPLE * channels);
  }

  /** Whole samples in [-1, 1], one channel; may be none. */
  push(bytes: Uint8Array): Float32Array {
    const samples = fromPcm16(littleEndian(this.#whole.push(bytes)));
    return this.#channels === 1 ? samples : mean(samples);
  }
}

/** On any host, and wherever the bytes begin. */
function littleEndian(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pcm = new Int16Array(bytes.length / BYTES_PER_SAMPLE);
  for (let at = 0; at < pcm.length; at += 1) pcm[at] = view.getInt16(BYTES_PER_SAMPLE * at, true);
  return pcm;
}

function mean(samples: Float32Array): Float32Array {
  const mono = new Float32Array(samples.length / 2);
  for (let at = 0; at < mono.length; at += 1) mono[at] = (samples[2 * at]! + samples[2 * at + 1]!) / 2;
  return mono;
}

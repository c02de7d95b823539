import { SAMPLE_RATE_HZ } from "../format.ts";
import { designLowPass, type PhaseTable, product } from "../low-pass.ts";
import { type Encoder, NOTHING, type PcmRate } from "./encoder.ts";

/**
 * 16-bit little-endian samples at another rate, no container: the low-pass and the phases of `resample`, as the samples
 * come. Half a filter is held back, and nothing is delayed: output k lies at input time k · 24,000 / rateHz. The file
 * has as many as there are before the end of what went in.
 */
export function resampledPcmEncoder(rateHz: PcmRate): Encoder {
  const divisor = greatestCommonDivisor(SAMPLE_RATE_HZ, rateHz);
  const step = SAMPLE_RATE_HZ / divisor;
  const phases = rateHz / divisor;
  const { taps, rows } = lowPassFor(rateHz, phases);
  // Silence before the beginning. Its first sample lies at input time `keptFrom`; what is past is let go.
  let kept = new Float64Array(taps / 2 - 1);
  let keptFrom = -kept.length;
  let received = 0;
  let given = 0;

  /** Every output that the input reaches, up to `most` outputs in all. */
  const convert = (pcm: Int16Array, most: number): Uint8Array => {
    const input = new Float64Array(kept.length + pcm.length);
    input.set(kept);
    input.set(pcm, kept.length);
    const startOf = (k: number): number => Math.floor((k * step) / phases) - (taps / 2 - 1) - keptFrom;
    const output: number[] = [];
    for (; given < most && startOf(given) + taps <= input.length; given += 1) {
      // Row p belongs to outputs that lie p / phases behind their middle tap.
      const value = product(rows, ((given * step) % phases) * taps, taps, input, startOf(given));
      output.push(Math.max(-32_768, Math.min(32_767, Math.round(value))));
    }
    const past = Math.max(0, Math.min(startOf(given), input.length));
    kept = input.slice(past);
    keptFrom += past;
    return bytesOf(output);
  };
  return {
    head: () => NOTHING,
    push(pcm) {
      received += pcm.length;
      return convert(pcm, Number.POSITIVE_INFINITY);
    },
    end: () => convert(new Int16Array(taps), Math.ceil((received * rateHz) / SAMPLE_RATE_HZ)),
    finishedHead: () => NOTHING,
    free: () => {},
  };
}

/** Filters that were designed, by rate: one takes some milliseconds, and there are few. */
const lowPasses = new Map<number, PhaseTable>();

function lowPassFor(rateHz: number, phases: number): PhaseTable {
  const designed = lowPasses.get(rateHz) ?? designLowPass(SAMPLE_RATE_HZ, rateHz, phases);
  if (!designed.isExact) throw new Error(`${rateHz} Hz has too many phases against ${SAMPLE_RATE_HZ}`);
  lowPasses.set(rateHz, designed);
  return designed;
}

function bytesOf(samples: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * samples.length));
  for (const [at, sample] of samples.entries()) view.setInt16(2 * at, sample, true);
  return new Uint8Array(view.buffer);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

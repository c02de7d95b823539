import { SAMPLE_RATE_HZ } from "./format.ts";
import { LoudnessMeter } from "./loudness.ts";
import { PeakLimiter } from "./peak-limiter.ts";

/** Within this of the target, in LU, no better gain is sought; that many are tried. */
const TOLERANCE_LU = 0.05;
const MAX_PASSES = 10;
/** Least loudness that a decibel of gain is taken to add under the limiter. */
const MIN_SLOPE = 0.1;

/**
 * Brings a signal at 24 kHz to an integrated loudness (EBU R 128) by one gain, under the limiter's true peak. Reads it
 * several times. Silence stays as it is.
 *
 * @param read opens the signal at its beginning
 */
export async function* normaliseLoudness(
  read: () => AsyncIterable<Float32Array>,
  targetLufs: number,
): AsyncGenerator<Float32Array, void, void> {
  let gainDb = 0;
  let lufs = await loudnessAt(read(), gainDb);
  let slope = 1;
  // More gain makes up for what the limiter takes: the secant method.
  for (let pass = 1; lufs !== null && pass < MAX_PASSES; pass++) {
    if (Math.abs(targetLufs - lufs) <= TOLERANCE_LU) break;
    const [stepDb, before]: [number, number] = [(targetLufs - lufs) / slope, lufs];
    gainDb += stepDb;
    lufs = await loudnessAt(read(), gainDb);
    if (lufs !== null) slope = Math.max(MIN_SLOPE, (lufs - before) / stepDb);
  }
  yield* limited(read(), gainDb);
}

async function loudnessAt(signal: AsyncIterable<Float32Array>, gainDb: number): Promise<number | null> {
  const meter = new LoudnessMeter(SAMPLE_RATE_HZ);
  for await (const samples of limited(signal, gainDb)) meter.push(samples);
  return meter.measure()?.lufs ?? null;
}

async function* limited(signal: AsyncIterable<Float32Array>, gainDb: number): AsyncGenerator<Float32Array> {
  const limiter = new PeakLimiter();
  const gain = 10 ** (gainDb / 20);
  for await (const samples of signal) yield limiter.push(samples.map((sample) => sample * gain));
  yield limiter.push(null);
}

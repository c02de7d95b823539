import { join } from "node:path";
import { LogMel } from "../../audio/log-mel.ts";
import { freeMemory } from "../../core/free-memory.ts";
import { DETECTION_RATE_HZ, WINDOW_SAMPLES } from "../../core/turn-detection.ts";
import { openSession } from "../../onnx/session.ts";
import { float32 } from "../../onnx/tensor.ts";
import { readVerifiedFile } from "../../onnx/verified-file.ts";

/** Samples before each window that are part of the input: without them the network misses nearly all speech. */
export const CONTEXT_SAMPLES = 64;
export const INPUT_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES;

const SILERO_FILE = "silero_vad_16k_sequence.onnx";
const STATE = [1, 1, 128] as const;

/** State of the network, 128 numbers each. */
export interface SileroState {
  readonly hidden: Float32Array;
  readonly cell: Float32Array;
}

export function initialState(): SileroState {
  return { hidden: new Float32Array(128), cell: new Float32Array(128) };
}

export interface SileroWindows {
  readonly probabilities: Float32Array;
  readonly state: SileroState;
}

/**
 * Loads Silero VAD 6.2.3.
 *
 * @returns a function that analyses the next windows of a sound, [n, 576], each with its context first
 * @throws Error when the file is missing or damaged.
 */
export async function openSilero(
  folder: string,
): Promise<(windows: Float32Array, state: SileroState) => Promise<SileroWindows>> {
  const path = join(folder, SILERO_FILE);
  const session = await openSession(await readVerifiedFile(path), SILERO_FILE);
  return async (windows, { hidden, cell }) => {
    const { speech_probs, hn, cn } = await session.run({
      input: float32(windows, [windows.length / INPUT_SAMPLES, INPUT_SAMPLES]),
      h: float32(hidden, STATE),
      c: float32(cell, STATE),
    });
    return {
      probabilities: speech_probs!.data as Float32Array,
      state: { hidden: hn!.data as Float32Array, cell: cn!.data as Float32Array },
    };
  };
}

const SMART_TURN_FILE = "smart-turn-v3.2-cpu.onnx";
const MELS = 80;
/** Newest samples of a turn that the network analyses: 8 s. */
export const MAX_TURN_SAMPLES = 8 * DETECTION_RATE_HZ;

/**
 * Loads smart-turn v3.2.
 *
 * @returns a function that gives the probability that a turn at 16 kHz is finished
 * @throws Error when the file is missing or damaged.
 */
export async function openSmartTurn(folder: string): Promise<(turn: Float32Array) => Promise<number>> {
  const path = join(folder, SMART_TURN_FILE);
  const session = await openSession(await readVerifiedFile(path), SMART_TURN_FILE);
  const mel = new LogMel(MELS);
  const wave = new Float32Array(MAX_TURN_SAMPLES);
  return async (turn) => {
    normalise(turn, wave);
    const features = mel.of(wave);
    const { logits } = await session.run({
      input_features: float32(features, [1, MELS, features.length / MELS]),
    });
    freeMemory(features.buffer);
    return logits!.data[0] as number;
  };
}

/**
 * Fills `wave` with silence and the newest 8 s of a turn, then scales it to mean 0 and variance 1, as Whisper's
 * feature extractor does.
 */
function normalise(turn: Float32Array, wave: Float32Array): void {
  const end = turn.subarray(Math.max(0, turn.length - MAX_TURN_SAMPLES));
  wave.fill(0).set(end, MAX_TURN_SAMPLES - end.length);
  let [sum, squares] = [0, 0];
  for (const value of end) sum += value;
  const mean = sum / MAX_TURN_SAMPLES;
  for (const value of wave) squares += (value - mean) ** 2;
  const scale = 1 / Math.sqrt(squares / MAX_TURN_SAMPLES + 1e-7);
  for (let i = 0; i < wave.length; i += 1) wave[i] = (wave[i]! - mean) * scale;
}

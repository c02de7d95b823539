import { join } from "node:path";
import { WINDOW_SAMPLES } from "../../core/turn-detection.ts";
import { openSession } from "../../onnx/session.ts";
import { float32 } from "../../onnx/tensor.ts";
import { readVerifiedFile } from "../../onnx/verified-file.ts";

/** Samples before each window that the network hears once more: without them it misses nearly all speech. */
export const CONTEXT_SAMPLES = 64;
/** Samples of a window as the network takes it. */
export const INPUT_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES;

const FILE = "silero_vad_16k_sequence.onnx";
const STATE = [1, 1, 128] as const;

/** What the network remembers of a sound: 128 numbers each. */
export interface SileroState {
  readonly hidden: Float32Array;
  readonly cell: Float32Array;
}

/** Of a sound that begins. */
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
 * @returns what hears the next windows of a sound, [n, 576], each with its context in front
 * @throws Error when the file is missing or damaged.
 */
export async function openSilero(
  folder: string,
): Promise<(windows: Float32Array, state: SileroState) => Promise<SileroWindows>> {
  const path = join(folder, FILE);
  const session = await openSession(await readVerifiedFile(path), FILE);
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

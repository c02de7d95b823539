import { join } from "node:path";
import { LogMel } from "../../audio/log-mel.ts";
import { DETECTION_RATE_HZ } from "../../core/turn-detection.ts";
import { openSession } from "../../onnx/session.ts";
import { float32 } from "../../onnx/tensor.ts";
import { readVerifiedFile } from "../../onnx/verified-file.ts";

const FILE = "smart-turn-v3.2-cpu.onnx";
const MELS = 80;
/** The newest samples of a turn, all that is heard: 8 s. */
export const HEARD_SAMPLES = 8 * DETECTION_RATE_HZ;

/**
 * Loads smart-turn v3.2.
 *
 * @returns what gives the probability that a turn at 16 kHz is finished
 * @throws Error when the file is missing or damaged.
 */
export async function openSmartTurn(folder: string): Promise<(turn: Float32Array) => Promise<number>> {
  const path = join(folder, FILE);
  const session = await openSession(await readVerifiedFile(path), FILE);
  const mel = new LogMel(MELS);
  const wave = new Float32Array(HEARD_SAMPLES);
  return async (turn) => {
    normalise(turn, wave);
    const features = mel.of(wave);
    const { logits } = await session.run({
      input_features: float32(features, [1, MELS, features.length / MELS]),
    });
    return logits!.data[0] as number;
  };
}

/**
 * Fills `wave` with silence and the newest 8 s of a turn, then scales all of it to a mean of 0 and a variance of 1, as
 * Whisper's front end does.
 */
function normalise(turn: Float32Array, wave: Float32Array): void {
  const heard = turn.subarray(Math.max(0, turn.length - HEARD_SAMPLES));
  wave.fill(0).set(heard, HEARD_SAMPLES - heard.length);
  let [sum, squares] = [0, 0];
  for (const value of heard) sum += value;
  const mean = sum / HEARD_SAMPLES;
  for (const value of wave) squares += (value - mean) ** 2;
  const scale = 1 / Math.sqrt(squares / HEARD_SAMPLES + 1e-7);
  for (let i = 0; i < wave.length; i += 1) wave[i] = (wave[i]! - mean) * scale;
}

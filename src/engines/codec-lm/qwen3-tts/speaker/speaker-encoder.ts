import { RealFourier } from "../../../../audio/fourier.ts";
import { melFilters } from "../../../../audio/mel-filters.ts";
import { GraphFile } from "../../../../onnx/graph-file.ts";
import { openSession } from "../../../../onnx/session.ts";
import { float32, floatsOf } from "../../../../onnx/tensor.ts";
import type { Weights } from "../../../../onnx/weights-folder.ts";
import { WeightsInGraph } from "../../networks/weights-in-graph.ts";
import type { StreamsSetup } from "../../streams.ts";
import { speakerGraph } from "./graph.ts";
import { MELS, type SpeakerEncoderSizes } from "./sizes.ts";

/** Makes a vector of a voice. */
export interface SpeakerEncoder {
  /** @param audio mono at 24 kHz, at least {@link MIN_SAMPLES} samples @returns [width] */
  embed(audio: Float32Array): Promise<Float32Array>;
  /** Frees the weights. */
  release(): Promise<void>;
}

/** Samples that a voice can be told from at all: 53 ms, since what is shorter cannot be mirrored. */
export const MIN_SAMPLES = 5 * 256;

/** Opens the speaker encoder of a base model. @throws WeightsError naming what is missing */
export async function openSpeakerEncoder(
  weights: Weights,
  sizes: SpeakerEncoderSizes,
  setup: StreamsSetup = { threads: 1 },
): Promise<SpeakerEncoder> {
  const graph = speakerGraph(new WeightsInGraph(new GraphFile(), weights), sizes);
  const model = Buffer.concat(graph.pieces());
  const session = await openSession(model, "The speaker encoder", { ...setup, dataFolder: weights.folder });
  return {
    async embed(audio) {
      const mels = melSpectrum(audio);
      const given = await session.run({ mels: float32(mels, [1, MELS, mels.length / MELS]) });
      return floatsOf(given, "embedding");
    },
    release: () => session.release(),
  };
}

const RATE_HZ = 24_000;
const SIZE = 1_024;
const HOP = 256;
/** Samples that are reflected at either end. */
const EDGE = (SIZE - HOP) / 2;

/** The filters of a spectrum of 1024 samples at 24 kHz, [128, 513]. */
export const speakerMelFilters = (): Float32Array => melFilters(MELS, SIZE, RATE_HZ);

/**
 * The logarithms of a voice's mel spectrum: frames of 1024 samples, 256 apart, under a periodic Hann window; magnitudes,
 * not powers.
 *
 * @param audio mono at 24 kHz, more than 384 samples; its amplitude is taken as it is
 * @returns [128, floor(samples / 256)]
 */
export function melSpectrum(audio: Float32Array): Float32Array {
  const count = Math.floor(audio.length / HOP);
  const fourier = new RealFourier(SIZE);
  const hann = Float64Array.from(
    { length: SIZE },
    (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / SIZE),
  );
  const filters = speakerMelFilters();
  const frame = new Float64Array(SIZE);
  const magnitudes = new Float64Array(fourier.bins);
  const mels = new Float32Array(MELS * count);
  for (let at = 0; at < count; at++) {
    for (let n = 0; n < SIZE; n++) frame[n] = hann[n]! * reflected(audio, at * HOP + n - EDGE);
    fourier.powers(frame, magnitudes);
    for (let bin = 0; bin < magnitudes.length; bin++) magnitudes[bin] = Math.sqrt(magnitudes[bin]! + 1e-9);
    for (let mel = 0; mel < MELS; mel++) {
      let sum = 0;
      for (let bin = 0; bin < magnitudes.length; bin++) {
        sum += filters[mel * magnitudes.length + bin]! * magnitudes[bin]!;
      }
      mels[mel * count + at] = Math.log(Math.max(sum, 1e-5));
    }
  }
  return mels;
}

/** A sample, also of what lies beyond the ends: mirrored there, without the last sample twice. */
function reflected(audio: Float32Array, at: number): number {
  const last = audio.length - 1;
  return audio[at < 0 ? -at : at > last ? 2 * last - at : at]!;
}

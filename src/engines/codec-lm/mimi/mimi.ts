import { LruCache } from "../../../audio/lru-cache.ts";
import { float32, floatsOf } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import {
  StreamedSession,
  type StreamedSessionSetup,
  type StreamState,
} from "../networks/streamed-session.ts";
import { type CodeFrame, createFrameDecoder, type FrameDecoder } from "./frame-decoder.ts";
import { codeVectorIndices, mimiDecoder, mimiEncoder } from "./mimi-graphs.ts";
import { LATENT_STRIDE, type MimiSizes, samplesPerFrame } from "./sizes.ts";

export interface MimiEncoder {
  /** Returns a frame for each 1920 samples begun. @param audio mono at 24 kHz, at least one sample */
  encode(audio: Float32Array): Promise<CodeFrame[]>;
  release(): Promise<void>;
}

/** Frames encoded at a time (0.8 s); the thread is free for other work in between. */
const CHUNK_FRAMES = 10;

/**
 * Opens an encoder.
 *
 * @param stem prefix of the weights' names: `codec_model.`
 * @param codebooks number of codes per frame
 * @throws WeightsError naming what is missing
 */
export async function openMimiEncoder(
  weights: Weights,
  stem: string,
  sizes: MimiSizes,
  codebooks: number,
  setup: StreamedSessionSetup = { threads: 1 },
): Promise<MimiEncoder> {
  const streams = await StreamedSession.open(weights, setup, "Mimi's encoder", (into) =>
    mimiEncoder(into, stem, sizes, codebooks),
  );
  const perFrame = samplesPerFrame(sizes);
  const piece = CHUNK_FRAMES * perFrame;
  const positionsOf = (samples: number): number => Math.ceil((samples * LATENT_STRIDE) / perFrame);
  return {
    async encode(audio) {
      const stream = streams.begin(positionsOf(audio.length));
      const frames: CodeFrame[] = [];
      for (let from = 0; from < audio.length; from += piece) {
        const samples = audio.slice(from, from + piece);
        const inputs = { audio: float32(samples, [1, samples.length, 1]) };
        const { codes } = await streams.run([stream], inputs, positionsOf(samples.length));
        if (codes?.type !== "int64") throw new Error("Mimi's encoder gave no codes.");
        frames.push(...toFrames(codes.data, codebooks));
      }
      return frames;
    },
    release: () => streams.release(),
  };
}

/** Opens a decoder. @throws WeightsError naming what is missing */
export async function openMimiDecoder(
  weights: Weights,
  stem: string,
  sizes: MimiSizes,
  setup: StreamedSessionSetup = { threads: 1 },
): Promise<FrameDecoder> {
  const streams = await StreamedSession.open(weights, setup, "Mimi's decoder", (into) =>
    mimiDecoder(into, stem, sizes),
  );
  const { codebooks, semanticCodebooks, codes } = sizes;
  const parts = [semanticCodebooks, codebooks - semanticCodebooks];
  const decode = async (those: readonly StreamState[], frames: readonly (readonly CodeFrame[])[]) => {
    const places = codeVectorIndices(frames, parts, codes);
    return floatsOf(await streams.run(those, { places }, LATENT_STRIDE * frames[0]!.length), "audio");
  };
  return createFrameDecoder({
    begin: () => streams.begin(),
    decode,
    async prime(stream, frames) {
      await decode([stream], [frames]);
    },
    release: () => streams.release(),
  });
}

/** Transposes [codebooks, frames]. */
function toFrames(codes: BigInt64Array, codebooks: number): CodeFrame[] {
  const count = codes.length / codebooks;
  return Array.from({ length: count }, (_, frame) =>
    Array.from({ length: codebooks }, (_, codebook) => Number(codes[codebook * count + frame]!)),
  );
}

const MAX_CLIPS = 64;

/** Cache of values computed from clips, which clients send again with every turn. */
export class ClipCache<T> {
  readonly #kept = new LruCache<T>(MAX_CLIPS);

  /** @param digests of all clips used together; nothing is cached if one is unknown */
  async getOrCompute(digests: readonly (string | undefined)[], make: () => Promise<T>): Promise<T> {
    if (digests.includes(undefined)) return await make();
    const key = digests.join(" ");
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const made = await make();
    this.#kept.set(key, made);
    return made;
  }
}

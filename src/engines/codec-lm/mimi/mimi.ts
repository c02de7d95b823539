import { LruCache } from "../../../audio/lru-cache.ts";
import { float32, floatsOf } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import { type SessionSetup, StreamedSession, type StreamState } from "../networks/streamed-session.ts";
import { type CodeFrame, createFrameDecoder, type FrameDecoder } from "./frame-decoder.ts";
import { codeVectorIndices, mimiDecoder, mimiEncoder } from "./mimi-graphs.ts";
import { LATENT_STRIDE, type MimiSizes, samplesPerFrame } from "./sizes.ts";

/** Makes codes of sound. */
export interface MimiEncoder {
  /** @param audio mono at 24 kHz, at least one sample @returns a frame for each 1920 samples begun */
  encode(audio: Float32Array): Promise<CodeFrame[]>;
  /** Frees the weights. */
  release(): Promise<void>;
}

/** What is encoded at a time, in frames: 0.8 s. A thread that encodes is back for other work after each. */
const CHUNK_FRAMES = 10;

/**
 * Opens an encoder of the weights.
 *
 * @param stem in front of the weights' names: `codec_model.`
 * @param codebooks how many codes a frame gets
 * @throws WeightsError naming what is missing
 */
export async function openMimiEncoder(
  weights: Weights,
  stem: string,
  sizes: MimiSizes,
  codebooks: number,
  setup: SessionSetup = { threads: 1 },
): Promise<MimiEncoder> {
  const streams = await StreamedSession.open(weights, setup, "Mimi's encoder", (into) =>
    mimiEncoder(into, stem, sizes, codebooks),
  );
  const perFrame = samplesPerFrame(sizes);
  const piece = CHUNK_FRAMES * perFrame;
  /** Of the transformer. */
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
  setup: SessionSetup = { threads: 1 },
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

/** [codebooks, frames] → frames of codes. */
function toFrames(codes: BigInt64Array, codebooks: number): CodeFrame[] {
  const count = codes.length / codebooks;
  return Array.from({ length: count }, (_, frame) =>
    Array.from({ length: codebooks }, (_, codebook) => Number(codes[codebook * count + frame]!)),
  );
}

/** Clips of which something is kept. */
const MAX_CLIPS = 64;

/** What was made of clips, for those that come again: in every turn of a conversation the client sends them anew. */
export class ClipCache<T> {
  readonly #kept = new LruCache<T>(MAX_CLIPS);

  /** @param digests of all that is heard together; where one is not known, nothing is kept */
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

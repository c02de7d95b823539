import { GraphFile } from "../../../tensors/graph-file.ts";
import { openSession, type Session } from "../../../tensors/session.ts";
import { float32, floatsOf, int64, type Tensor, type Tensors } from "../../../tensors/tensor.ts";
import type { Weights } from "../../../tensors/weights-folder.ts";
import { Stream, type StreamedGraph } from "../streamed-graph.ts";
import { WeightsInGraph } from "../weights-in-graph.ts";
import { mimiDecoder } from "./decoder-graph.ts";
import { mimiEncoder } from "./encoder-graph.ts";
import { type MimiSizes, samplesPerFrame } from "./sizes.ts";

/** A frame's codes, one of each codebook, or of the first ones. */
export type Frame = readonly number[];

/** Makes codes of sound. */
export interface MimiEncoder {
  /** @param audio mono at 24 kHz, at least one sample @returns a frame for each 1920 samples begun */
  encode(audio: Float32Array): Promise<Frame[]>;
  /** Frees the weights. */
  release(): Promise<void>;
}

/** Makes sound of codes. */
export interface MimiDecoder {
  /** A signal of its own, piece by piece: as one would be decoded in one go. */
  begin(): DecodedStream;
  /** Frees the weights. */
  release(): Promise<void>;
}

export interface DecodedStream {
  /** Goes on with frames, all of as many codes. @returns 1920 samples for each */
  decode(frames: readonly Frame[]): Promise<Float32Array>;
}

/** A codec's graph in memory. */
interface Opened {
  readonly session: Session;
  readonly beginning: Tensors;
}

/** What is encoded at a time, in frames: 4 s. What attention needs grows with its square. */
const PIECE = 50;

/**
 * Opens an encoder of the weights, which it reads from their files as long as it is open.
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
  threads?: number,
): Promise<MimiEncoder> {
  const opened = await open(weights, threads, "Mimi's encoder", (into) =>
    mimiEncoder(into, stem, sizes, codebooks),
  );
  const piece = PIECE * samplesPerFrame(sizes);
  return {
    async encode(audio) {
      const stream = new Stream(opened.session, opened.beginning);
      const frames: Frame[] = [];
      for (let from = 0; from < audio.length; from += piece) {
        const samples = audio.slice(from, from + piece);
        const { codes } = await stream.next({ audio: float32(samples, [1, 1, samples.length]) });
        if (codes?.type !== "int64") throw new Error("Mimi's encoder gave no codes.");
        frames.push(...framesOf(codes.data, codebooks));
      }
      return frames;
    },
    release: () => opened.session.release(),
  };
}

/** Opens a decoder. @throws WeightsError naming what is missing */
export async function openMimiDecoder(
  weights: Weights,
  stem: string,
  sizes: MimiSizes,
  threads?: number,
): Promise<MimiDecoder> {
  const opened = await open(weights, threads, "Mimi's decoder", (into) => mimiDecoder(into, stem, sizes));
  return {
    begin() {
      const stream = new Stream(opened.session, opened.beginning);
      return {
        async decode(frames) {
          if (frames.length === 0) return new Float32Array(0);
          const given = await stream.next({ codes: codesOf(frames) });
          return floatsOf(given, "audio");
        },
      };
    },
    release: () => opened.session.release(),
  };
}

async function open(
  weights: Weights,
  threads: number | undefined,
  name: string,
  write: (into: WeightsInGraph) => StreamedGraph,
): Promise<Opened> {
  const built = write(new WeightsInGraph(new GraphFile(), weights));
  const model = Buffer.concat(built.graph.pieces());
  const setup = { threads: threads ?? 1, dataFolder: weights.folder, keepsWeightsInPlace: true };
  const session = await openSession(model, name, setup);
  return { session, beginning: built.beginning };
}

/** Frames, all of as many codes → int64 [codebooks, frames]. */
export function codesOf(frames: readonly Frame[]): Tensor {
  const codebooks = frames[0]?.length ?? 0;
  const codes = new BigInt64Array(codebooks * frames.length);
  for (const [at, frame] of frames.entries()) {
    for (const [codebook, code] of frame.entries()) codes[codebook * frames.length + at] = BigInt(code);
  }
  return int64(codes, [codebooks, frames.length]);
}

/** [codebooks, frames] → frames of codes. */
function framesOf(codes: BigInt64Array, codebooks: number): Frame[] {
  const count = codes.length / codebooks;
  return Array.from({ length: count }, (_, frame) =>
    Array.from({ length: codebooks }, (_, codebook) => Number(codes[codebook * count + frame]!)),
  );
}

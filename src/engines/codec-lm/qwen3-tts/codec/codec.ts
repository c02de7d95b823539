import { GraphFile } from "../../../../tensors/graph-file.ts";
import { openSession } from "../../../../tensors/session.ts";
import { float32, floatsOf } from "../../../../tensors/tensor.ts";
import type { Weights } from "../../../../tensors/weights-folder.ts";
import { codesOf, type DecodedStream, type Frame } from "../../mimi/mimi.ts";
import { Stream, type StreamedGraph } from "../../streamed-graph.ts";
import { WeightsInGraph } from "../../weights-in-graph.ts";
import { latentsGraph } from "./latents-graph.ts";
import type { DecoderSizes } from "./sizes.ts";
import { FRAMES_LOOKED_BACK, waveGraph } from "./wave-graph.ts";

/** Makes sound of codes. */
export interface CodecDecoder {
  /** A signal of its own, piece by piece: as one would be decoded in one go. */
  begin(): CodecStream;
  /** Frees the weights. */
  release(): Promise<void>;
}

export interface CodecStream extends DecodedStream {
  /**
   * Has a new stream begin behind frames whose sound nobody wants: what is decoded next is what it would be behind
   * theirs, at a fraction of the work.
   */
  beginBehind(frames: readonly Frame[]): Promise<void>;
}

/** Opens the decoder of `speech_tokenizer/`. @throws WeightsError naming what is missing */
export async function openCodecDecoder(
  weights: Weights,
  sizes: DecoderSizes,
  threads = 1,
): Promise<CodecDecoder> {
  const opened = async (write: (into: WeightsInGraph, sizes: DecoderSizes) => StreamedGraph) => {
    const built = write(new WeightsInGraph(new GraphFile(), weights), sizes);
    const model = Buffer.concat(built.graph.pieces());
    const setup = { threads, dataFolder: weights.folder };
    const session = await openSession(model, "The codec's decoder", setup);
    return { session, begin: () => new Stream(session, built.beginning) };
  };
  const latents = await opened(latentsGraph);
  const waves = await opened(waveGraph).catch(async (error: unknown) => {
    await latents.session.release();
    throw error;
  });
  return {
    begin() {
      const [first, second] = [latents.begin(), waves.begin()];
      const latentsOf = async (frames: readonly Frame[]): Promise<Float32Array> =>
        floatsOf(await first.next({ codes: codesOf(frames) }), "latents");
      const sound = async (rows: Float32Array, frames: number): Promise<Float32Array> =>
        floatsOf(await second.next({ latents: float32(rows, [1, sizes.latentWidth, frames]) }), "audio");
      return {
        async decode(frames) {
          if (frames.length === 0) return new Float32Array(0);
          return await sound(await latentsOf(frames), frames.length);
        },
        async beginBehind(frames) {
          if (frames.length === 0) return;
          const kept = Math.min(frames.length, FRAMES_LOOKED_BACK);
          await sound(newest(await latentsOf(frames), frames.length, kept), kept);
        },
      };
    },
    async release() {
      await Promise.all([latents.session.release(), waves.session.release()]);
    },
  };
}

/** The last of each channel's values: [channels, frames] → [channels, kept]. */
function newest(latents: Float32Array, frames: number, kept: number): Float32Array {
  return latents.filter((_, at) => at % frames >= frames - kept);
}

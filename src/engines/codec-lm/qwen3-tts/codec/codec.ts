import { float32, floatsOf } from "../../../../onnx/tensor.ts";
import type { Weights } from "../../../../onnx/weights-folder.ts";
import { placesOf } from "../../code-vectors.ts";
import { type CodeFrame, type FrameDecoder, frameDecoder } from "../../networks/frame-decoder.ts";
import { type Stream, Streams, type StreamsSetup } from "../../streams.ts";
import { latentsGraph } from "./latents-graph.ts";
import type { DecoderSizes } from "./sizes.ts";
import { FRAMES_LOOKED_BACK, waveGraph } from "./wave-graph.ts";

/** A stream in the decoder's halves. */
interface Halves {
  readonly latents: Stream;
  readonly waves: Stream;
}

/** Opens the decoder of `speech_tokenizer/`. @throws WeightsError naming what is missing */
export async function openCodecDecoder(
  weights: Weights,
  sizes: DecoderSizes,
  setup: StreamsSetup = { threads: 1 },
): Promise<FrameDecoder> {
  const name = "The codec's decoder";
  const latents = await Streams.open(weights, setup, name, (into) => latentsGraph(into, sizes));
  const waves = await Streams.open(weights, setup, name, (into) => waveGraph(into, sizes)).catch(
    async (error: unknown) => {
      await latents.release();
      throw error;
    },
  );
  const parts = [1, sizes.codebooks - 1];

  const latentsOf = async (streams: readonly Halves[], frames: readonly (readonly CodeFrame[])[]) => {
    const inputs = { places: placesOf(frames, parts, sizes.codes) };
    const those = streams.map((stream) => stream.latents);
    return floatsOf(await latents.next(those, inputs, frames[0]!.length), "latents");
  };
  const sound = async (streams: readonly Halves[], rows: Float32Array, frames: number) => {
    const inputs = { latents: float32(rows, [streams.length, frames, sizes.latentWidth]) };
    const those = streams.map((stream) => stream.waves);
    return floatsOf(await waves.next(those, inputs), "audio");
  };
  return frameDecoder({
    begin: (): Halves => ({ latents: latents.begin(), waves: waves.begin() }),
    decode: async (streams, frames) =>
      await sound(streams, await latentsOf(streams, frames), frames[0]!.length),
    /** All goes through the first half; through the second, nine tenths of the work, only what it looks back to. */
    async prime(stream, frames) {
      const kept = Math.min(frames.length, FRAMES_LOOKED_BACK);
      const rows = await latentsOf([stream], [frames]);
      await sound([stream], rows.slice(-kept * sizes.latentWidth), kept);
    },
    async release() {
      await Promise.all([latents.release(), waves.release()]);
    },
  });
}

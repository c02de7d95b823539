import { openSession, type Session } from "../../../tensors/session.ts";
import { float32, type Tensors } from "../../../tensors/tensor.ts";
import type { WhisperDescription, WhisperFiles } from "../description.ts";
import { FRAME } from "../graphs/encoder-graph.ts";
import { HEAD_WIDTH, type WhisperSizes } from "../weights/whisper-weights.ts";
import { POSITION, WHISPER_RATE_HZ } from "./rate.ts";
import { silentTail } from "./silent-tail.ts";

/** What the encoder made of a clip: for each of the decoder's layers, [1, heads, positions, 64]. */
export type Encoded = Tensors;

export interface Networks {
  readonly description: WhisperDescription;
  readonly decoder: Session;
  /** The clip, followed by silence up to 30 s, of which the encoder sees four: much cheaper. */
  encodeShort(samples: Float32Array): Promise<Encoded>;
  /** The clip, followed by silence up to 30 s, all of which the encoder sees. */
  encodeFull(samples: Float32Array): Promise<Encoded>;
  close(): Promise<void>;
}

/**
 * Of silence, which the encoder sees after a clip. Of 930 words of our two voices 50 are heard wrongly with 1 s, 43 with
 * 4 s and 41 with all 30.
 */
const MARGIN = 4 * WHISPER_RATE_HZ;

/** Loads both graphs, and encodes the silence that clips are taken to be followed by. */
export async function openNetworks({ description, encoder, decoder }: WhisperFiles): Promise<Networks> {
  const sessions: Session[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(sessions.map((session) => session.release()));
  };
  const { sizes } = description;
  const most = sizes.audioPositions * POSITION;

  async function encode(samples: Float32Array, length: number): Promise<Encoded> {
    const wave = float32(reflected(samples, length), [1, 1, length + FRAME]);
    return await sessions[0]!.run({ wave });
  }

  try {
    sessions.push(await openSession(encoder, "encoder.onnx"));
    sessions.push(await openSession(decoder, "decoder.onnx"));
    const silence = await encode(silentTail(), most);
    return {
      description,
      decoder: sessions[1]!,
      encodeFull: (samples) => encode(samples, most),
      async encodeShort(samples) {
        const length = Math.ceil((samples.length + MARGIN) / POSITION) * POSITION;
        if (length >= most) return await encode(samples, most);
        return followedBy(await encode(samples, length), silence, length / POSITION, sizes);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The samples and zeros up to that length, with 200 more at each end that mirror what is next to it. */
function reflected(samples: Float32Array, length: number): Float32Array {
  const edge = FRAME / 2;
  const wave = new Float32Array(length + FRAME);
  wave.set(samples.subarray(0, length), edge);
  for (let at = 0; at < edge; at++) {
    wave[edge - 1 - at] = wave[edge + 1 + at]!;
    wave[edge + length + at] = wave[edge + length - 2 - at]!;
  }
  return wave;
}

/** The first of the one and the others of the other, [1, heads, positions, 64]. */
function followedBy(clip: Encoded, silence: Encoded, count: number, sizes: WhisperSizes): Encoded {
  const { heads, audioPositions: all } = sizes;
  const joined: Record<string, Tensors[string]> = {};
  for (const name in silence) {
    const data = (silence[name]!.data as Float32Array).slice();
    const own = clip[name]!.data as Float32Array;
    for (let head = 0; head < heads; head++) {
      const from = head * count * HEAD_WIDTH;
      data.set(own.subarray(from, from + count * HEAD_WIDTH), head * all * HEAD_WIDTH);
    }
    joined[name] = float32(data, [1, heads, all, HEAD_WIDTH]);
  }
  return joined;
}

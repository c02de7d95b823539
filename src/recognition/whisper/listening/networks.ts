import { openSession, type Session } from "../../../onnx/session.ts";
import type { Tensors } from "../../../onnx/tensor.ts";
import type { WhisperDescription, WhisperFiles } from "../description.ts";
import { encode } from "../graphs/encoder-graph.ts";
import { POSITION, WHISPER_RATE_HZ } from "../sizes.ts";
import { readSilence, SILENCE_GROUP } from "./silence.ts";

/**
 * What the decoder is given of a clip: for each of its layers `keys.0`, `values.0` …, [1, heads, positions, 64], and
 * `weights`, [positions].
 */
export type Encoded = Tensors;

export interface Networks {
  readonly description: WhisperDescription;
  readonly decoder: Session;
  /** The clip, followed by silence up to 30 s, of which the encoder sees two: much cheaper. */
  encodeShort(samples: Float32Array): Promise<Encoded>;
  /** The clip, followed by silence up to 30 s, all of which the encoder sees. */
  encodeFull(samples: Float32Array): Promise<Encoded>;
  close(): Promise<void>;
}

/**
 * Of silence, which the encoder sees after a clip. Of 930 words of our two voices 46 are heard wrongly with 1 s, 42 with
 * 2 s, 43 with 3 s and 38 with 4 s, which takes a sixth longer for a clip of 2 s.
 */
const MARGIN = 2 * WHISPER_RATE_HZ;

/** Loads both graphs, and what the encoder makes of the silence that clips are taken to be followed by. */
export async function openNetworks(files: WhisperFiles): Promise<Networks> {
  const { description } = files;
  const sessions: Session[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(sessions.map((session) => session.release()));
  };
  const max = description.sizes.audioPositions;
  try {
    const silence = await readSilence(files.silence, description.sizes);
    const encoder = await openNetwork(files.encoder, "encoder.onnx");
    sessions.push(encoder);
    const decoder = await openNetwork(files.decoder, "decoder.onnx");
    sessions.push(decoder);
    const encoded = async (samples: Float32Array, positions: number): Promise<Encoded> =>
      silence.behind(await encode(encoder, samples, Math.min(max, positions)));
    return {
      description,
      decoder,
      encodeFull: (samples) => encoded(samples, max),
      encodeShort(samples) {
        const groups = Math.ceil((samples.length + MARGIN) / POSITION / SILENCE_GROUP);
        return encoded(samples, groups * SILENCE_GROUP);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Graphs that were converted before each matrix had a zero point of its own are opened as they were then. */
async function openNetwork(file: string, name: string): Promise<Session> {
  return await openSession(file, name, { isExactIn8Bits: true }).catch(() => openSession(file, name));
}

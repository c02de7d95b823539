import { readFile } from "node:fs/promises";
import { openSession, type Session } from "../../onnx/session.ts";
import { float32, floatsOf, type Tensors } from "../../onnx/tensor.ts";
import {
  HEAD_WIDTH,
  POSITION_SAMPLES,
  WHISPER_RATE_HZ,
  type WhisperDescription,
  type WhisperFiles,
  type WhisperSizes,
} from "./description.ts";
import { encode } from "./encoder-graph.ts";

/** Decoder inputs: per layer `keys.0`, `values.0` …, [1, heads, positions, 64], and `weights`, [positions]. */
export type Encoded = Tensors;

export interface Networks {
  readonly description: WhisperDescription;
  readonly decoder: Session;
  /** Encodes the clip and 2 s of silence; the rest up to 30 s is precomputed: much cheaper. */
  encodeShort(samples: Float32Array): Promise<Encoded>;
  /** Encodes the clip and silence up to 30 s. */
  encodeFull(samples: Float32Array): Promise<Encoded>;
  close(): Promise<void>;
}

/**
 * Silence encoded after a clip. Word errors of 930 words (two voices of ours): 46 with 1 s, 42 with 2 s, 43 with 3 s,
 * 38 with 4 s, which takes a sixth longer for a clip of 2 s.
 */
const MARGIN_SAMPLES = 2 * WHISPER_RATE_HZ;

/** Loads both graphs and the precomputed silence. */
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
      silence.appendTo(await encode(encoder, samples, Math.min(max, positions)));
    return {
      description,
      decoder,
      encodeFull: (samples) => encoded(samples, max),
      encodeShort(samples) {
        const groups = Math.ceil((samples.length + MARGIN_SAMPLES) / POSITION_SAMPLES / SILENCE_GROUP);
        return encoded(samples, groups * SILENCE_GROUP);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Older conversions lack the separate zero points: open them without exact products. */
async function openNetwork(file: string, name: string): Promise<Session> {
  return await openSession(file, name, { isExactIn8Bits: true }).catch(() => openSession(file, name));
}

/**
 * Positions of the silence that are averaged into one key and value, weighted as all of them: silence is nearly
 * uniform, and a clip of 2 s would otherwise carry 28 s of it through every step.
 */
export const SILENCE_GROUP = 8;

export interface Silence {
  /**
   * Appends silence up to 30 s to an encoded clip.
   *
   * @param clip `keys.0`, `values.0` …, [1, heads, positions, 64]; a whole number of groups
   * @returns the same with more positions, and `weights`, [positions]
   */
  appendTo(clip: Tensors): Tensors;
}

/** Reads the file of {@link encodeSilence}. @throws a file system error */
export async function readSilence(path: string, sizes: WhisperSizes): Promise<Silence> {
  const { heads, decoderLayers, audioPositions } = sizes;
  const groups = Math.ceil(audioPositions / SILENCE_GROUP);
  const bytes = await readFile(path);
  const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const one = heads * groups * HEAD_WIDTH;
  const names = Array.from({ length: decoderLayers }, (_, layer) => [`keys.${layer}`, `values.${layer}`]);
  const silence = new Map(names.flat().map((name, at) => [name, all.subarray(at * one, (at + 1) * one)]));

  return {
    appendTo(clip) {
      const own = clip["keys.0"]!.shape[2]!;
      const first = Math.ceil(own / SILENCE_GROUP);
      const positions = own + groups - first;
      const weights = new Float32Array(positions);
      for (let at = own; at < positions; at++) {
        const from = (first + at - own) * SILENCE_GROUP;
        weights[at] = Math.log(Math.min(SILENCE_GROUP, audioPositions - from));
      }
      const joined: Record<string, Tensors[string]> = { weights: float32(weights, [positions]) };
      for (const [name, behind] of silence) {
        if (positions === own) {
          joined[name] = clip[name]!;
          continue;
        }
        const data = new Float32Array(heads * positions * HEAD_WIDTH);
        const spoken = floatsOf(clip, name);
        for (let head = 0; head < heads; head++) {
          const at = head * positions * HEAD_WIDTH;
          data.set(spoken.subarray(head * own * HEAD_WIDTH, (head + 1) * own * HEAD_WIDTH), at);
          const rest = behind.subarray(
            (head * groups + first) * HEAD_WIDTH,
            (head + 1) * groups * HEAD_WIDTH,
          );
          data.set(rest, at + own * HEAD_WIDTH);
        }
        joined[name] = float32(data, [1, heads, positions, HEAD_WIDTH]);
      }
      return joined;
    },
  };
}

/**
 * Encodes 30 s of silence after a short vowel, in the format of {@link readSilence}.
 *
 * @param encoder path of the graph
 */
export async function encodeSilence(encoder: string, sizes: WhisperSizes): Promise<readonly Uint8Array[]> {
  const session = await openSession(encoder, "encoder.onnx", { isExactIn8Bits: true });
  try {
    const encoded = await encode(session, vowelLikeBuzz(), sizes.audioPositions);
    return Array.from({ length: sizes.decoderLayers }, (_, layer) => [
      groupMeans(encoded, `keys.${layer}`, sizes),
      groupMeans(encoded, `values.${layer}`, sizes),
    ]).flat();
  } finally {
    await session.release();
  }
}

/** Averages groups of positions: [heads, positions, 64] → [heads, groups, 64], little endian. */
function groupMeans(encoded: Tensors, name: string, { heads, audioPositions }: WhisperSizes): Uint8Array {
  const all = floatsOf(encoded, name);
  const groups = Math.ceil(audioPositions / SILENCE_GROUP);
  const found = new DataView(new ArrayBuffer(4 * heads * groups * HEAD_WIDTH));
  for (let head = 0; head < heads; head++) {
    for (let group = 0; group < groups; group++) {
      const from = group * SILENCE_GROUP;
      const to = Math.min(from + SILENCE_GROUP, audioPositions);
      for (let at = 0; at < HEAD_WIDTH; at++) {
        let sum = 0;
        for (let position = from; position < to; position++) {
          sum += all[(head * audioPositions + position) * HEAD_WIDTH + at]!;
        }
        found.setFloat32(4 * ((head * groups + group) * HEAD_WIDTH + at), sum / (to - from), true);
      }
    }
  }
  return new Uint8Array(found.buffer);
}

/**
 * Synthesises 2 s at speech level to precede the silence, whose encoding depends on the loudest sound before it
 * because Whisper floors the spectrogram relative to that. A 120 Hz buzz through two resonances, in syllables of 0.25
 * s, resembles a vowel at conversational level.
 */
function vowelLikeBuzz(): Float32Array {
  const samples = new Float32Array(2 * WHISPER_RATE_HZ);
  for (let harmonic = 1; harmonic * PITCH_HZ < 4_000; harmonic++) {
    const hz = harmonic * PITCH_HZ;
    const gain = RESONANCES_HZ.reduce((sum, peak) => sum + 1 / (1 + ((hz - peak) / 90) ** 2), 0.02);
    for (let at = 0; at < samples.length; at++) {
      samples[at]! += (gain / harmonic) * Math.sin((2 * Math.PI * hz * at) / WHISPER_RATE_HZ + harmonic ** 2);
    }
  }
  const peak = samples.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return samples.map((value, at) => (PEAK / peak) * value * Math.sin((Math.PI * at) / SYLLABLE) ** 2);
}

const PITCH_HZ = 120;
const RESONANCES_HZ = [600, 1_200];
const SYLLABLE = WHISPER_RATE_HZ / 4;
const PEAK = 0.3;

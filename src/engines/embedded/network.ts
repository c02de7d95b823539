import { join } from "node:path";
import {
  type BoundSession,
  type NativeGuard,
  openBoundSession,
  openSession,
  type Session,
  saturatesIn8Bits,
} from "../../onnx/session.ts";
import { readGraph, type StoredGraph, toGraphFile, type ValueInfo } from "../../onnx/stored-graph.ts";
import { float32, floatsOf, idRow, int64, type Tensor } from "../../onnx/tensor.ts";
import { readVerifiedFile } from "../../onnx/verified-file.ts";
import type { PlanningNetwork } from "../prosody/plan.ts";
import { SPECTRUM_VALUES } from "./kernel/layout.ts";
import { quantiseProducts } from "./quantised-products.ts";
import {
  BLOCKS,
  CHANNELS,
  EDGE_COLUMNS,
  PAST_COLUMNS,
  PIECE_INPUTS,
  PIECE_OUTPUTS,
  streamingDecoder,
} from "./streaming-decoder.ts";

/** Buffers for decoding one sentence; the network reuses them for later ones. */
export class DecoderMemory {
  readonly #arrays = new Map<string, Float32Array>();

  /** Returns a buffer of this length. Its contents stay until more is asked for under the same name. */
  floats(name: string, length: number): Float32Array {
    let array = this.#arrays.get(name);
    if (array === undefined || array.length < length) {
      array = new Float32Array(length);
      this.#arrays.set(name, array);
    }
    return array.length === length ? array : array.subarray(0, length);
  }
}

export interface DecoderPiece {
  /** [128, columns]; six overlap the previous piece. */
  readonly encoding: Float32Array;
  readonly pitchHz: Float32Array;
  readonly energy: Float32Array;
  /** Whether the sentence begins or ends with this piece. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Output frames at the start that were only context; their values are not returned. */
  readonly skippedFrames: number;
  /** Output frames, skipped ones included. */
  readonly frames: number;
}

/** The voice's three graphs (voices/heart/split/README.md), in the order of use. */
export interface EmbeddedNetwork extends PlanningNetwork {
  takeMemory(): DecoderMemory;
  giveBack(memory: DecoderMemory): void;
  /**
   * @param memory the same for all pieces of a sentence
   * @returns values [frames − skippedFrames, 3005] in the order of `SPECTRUM_PART`, valid until the memory's next
   * piece
   */
  decode(piece: DecoderPiece, memory: DecoderMemory): Promise<Float32Array>;
}

export const EMBEDDED_RUNS = ["read", "intone", "decode"] as const;

export interface OwnedNetwork extends EmbeddedNetwork {
  close(): Promise<void>;
}

/** Arithmetic of the graphs: float32 as stored, or 8-bit products (see `quantiseProducts`). */
export type EmbeddedPrecision = "fp32" | "int8";

const PROSODY_CHANNELS = 192;
export const DECODER_CHANNELS = 128;

/**
 * Opens the graphs in `voiceDir/split`.
 *
 * @param adapt rewrites each graph, keeping its form
 * @throws Error naming the file that is missing or damaged, WeightsError if it is not the expected graph
 */
export async function openNetwork(
  voiceDir: string,
  precision: EmbeddedPrecision = "int8",
  guard?: NativeGuard,
  adapt: (graph: StoredGraph) => Promise<StoredGraph> = async (graph) => graph,
): Promise<OwnedNetwork> {
  return networkOf(await openGraphs(voiceDir, precision, guard, adapt));
}

interface Graphs {
  readonly text: Session;
  readonly prosody: Session;
  readonly decoder: BoundSession;
}

async function openGraphs(
  voiceDir: string,
  precision: EmbeddedPrecision,
  guard: NativeGuard | undefined,
  adapt: (graph: StoredGraph) => Promise<StoredGraph>,
): Promise<Graphs> {
  const isInt8 = precision === "int8";
  const hasOwnMatrices = isInt8 && (await saturatesIn8Bits(guard));
  const fileOf = async (name: keyof typeof ENDS, edit = (graph: StoredGraph) => graph) => {
    const path = join(voiceDir, "split", `${name}.onnx`);
    const graph = edit(await adapt(readGraph(await readVerifiedFile(path))));
    const { inputs, outputs } = ENDS[name];
    const file = toGraphFile(isInt8 ? quantiseProducts(graph, hasOwnMatrices) : graph, inputs, outputs);
    return { path, file };
  };
  const setup = { guard, isExactIn8Bits: isInt8 };
  const opened: BoundSession[] = [];
  const kept = <T extends BoundSession>(session: T): T => {
    opened.push(session);
    return session;
  };
  const open = async (name: keyof typeof ENDS) => {
    const { path, file } = await fileOf(name);
    return kept(await openSession(Buffer.concat(file.pieces()), path, setup));
  };
  try {
    // The biggest first: the others reuse the memory that loading it leaves behind.
    const { path, file } = await fileOf("decoder", streamingDecoder);
    const decoder = kept(await openBoundSession(file, path, setup));
    return { decoder, text: await open("text"), prosody: await open("prosody") };
  } catch (thrown) {
    await Promise.all(opened.map((session) => session.release()));
    throw thrown;
  }
}

/** Creates the network outside `openNetwork`, whose closures would keep the graphs' bytes in memory. */
function networkOf({ text, prosody, decoder }: Graphs): OwnedNetwork {
  const spare: DecoderMemory[] = [];

  return {
    async read(ids) {
      const outputs = await text.run({ ids: idRow(ids) });
      return {
        steps: floatsOf(outputs, "dur"),
        prosodyEncoding: floatsOf(outputs, "enc_p"),
        decoderEncoding: floatsOf(outputs, "enc_d"),
      };
    },
    async intone(columns) {
      const xp = float32(columns, [1, PROSODY_CHANNELS, columns.length / PROSODY_CHANNELS]);
      const outputs = await prosody.run({ xp });
      return { pitchHz: floatsOf(outputs, "f0"), energy: floatsOf(outputs, "energy") };
    },
    takeMemory: () => spare.pop() ?? new DecoderMemory(),
    giveBack(memory) {
      if (spare.length < MAX_SPARE) spare.push(memory);
    },
    async decode({ encoding, pitchHz, energy, isFirst, isLast, skippedFrames: skip, frames }, memory) {
      const columns = pitchHz.length;
      const spectra = memory.floats("spectra", (frames - skip) * SPECTRUM_VALUES);
      const inputs: Record<string, Tensor> = {
        xd: float32(encoding, [1, DECODER_CHANNELS, columns]),
        f0: float32(pitchHz, [1, columns]),
        energy: float32(energy, [1, columns]),
        after: isLast ? ZEROS : NONE,
        from: int64(BigInt64Array.of(BigInt(skip)), [1]),
        to: int64(BigInt64Array.of(BigInt(frames)), [1]),
      };
      const outputs: Record<string, Tensor> = {
        spec: float32(spectra, [1, frames - skip, SPECTRUM_VALUES]),
      };
      for (let block = 0; block < BLOCKS; block++) {
        const kept = float32(memory.floats(`next${block}`, CHANNELS * PAST_COLUMNS), [
          1,
          CHANNELS,
          PAST_COLUMNS,
        ]);
        inputs[`past${block}`] = isFirst ? ZEROS : kept;
        outputs[`next${block}`] = kept;
      }
      await decoder.bind(inputs, outputs).run();
      return spectra;
    },
    async close() {
      await Promise.all([text, prosody, decoder].map((session) => session.release()));
    },
  };
}

/** Buffers kept for reuse: sentences decoded at once, as a rule. */
const MAX_SPARE = 8;

const ZEROS = float32(new Float32Array(CHANNELS * EDGE_COLUMNS), [1, CHANNELS, EDGE_COLUMNS]);
const NONE = float32(new Float32Array(0), [1, CHANNELS, 0]);

const floats = (...shape: (number | string)[]): ValueInfo => ({ type: "float32", shape });
const ints = (...shape: (number | string)[]): ValueInfo => ({ type: "int64", shape });

const ENDS: Readonly<
  Record<
    "text" | "prosody" | "decoder",
    Readonly<Record<"inputs" | "outputs", Readonly<Record<string, ValueInfo>>>>
  >
> = {
  text: {
    inputs: { ids: ints(1, "phonemes") },
    outputs: {
      dur: floats("phonemes"),
      enc_p: floats(1, PROSODY_CHANNELS, "phonemes"),
      enc_d: floats(1, DECODER_CHANNELS, "phonemes"),
    },
  },
  prosody: {
    inputs: { xp: floats(1, PROSODY_CHANNELS, "steps") },
    outputs: { f0: floats(1, "frames"), energy: floats(1, "frames") },
  },
  decoder: {
    inputs: {
      xd: floats(1, DECODER_CHANNELS, "columns"),
      f0: floats(1, "columns"),
      energy: floats(1, "columns"),
      from: ints(1),
      to: ints(1),
      ...PIECE_INPUTS,
    },
    outputs: { spec: floats(1, "described", SPECTRUM_VALUES), ...PIECE_OUTPUTS },
  },
};

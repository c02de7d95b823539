import { type NativeGuard, openSession, type Session } from "../../onnx/session.ts";
import { float32, floatsOf, idRow, int64, type Tensor, type Tensors } from "../../onnx/tensor.ts";
import type { Contour, PlanningNetwork, TextReading } from "../prosody/plan.ts";
import type { GraphName } from "./graphs/convert.ts";
import type { ConvertedGraphs } from "./graphs/converted-graphs.ts";
import type { KokoroLayerState } from "./graphs/streaming-graph.ts";
import { CHANNELS } from "./graphs/subgraphs.ts";
import { type StylePart, styleOf } from "./voices.ts";

export interface KokoroDecoderPiece {
  /** [512, steps] */
  readonly columns: Float32Array;
  /** Two per step. */
  readonly pitchHz: Float32Array;
  readonly energy: Float32Array;
  /** [22, 120 · steps], and one more column in the last piece. */
  readonly source: Float32Array;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Decoder state between the pieces of a sentence. */
export type KokoroDecoderState = readonly Tensor[];

export interface KokoroDecoderVoice {
  readonly style: Float32Array;
  readonly statistics: Float32Array;
}

/** Kokoro's graphs, in the order of use. A style has 256 numbers. */
export interface KokoroNetwork {
  read(ids: readonly number[], style: Float32Array): Promise<TextReading>;
  /** @param columns [640, steps] */
  intone(columns: Float32Array, style: Float32Array): Promise<Contour>;
  /** Returns the excitation of a whole sentence, [22, 120 · steps + 1]. @param pitchHz two per step */
  source(pitchHz: Float32Array): Promise<Float32Array>;
  /** @param memory `null` at a sentence's start @returns spectrum [22, columns] */
  decode(
    piece: KokoroDecoderPiece,
    voice: KokoroDecoderVoice,
    memory: KokoroDecoderState | null,
  ): Promise<{ readonly spectrum: Float32Array; readonly memory: KokoroDecoderState }>;
}

export const KOKORO_RUNS = ["read", "intone", "source", "decode"] as const;

export interface OwnedKokoroNetwork extends KokoroNetwork {
  close(): Promise<void>;
}

/** Opens the converted graphs. @throws Error naming the one that cannot be loaded */
export async function openKokoro(graphs: ConvertedGraphs, guard?: NativeGuard): Promise<OwnedKokoroNetwork> {
  const opened: Session[] = [];
  const open = async (name: GraphName): Promise<Session> => {
    const session = await openGraph(graphs, name, guard);
    opened.push(session);
    return session;
  };
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((session) => session.release()));
  };
  try {
    const decoder = await open("decoder");
    const text = await open("text");
    const prosody = await open("prosody");
    const source = await open("source");
    const { states } = graphs.facts;
    return {
      async read(ids, style) {
        const outputs = await text.run({ tokens: idRow(ids), style: styleTensor(style) });
        return {
          steps: floatsOf(outputs, "steps"),
          prosodyEncoding: floatsOf(outputs, "prosody"),
          decoderEncoding: floatsOf(outputs, "decoder"),
        };
      },
      async intone(columns, style) {
        const steps = columns.length / CHANNELS.prosody;
        const inputs = { columns: float32(columns, [1, CHANNELS.prosody, steps]), style: styleTensor(style) };
        const outputs = await prosody.run(inputs);
        return { pitchHz: floatsOf(outputs, "pitch"), energy: floatsOf(outputs, "energy") };
      },
      async source(pitchHz) {
        const outputs = await source.run({ pitch: float32(pitchHz, [1, pitchHz.length]) });
        return floatsOf(outputs, "source");
      },
      async decode(piece, { style, statistics }, memory) {
        const inputs: Record<string, Tensor> = {
          ...pieceTensors(piece, style),
          statistics: float32(statistics, [1, statistics.length, 1]),
          first: flag(piece.isFirst),
          last: flag(piece.isLast),
        };
        states.forEach((state, at) => {
          inputs[`past.${state.name}`] = memory?.[at] ?? zeros(state);
        });
        const outputs = await decoder.run(inputs);
        return {
          spectrum: floatsOf(outputs, "spectrum"),
          memory: states.map((state) => kept(outputs, state)),
        };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function openGraph(
  graphs: ConvertedGraphs,
  name: GraphName,
  guard?: NativeGuard,
): Promise<Session> {
  return await openSession(await graphs.graph(name), `Kokoro's graph “${name}”`, {
    guard,
    dataFolder: graphs.folder,
  });
}

/** Returns the inputs that both decoders take. */
export function pieceTensors(
  { columns, pitchHz, energy, source }: KokoroDecoderPiece,
  style: Float32Array,
): Readonly<Record<string, Tensor>> {
  return {
    columns: float32(columns, [1, CHANNELS.decoder, columns.length / CHANNELS.decoder]),
    pitch: float32(pitchHz, [1, 1, pitchHz.length]),
    energy: float32(energy, [1, 1, energy.length]),
    source: float32(source, [1, CHANNELS.source, source.length / CHANNELS.source]),
    style: styleTensor(style),
  };
}

function styleTensor(style: Float32Array): Tensor {
  return float32(style, [1, CHANNELS.style]);
}

function flag(isSet: boolean): Tensor {
  return int64(BigInt64Array.of(isSet ? 1n : 0n), [1]);
}

function zeros({ channels, initial }: KokoroLayerState): Tensor {
  return float32(new Float32Array(channels * initial), [1, channels, initial]);
}

function kept(outputs: Tensors, { name }: KokoroLayerState): Tensor {
  const tensor = outputs[`next.${name}`];
  if (tensor === undefined) throw new Error(`Kokoro's decoder does not give next.${name}.`);
  return tensor;
}

/** Returns the network with a voice's style, which depends on the sentence: `intone` must follow its `read`. */
export function planningNetworkFor(
  network: Pick<KokoroNetwork, "read" | "intone">,
  parts: readonly StylePart[],
): { readonly planning: PlanningNetwork; style(ids: readonly number[]): Float32Array } {
  // Without the silence at both ends.
  const style = (ids: readonly number[]) => styleOf(parts, ids.length - 2);
  let current = style([]);
  return {
    style,
    planning: {
      read(ids) {
        current = style(ids);
        return network.read(ids, current);
      },
      intone: (columns) => network.intone(columns, current),
    },
  };
}

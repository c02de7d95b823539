import { type NativeGuard, openSession, type Session } from "../../onnx/session.ts";
import { float32, floatsOf, idRow, int64, type Tensor, type Tensors } from "../../onnx/tensor.ts";
import type { Contour, TextReading } from "../prosody/plan.ts";
import { CHANNELS } from "./graphs/cuts.ts";
import type { GraphName } from "./graphs/make-files.ts";
import type { State } from "./graphs/streamed.ts";
import type { MadeFiles } from "./made-files.ts";

/** A piece of a planned sentence as the decoder takes it. */
export interface DecoderPiece {
  /** [512, steps] */
  readonly columns: Float32Array;
  /** Two for each step. */
  readonly pitchHz: Float32Array;
  readonly energy: Float32Array;
  /** [22, 120 · steps], and one column more in the last piece. */
  readonly source: Float32Array;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** What the decoder keeps between the pieces of one sentence. */
export type DecoderMemory = readonly Tensor[];

/** Whose voice the decoder speaks with. */
export interface DecoderVoice {
  /** 256 numbers. */
  readonly style: Float32Array;
  /** Means and variances of its norms. */
  readonly statistics: Float32Array;
}

/** Kokoro's graphs, in the order in which a sentence passes them. A style has 256 numbers. */
export interface KokoroNetwork {
  read(ids: readonly number[], style: Float32Array): Promise<TextReading>;
  /** @param columns [640, steps] */
  intone(columns: Float32Array, style: Float32Array): Promise<Contour>;
  /** The sound's source of a whole sentence, [22, 120 · steps + 1]. @param pitchHz two for each step */
  source(pitchHz: Float32Array): Promise<Float32Array>;
  /** @returns spectrum [22, columns]. @param memory null at a sentence's start */
  decode(
    piece: DecoderPiece,
    voice: DecoderVoice,
    memory: DecoderMemory | null,
  ): Promise<{ readonly spectrum: Float32Array; readonly memory: DecoderMemory }>;
  close(): Promise<void>;
}

/** Opens the graphs that were made. @throws Error naming the one that cannot be loaded */
export async function openKokoro(made: MadeFiles, guard?: NativeGuard): Promise<KokoroNetwork> {
  const opened: Session[] = [];
  const open = async (name: GraphName): Promise<Session> => {
    const session = await openGraph(made, name, guard);
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
    const { states } = made.facts;
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

/** Opens one of the graphs over the weights that all of them share. */
export async function openGraph(made: MadeFiles, name: GraphName, guard?: NativeGuard): Promise<Session> {
  return await openSession(await made.graph(name), `Kokoro's graph “${name}”`, {
    guard,
    dataFolder: made.folder,
  });
}

/** What both decoders take of a piece. */
export function pieceTensors(
  { columns, pitchHz, energy, source }: DecoderPiece,
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

function zeros({ channels, initial }: State): Tensor {
  return float32(new Float32Array(channels * initial), [1, channels, initial]);
}

function kept(outputs: Tensors, { name }: State): Tensor {
  const tensor = outputs[`next.${name}`];
  if (tensor === undefined) throw new Error(`Kokoro's decoder does not give next.${name}.`);
  return tensor;
}

import { GraphFile } from "../../../onnx/graph-file.ts";
import { type NativeGuard, openSession, type Session } from "../../../onnx/session.ts";
import { elementCount, float32, floatsOf, int64, type Tensor, type Tensors } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import type { AttentionCache, AttentionLayout, StreamedGraph } from "./streamed-graph.ts";
import { inverseFrequencies } from "./transformer.ts";
import { WeightsInGraph } from "./weights-in-graph.ts";

export interface StreamState {
  readonly states: Map<string, StateView>;
  /** Positions processed by attention so far. */
  position: number;
  readonly capacity: number;
}

/** A stream's numbers within an array for several streams that were computed together. */
interface StateView {
  readonly data: Float32Array;
  /** Shape for one stream. */
  readonly shape: readonly number[];
  readonly at: number;
}

export interface StreamedSessionSetup {
  readonly threads: number;
  /** Required if the calling thread may be terminated. */
  readonly guard?: NativeGuard | undefined;
}

/** A streamed graph in memory. */
export class StreamedSession {
  readonly #session: Session;
  readonly #build: StreamedGraph;
  readonly #frequencies: Float64Array;

  private constructor(session: Session, build: StreamedGraph) {
    this.#session = session;
    this.#build = build;
    const { attention } = build;
    this.#frequencies =
      attention === null
        ? new Float64Array(0)
        : inverseFrequencies(attention.headWidth, { theta: attention.theta, scaling: null });
  }

  /** @param name for errors @throws WeightsError naming what is missing */
  static async open(
    weights: Weights,
    setup: StreamedSessionSetup,
    name: string,
    write: (into: WeightsInGraph) => StreamedGraph,
  ): Promise<StreamedSession> {
    const build = write(new WeightsInGraph(new GraphFile(), weights));
    const model = Buffer.concat(build.graph.pieces());
    const session = await openSession(model, name, { ...setup, dataFolder: weights.folder });
    return new StreamedSession(session, build);
  }

  /** @param positions maximum of the stream: required for attention without a window */
  begin(positions = Number.POSITIVE_INFINITY): StreamState {
    const window = this.#build.attention?.window ?? null;
    const capacity = Math.min(window === null ? positions : window - 1, positions);
    if (!Number.isFinite(capacity) && this.#build.attention !== null) {
      throw new Error("A stream whose attention has no window needs to know its length.");
    }
    const states = new Map<string, StateView>();
    const begin = (name: string, shape: readonly number[]) =>
      states.set(name, { data: new Float32Array(elementCount(shape)), shape, at: 0 });
    for (const { name, shape } of this.#build.states) begin(name, shape);
    for (const { name, heads, width } of this.#build.attentionCaches) begin(name, [heads, capacity, width]);
    return { states, position: 0, capacity };
  }

  /**
   * Processes the next chunks of several different streams.
   *
   * @param inputs [streams, ...]: chunks of equal length
   * @param positions of each chunk in the attention layers
   * @returns the graph's outputs, [streams, ...]
   */
  async run(streams: readonly StreamState[], inputs: Tensors, positions = 0): Promise<Tensors> {
    const { states, attentionCaches, attention } = this.#build;
    const given: Record<string, Tensor> = { ...inputs };
    for (const { name } of [...states, ...attentionCaches]) given[name] = concatStates(streams, name);
    if (attention !== null) Object.assign(given, this.#rotaryInputs(streams, positions));
    if (attention !== null) given.mask = attentionMask(streams, positions, attention);
    const outputs = await this.#session.run(given);
    for (const { name } of states) {
      const next = outputs[`next_${name}`]!;
      const [data, shape] = [floatsOf(outputs, `next_${name}`), next.shape.slice(1)];
      for (const [at, stream] of streams.entries()) stream.states.set(name, { data, shape, at });
    }
    for (const each of attentionCaches)
      storeKept(streams, each, floatsOf(outputs, `new_${each.name}`), positions);
    for (const stream of streams) stream.position += positions;
    return outputs;
  }

  release(): Promise<void> {
    return this.#session.release();
  }

  #rotaryInputs(streams: readonly StreamState[], positions: number): Tensors {
    const half = this.#frequencies.length;
    const count = streams.length * positions;
    const [cosines, sines] = [new Float32Array(count * half), new Float32Array(count * half)];
    for (let row = 0; row < count; row++) {
      const position = streams[Math.floor(row / positions)]!.position + (row % positions);
      for (let pair = 0; pair < half; pair++) {
        const angle = position * this.#frequencies[pair]!;
        cosines[row * half + pair] = Math.cos(angle);
        sines[row * half + pair] = Math.sin(angle);
      }
    }
    const angles = BigInt64Array.from({ length: count }, (_, row) => BigInt(row));
    return {
      angles: int64(angles, [streams.length, positions]),
      cosines: float32(cosines, [count, half]),
      sines: float32(sines, [count, half]),
    };
  }
}

/** Concatenates the streams' states. Copies only if they are not adjacent already. */
function concatStates(streams: readonly StreamState[], name: string): Tensor {
  const places = streams.map((stream) => stream.states.get(name)!);
  const { data: first, shape } = places[0]!;
  const size = elementCount(shape);
  const whole = [streams.length, ...shape];
  const areTogether = places.every(({ data, at }, index) => data === first && at === index);
  if (areTogether) return float32(first.subarray(0, size * streams.length), whole);
  const data = new Float32Array(size * streams.length);
  for (const [at, place] of places.entries()) {
    data.set(place.data.subarray(place.at * size, (place.at + 1) * size), at * size);
    streams[at]!.states.set(name, { data, shape, at });
  }
  return float32(data, whole);
}

/** Returns [streams, 1, n, capacity + n]. Kept positions form a ring: position p is at p modulo the capacity. */
function attentionMask(
  streams: readonly StreamState[],
  positions: number,
  { window }: AttentionLayout,
): Tensor {
  const { capacity } = streams[0]!;
  const furthest = window ?? Number.POSITIVE_INFINITY;
  const seen = capacity + positions;
  const mask = new Float32Array(streams.length * positions * seen).fill(MASKED);
  for (const [at, { position }] of streams.entries()) {
    for (let fresh = 0; fresh < positions; fresh++) {
      const row = mask.subarray((at * positions + fresh) * seen, (at * positions + fresh + 1) * seen);
      for (let p = Math.max(0, position - capacity, position + fresh - furthest + 1); p < position; p++) {
        row[p % capacity] = 0;
      }
      row.fill(0, capacity + Math.max(0, fresh - furthest + 1), capacity + fresh + 1);
    }
  }
  return float32(mask, [streams.length, 1, positions, seen]);
}

const MASKED = -1e30;

/** Overwrites the oldest kept rows with new keys or values, [streams, heads, n, width]. */
function storeKept(
  streams: readonly StreamState[],
  { name, heads, width }: AttentionCache,
  fresh: Float32Array,
  n: number,
) {
  for (const [at, stream] of streams.entries()) {
    const { capacity, position } = stream;
    const place = stream.states.get(name)!;
    for (let head = 0; head < heads; head++) {
      const [from, to] = [(at * heads + head) * n, (place.at * heads + head) * capacity];
      for (let index = Math.max(0, n - capacity); index < n; index++) {
        const row = fresh.subarray((from + index) * width, (from + index + 1) * width);
        place.data.set(row, (to + ((position + index) % capacity)) * width);
      }
    }
  }
}

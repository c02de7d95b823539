import { GraphFile } from "../../../onnx/graph-file.ts";
import { type NativeGuard, openSession, type Session } from "../../../onnx/session.ts";
import { float32, floatsOf, int64, type Tensor, type Tensors } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import type { Kept, Positions, StreamedGraph } from "./streamed-graph.ts";
import { inverseFrequencies } from "./transformer.ts";
import { WeightsInGraph } from "./weights-in-graph.ts";

/** A signal that goes through a streamed graph piece by piece. */
export interface Stream {
  /** What the layers remember, by the state's name. */
  readonly states: Map<string, StateSlice>;
  /** Positions that the attentions have had. */
  position: number;
  /** How many of them are kept. */
  readonly capacity: number;
}

/** Where a stream's numbers are: in an array of those of several that were computed together. */
interface StateSlice {
  readonly data: Float32Array;
  /** For one stream. */
  readonly shape: readonly number[];
  /** Which of those in the array. */
  readonly at: number;
}

export interface StreamsSetup {
  /** That compute together. */
  readonly threads: number;
  /** Needed where somebody may end the calling thread. */
  readonly guard?: NativeGuard | undefined;
}

/** A streamed graph in memory. */
export class Streams {
  readonly #session: Session;
  readonly #build: StreamedGraph;
  readonly #frequencies: Float64Array;

  private constructor(session: Session, build: StreamedGraph) {
    this.#session = session;
    this.#build = build;
    const { positions } = build;
    this.#frequencies =
      positions === null
        ? new Float64Array(0)
        : inverseFrequencies(positions.headWidth, { theta: positions.theta, stretched: null });
  }

  /** @param name what errors call the graph @throws WeightsError naming what is missing */
  static async open(
    weights: Weights,
    setup: StreamsSetup,
    name: string,
    write: (into: WeightsInGraph) => StreamedGraph,
  ): Promise<Streams> {
    const build = write(new WeightsInGraph(new GraphFile(), weights));
    const model = Buffer.concat(build.graph.pieces());
    const session = await openSession(model, name, { ...setup, dataFolder: weights.folder });
    return new Streams(session, build);
  }

  /** @param positions that the stream will have at most: needed where attention looks at all of them */
  begin(positions = Number.POSITIVE_INFINITY): Stream {
    const window = this.#build.positions?.window ?? null;
    const capacity = Math.min(window === null ? positions : window - 1, positions);
    if (!Number.isFinite(capacity) && this.#build.positions !== null) {
      throw new Error("A stream whose attention has no window needs to know its length.");
    }
    const states = new Map<string, StateSlice>();
    const begin = (name: string, shape: readonly number[]) =>
      states.set(name, { data: new Float32Array(sizeOf(shape)), shape, at: 0 });
    for (const { name, shape } of this.#build.states) begin(name, shape);
    for (const { name, heads, width } of this.#build.kept) begin(name, [heads, capacity, width]);
    return { states, position: 0, capacity };
  }

  /**
   * Goes on with several streams, each of which appears once.
   *
   * @param inputs of all, [streams, ...]: pieces of as many samples
   * @param positions that the attentions have of each piece
   * @returns what the graph gives for the pieces, [streams, ...]
   */
  async next(streams: readonly Stream[], inputs: Tensors, positions = 0): Promise<Tensors> {
    const { states, kept, positions: attention } = this.#build;
    const given: Record<string, Tensor> = { ...inputs };
    for (const { name } of [...states, ...kept]) given[name] = joined(streams, name);
    if (attention !== null) Object.assign(given, this.#anglesOf(streams, positions));
    if (attention !== null) given.mask = maskOf(streams, positions, attention);
    const outputs = await this.#session.run(given);
    for (const { name } of states) {
      const next = outputs[`next_${name}`]!;
      const [data, shape] = [floatsOf(outputs, `next_${name}`), next.shape.slice(1)];
      for (const [at, stream] of streams.entries()) stream.states.set(name, { data, shape, at });
    }
    for (const each of kept) remember(streams, each, floatsOf(outputs, `new_${each.name}`), positions);
    for (const stream of streams) stream.position += positions;
    return outputs;
  }

  /** Frees the weights. */
  release(): Promise<void> {
    return this.#session.release();
  }

  #anglesOf(streams: readonly Stream[], positions: number): Tensors {
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

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** What the streams remember, one below the other. Copied only where they do not lie so already. */
function joined(streams: readonly Stream[], name: string): Tensor {
  const places = streams.map((stream) => stream.states.get(name)!);
  const { data: first, shape } = places[0]!;
  const size = sizeOf(shape);
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

/** [streams, 1, n, capacity + n]. What is kept is a ring: position p is in the place p modulo the capacity. */
function maskOf(streams: readonly Stream[], positions: number, { window }: Positions): Tensor {
  const { capacity } = streams[0]!;
  const furthest = window ?? Number.POSITIVE_INFINITY;
  const seen = capacity + positions;
  const mask = new Float32Array(streams.length * positions * seen).fill(HIDDEN);
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

const HIDDEN = -1e30;

/** Writes new keys or values, [streams, heads, n, width], over the oldest ones that are kept. */
function remember(streams: readonly Stream[], { name, heads, width }: Kept, fresh: Float32Array, n: number) {
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

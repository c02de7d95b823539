import type { GraphFile } from "../../tensors/graph-file.ts";
import { type BoundSession, openBoundSession, openSession, type Session } from "../../tensors/session.ts";
import type { Weights } from "../../tensors/weights-folder.ts";
import { CheckpointError } from "./fields.ts";
import { openPart, problemsOf, type WeightsPart } from "./manifest.ts";
import type { Precision, Setup } from "./model.ts";
import { openQuantised, type Quantisation } from "./quantised-weights.ts";

/** What is open of a checkpoint: it is closed together, what was opened last first. */
export class Opened {
  readonly #setup: Setup;
  readonly #releases: (() => Promise<void>)[] = [];

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  keep<T extends { release(): Promise<void> }>(owned: T): T {
    this.#releases.push(() => owned.release());
    return owned;
  }

  /** Opens weights of a checkpoint. @throws CheckpointError when they are not those of the manifest; WeightsError */
  async weights(folder: string, part: WeightsPart): Promise<Weights> {
    const weights = await openPart(folder, part);
    this.#releases.push(() => weights.close());
    const [problem, ...more] = problemsOf(weights, part);
    if (problem === undefined) return weights;
    throw new CheckpointError(more.length === 0 ? problem : `${problem} (And ${more.length} more.)`);
  }

  /** The weights of the transformers, as they are to be computed with. */
  async inPrecision(
    weights: Weights,
    quantisation: (precision: Exclude<Precision, "fp32">) => Quantisation,
  ): Promise<Weights> {
    const { precision, cacheFolder, signal } = this.#setup;
    if (precision === "fp32") return weights;
    const quantised = await openQuantised(weights, quantisation(precision), cacheFolder, signal);
    this.#releases.push(() => quantised.close());
    return quantised;
  }

  /** Opens a graph over the transformers' weights. @param name what errors call it */
  async session(graph: GraphFile, weights: Weights, name: string): Promise<BoundSession> {
    const { threads, precision, guard } = this.#setup;
    const setup = {
      threads,
      dataFolder: weights.folder,
      keepsWeightsInPlace: precision === "fp32",
      guard,
    };
    return this.keep(await openBoundSession(graph, name, setup));
  }

  /** Opens a graph over weights as they are. @param name what errors call it */
  async plainSession(graph: GraphFile, weights: Weights, name: string): Promise<Session> {
    const { threads, guard } = this.#setup;
    const model = Buffer.concat(graph.pieces());
    return this.keep(await openSession(model, name, { threads, guard, dataFolder: weights.folder }));
  }

  async close(): Promise<void> {
    for (const release of this.#releases.splice(0).reverse()) await release();
  }
}

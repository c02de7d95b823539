import type { GraphFile } from "../../onnx/graph-file.ts";
import { type BoundSession, openBoundSession, openSession, type Session } from "../../onnx/session.ts";
import type { Tokenizer } from "../../onnx/tokenizer.ts";
import type { Weights } from "../../onnx/weights-folder.ts";
import { type Checkpoint, findTokenizerProblems, GENERATION_CONFIG } from "./checkpoint.ts";
import type {
  ClipSupport,
  CodecLanguageModel,
  GenerationResult,
  ModelSetup,
  Precision,
  Utterance,
} from "./codec-language-model.ts";
import { CheckpointError, type Fields, readFields } from "./fields.ts";
import { FrameBatch } from "./frame-batch.ts";
import { type CheckpointWeights, findWeightProblems, openCheckpointWeights } from "./manifest.ts";
import type { FrameModel } from "./model-runner.ts";
import { Backbone, type BackboneParts, backboneGraph } from "./networks/backbone.ts";
import { DepthDecoder, type DepthDecoderParts, depthDecoderGraph } from "./networks/depth-decoder.ts";
import { openQuantised, type Quantisation } from "./quantised-weights.ts";
import type { SequenceState } from "./sequence.ts";

export interface LoadContext {
  readonly resources: OpenResources;
  readonly setup: ModelSetup;
  readonly maxPositions: number;
  readonly tokenizer: Tokenizer;
  /** Unquantised weights, in the order of the checkpoint's. */
  readonly weights: readonly Weights[];
}

/** Parts of a model that differ by architecture. */
export interface ModelParts<Settings> extends Pick<FrameModel, "codes" | "decoder" | "embeddings"> {
  readonly voices: ClipSupport;
  readonly backbone: BackboneParts;
  readonly depthDecoder: DepthDecoderParts;
  settingsOf(generation: Fields, utterance: Utterance): Settings;
  /** @throws CheckpointError if the conversation cannot be read; the signal's reason */
  prepare(utterance: Utterance, settings: Settings, signal: AbortSignal): Promise<PreparedUtterance>;
}

export interface PreparedUtterance extends Omit<GenerationResult, "stop"> {
  readonly state: SequenceState;
}

/** Opens a checkpoint: everything that the architectures share, around what `build` makes. */
export async function loadModel<Settings>(
  checkpoint: Checkpoint,
  setup: ModelSetup,
  build: (loading: LoadContext) => Promise<ModelParts<Settings>>,
): Promise<CodecLanguageModel> {
  const { folder } = checkpoint;
  const { positions: max } = checkpoint.backbone;
  const positions = Math.min(setup.maxPositions ?? max, max);
  const generation = await readFields(folder, GENERATION_CONFIG);
  const tokenizer = await checkpoint.readTokenizer();
  const opened = new OpenResources(setup);
  try {
    const weights: Weights[] = [];
    for (const part of checkpoint.weights) weights.push(await opened.weights(folder, part));
    const [problem] = findTokenizerProblems(checkpoint, tokenizer);
    if (problem !== undefined) throw new CheckpointError(problem);
    const transformers = await opened.quantised(weights[0]!, checkpoint.quantisation);
    const built = await build({ resources: opened, setup, maxPositions: positions, tokenizer, weights });
    const batch = await openBatch(built, positions, transformers, opened, setup);
    // The batch closes before the parts that it uses.
    opened.track({ release: () => batch.close() });
    return {
      voices: built.voices,
      async *speak(utterance, signal) {
        const settings = built.settingsOf(generation, utterance);
        await batch.admit(signal, utterance.mayWait);
        const { state, readTurns, audioTurns } = await built.prepare(utterance, settings, signal);
        const sequence = await batch.join(state, signal, utterance.mayWait);
        try {
          for (;;) {
            const step = await sequence.next();
            if (typeof step === "string") return { stop: step, readTurns, audioTurns };
            yield step;
          }
        } finally {
          sequence.leave();
        }
      },
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Open resources of a checkpoint, closed together in reverse order. */
export class OpenResources {
  readonly #setup: ModelSetup;
  readonly #releases: (() => Promise<void>)[] = [];

  constructor(setup: ModelSetup) {
    this.#setup = setup;
  }

  track<T extends { release(): Promise<void> }>(owned: T): T {
    this.#releases.push(() => owned.release());
    return owned;
  }

  /** Opens weights. @throws CheckpointError if they do not match the manifest; WeightsError */
  async weights(folder: string, part: CheckpointWeights): Promise<Weights> {
    const weights = await openCheckpointWeights(folder, part);
    this.#releases.push(() => weights.close());
    const [problem, ...more] = findWeightProblems(weights, part);
    if (problem === undefined) return weights;
    throw new CheckpointError(more.length === 0 ? problem : `${problem} (And ${more.length} more.)`);
  }

  /** Returns the transformers' weights in the precision of the setup. */
  async quantised(
    weights: Weights,
    quantisation: (precision: Exclude<Precision, "fp32">) => Quantisation,
  ): Promise<Weights> {
    const { precision, cacheFolder, signal } = this.#setup;
    if (precision === "fp32") return weights;
    const quantised = await openQuantised(weights, quantisation(precision), cacheFolder, signal);
    this.#releases.push(() => quantised.close());
    return quantised;
  }

  /** Opens a graph over the transformers' weights. @param name for errors */
  async session(graph: GraphFile, weights: Weights, name: string): Promise<BoundSession> {
    const { threads, precision, guard } = this.#setup;
    const setup = {
      threads,
      dataFolder: weights.folder,
      keepsWeightsInPlace: precision === "fp32",
      guard,
    };
    return this.track(await openBoundSession(graph, name, setup));
  }

  /** Opens a graph over unquantised weights. @param name for errors */
  async unquantisedSession(graph: GraphFile, weights: Weights, name: string): Promise<Session> {
    const { threads, guard } = this.#setup;
    const model = Buffer.concat(graph.pieces());
    return this.track(await openSession(model, name, { threads, guard, dataFolder: weights.folder }));
  }

  async close(): Promise<void> {
    for (const release of this.#releases.splice(0).reverse()) await release();
  }
}

async function openBatch(
  { codes, decoder, embeddings, depthDecoder, ...built }: Omit<ModelParts<never>, "settingsOf" | "prepare">,
  positions: number,
  transformers: Weights,
  opened: OpenResources,
  setup: ModelSetup,
): Promise<FrameBatch> {
  const { precision, slots = 1 } = setup;
  // A single float32 row is multiplied in another order than several: results must not depend on the batch.
  const minRows = precision === "fp32" ? 2 : 1;
  const backbone = { ...built.backbone, sizes: { ...built.backbone.sizes, positions } };
  await embeddings.preload();
  const large = await opened.session(backboneGraph(transformers, backbone), transformers, backbone.name);
  const small = await opened.session(
    depthDecoderGraph(transformers, depthDecoder),
    transformers,
    depthDecoder.name,
  );
  const model: FrameModel = {
    ...{ codes, decoder, embeddings, maxPositions: positions },
    width: backbone.sizes.width,
    codebooks: depthDecoder.sizes.codebooks,
    backbone: new Backbone(large, backbone.sizes, slots, minRows),
    depthDecoder: new DepthDecoder(small, depthDecoder.sizes, slots, minRows),
  };
  return new FrameBatch(model, setup);
}

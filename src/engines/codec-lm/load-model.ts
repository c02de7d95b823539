import type { GraphFile } from "../../tensors/graph-file.ts";
import type { Weights } from "../../tensors/weights-folder.ts";
import type { Tokenizer } from "../../tokens/tokenizer-file.ts";
import { Backbone, type BackboneSizes, minRowsOf } from "./backbone.ts";
import { type Checkpoint, GENERATION, tokenizerProblems } from "./checkpoint.ts";
import { DepthDecoder, type DepthDecoderSizes } from "./depth-decoder.ts";
import { CheckpointError, type Fields, readFields } from "./fields.ts";
import { FrameBatch, type FrameModel } from "./frame-batch.ts";
import type { CodecLanguageModel, Ending, Setup, SpokenFrame, Utterance, Voices } from "./model.ts";
import { Opened } from "./opened.ts";
import type { SequenceState } from "./sequence.ts";

/** What an architecture builds a model of. */
export interface Loading {
  readonly opened: Opened;
  readonly setup: Setup;
  /** Of an utterance at most. */
  readonly positions: number;
  readonly generation: Fields;
  readonly tokenizer: Tokenizer;
  /** Of each of the checkpoint's parts, as they are. */
  readonly weights: readonly Weights[];
  /** The first of them as the transformers are computed with. */
  readonly transformers: Weights;
}

/** A transformer's graph, and what errors call it. */
interface Transformer<Sizes> {
  readonly graph: GraphFile;
  readonly sizes: Sizes;
  readonly name: string;
}

/** What is an architecture's own of a model in memory. */
export interface Built<Settings> extends Pick<FrameModel, "codes" | "decoder" | "embeddings"> {
  readonly voices: Voices;
  readonly backbone: Transformer<BackboneSizes>;
  readonly depthDecoder: Transformer<DepthDecoderSizes>;
  readonly speaker: Speaker<Settings>;
}

/** Makes sequences of utterances. */
export interface Speaker<Settings> {
  /** @throws OptionError or CheckpointError */
  settingsOf(utterance: Utterance): Settings;
  /** @throws CheckpointError when the conversation cannot be read; the signal's reason */
  prepare(utterance: Utterance, settings: Settings, signal: AbortSignal): Promise<Prepared>;
}

/** An utterance that is ready to be computed, and what its {@link Ending} says of the history. */
export interface Prepared extends Omit<Ending, "stop"> {
  readonly state: SequenceState;
}

/** Opens a checkpoint: what all architectures have in common, around what `build` makes. */
export async function loadModel<Settings>(
  checkpoint: Checkpoint,
  setup: Setup,
  build: (loading: Loading) => Promise<Built<Settings>>,
): Promise<CodecLanguageModel> {
  const { folder } = checkpoint;
  const { precision, places = 1 } = setup;
  const { positions: max } = checkpoint.backbone;
  const positions = Math.min(setup.positions ?? max, max);
  const generation = await readFields(folder, GENERATION);
  const tokenizer = await checkpoint.readTokenizer();
  const opened = new Opened(setup);
  try {
    const weights: Weights[] = [];
    for (const part of checkpoint.weights) weights.push(await opened.weights(folder, part));
    const [problem] = tokenizerProblems(checkpoint, tokenizer);
    if (problem !== undefined) throw new CheckpointError(problem);
    const transformers = await opened.inPrecision(weights[0]!, checkpoint.quantisation);
    const loading = { opened, setup, positions, generation, tokenizer, weights, transformers };
    const { voices, speaker, backbone, depthDecoder, ...model } = await build(loading);
    const minRows = minRowsOf(precision);
    await model.embeddings.preload();
    const large = await opened.session(backbone.graph, transformers, backbone.name);
    const small = await opened.session(depthDecoder.graph, transformers, depthDecoder.name);
    const batch = new FrameBatch(
      {
        ...model,
        positions,
        width: backbone.sizes.width,
        codebooks: depthDecoder.sizes.codebooks,
        backbone: new Backbone(large, backbone.sizes, places, minRows),
        depthDecoder: new DepthDecoder(small, depthDecoder.sizes, places, minRows),
      },
      setup,
    );
    // Closed before all that was opened ahead of it.
    opened.keep({ release: () => batch.close() });
    return new LoadedModel(voices, speaker, batch, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

class LoadedModel<Settings> implements CodecLanguageModel {
  readonly voices: Voices;
  readonly #speaker: Speaker<Settings>;
  readonly #batch: FrameBatch;
  readonly #opened: Opened;

  constructor(voices: Voices, speaker: Speaker<Settings>, batch: FrameBatch, opened: Opened) {
    this.voices = voices;
    this.#speaker = speaker;
    this.#batch = batch;
    this.#opened = opened;
  }

  async *speak(utterance: Utterance, signal: AbortSignal): AsyncGenerator<SpokenFrame, Ending, void> {
    const settings = this.#speaker.settingsOf(utterance);
    await this.#batch.admit(signal, utterance.mayWait);
    const { state, read, heard } = await this.#speaker.prepare(utterance, settings, signal);
    const sequence = await this.#batch.join(state, signal, utterance.mayWait);
    try {
      for (;;) {
        const step = await sequence.next();
        if (typeof step === "string") return { stop: step, read, heard };
        yield step;
      }
    } finally {
      sequence.leave();
    }
  }

  close(): Promise<void> {
    return this.#opened.close();
  }
}

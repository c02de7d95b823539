import { join } from "node:path";
import { readTokenizer, type Tokenizer } from "../../../tokens/tokenizer-file.ts";
import type { Architecture } from "../architecture.ts";
import { backboneGraph } from "../backbone.ts";
import { ClipCache } from "../clip-cache.ts";
import { type Fields, readFields } from "../fields.ts";
import type { FrameBatch } from "../frame-batch.ts";
import type { Frame } from "../frame-decoder.ts";
import { type MimiDecoder, type MimiEncoder, openMimiDecoder, openMimiEncoder } from "../mimi/mimi.ts";
import {
  type CodecLanguageModel,
  type Ending,
  type Findings,
  NOTHING_ASKED,
  type Setup,
  type SpokenFrame,
  type SpokenTurn,
  type Utterance,
} from "../model.ts";
import { openBatch } from "../open-batch.ts";
import { lookOver, noting, Opened, weightsFileIn } from "../opened.ts";
import { rngOf } from "../rng.ts";
import { spokenFrames } from "../spoken-frames.ts";
import { type CsmConfig, readConfig } from "./config.ts";
import { depthGraph } from "./graphs.ts";
import { csmManifest, NAMES, quantisationOf } from "./manifest.ts";
import { csmParts } from "./parts.ts";
import { Embeddings, type Position, promptOf, soundPositions, textPositions } from "./prompt.ts";
import { CsmSequenceState } from "./sequence-state.ts";
import { settingsOf } from "./settings.ts";
import { soundsIn, turnsRead } from "./turns-read.ts";

/** CSM (Sesame): a backbone that chooses a frame's first code, and a depth decoder that chooses the others. */
export const csm: Architecture = { modelType: "csm", parts: csmParts, check, open };

const GENERATION = "generation_config.json";
const TOKENIZER = "tokenizer.json";

async function check(folder: string): Promise<Findings> {
  const facts: string[] = [];
  const problems: string[] = [];
  await noting(problems, async () => {
    const config = await readConfig(folder);
    facts.push(...factsOf(config));
    const file = await weightsFileIn(folder, config.weightsFile);
    facts.push(`${await lookOver(problems, folder, file, csmManifest(config))} tensors`);
  });
  await noting(problems, async () => settingsOf(await readFields(folder, GENERATION), NOTHING_ASKED));
  await noting(problems, async () => {
    const tokenizer = await readTokenizer(join(folder, TOKENIZER));
    promptOf([], tokenizer, await readConfig(folder));
  });
  return { facts, problems };
}

function factsOf({ backbone, depth, codec, codebooks }: CsmConfig): string[] {
  return [
    "CSM",
    `backbone of ${backbone.layers} layers, ${backbone.width} wide; depth decoder of ${depth.layers}, ${depth.width} wide`,
    `${codebooks} codebooks of ${codec.codes} codes; at most ${backbone.positions} positions`,
  ];
}

async function open(folder: string, setup: Setup): Promise<CodecLanguageModel> {
  const { threads, guard } = setup;
  const config = await readConfig(folder);
  const generation = await readFields(folder, GENERATION);
  const tokenizer = await readTokenizer(join(folder, TOKENIZER));
  const opened = new Opened(setup);
  try {
    const file = await weightsFileIn(folder, config.weightsFile);
    const weights = await opened.weights(folder, file, csmManifest(config));
    const stacks = await opened.inPrecision(weights, (precision) => quantisationOf(config, precision));
    const { backbone, codec, codebooks, codes, depth } = config;
    const embeddings = new Embeddings(weights, config);
    const encoder = opened.keep(
      await openMimiEncoder(weights, NAMES.codec, codec, codebooks, threads, guard),
    );
    const decoder = opened.keep(await openMimiDecoder(weights, NAMES.codec, codec, threads, guard));
    const sizes = { ...backbone, codes };
    const batch = await openBatch(opened, setup, {
      weights: stacks,
      positions: backbone.positions,
      codes: codec.codes,
      decoder,
      embeddings,
      backbone: {
        graph: backboneGraph(stacks, NAMES.backbone, NAMES.head, sizes),
        sizes,
        name: "CSM's backbone",
      },
      depthDecoder: {
        graph: depthGraph(stacks, config),
        sizes: { transformer: depth, rowWidth: backbone.width, codes, codebooks },
        name: "CSM's depth decoder",
      },
    });
    const close = () => opened.close();
    return new Csm({ config, generation, tokenizer, embeddings, encoder, decoder, batch, close });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Parts {
  readonly config: CsmConfig;
  readonly generation: Fields;
  readonly tokenizer: Tokenizer;
  readonly embeddings: Embeddings;
  readonly encoder: MimiEncoder;
  readonly decoder: MimiDecoder;
  readonly batch: FrameBatch;
  readonly close: () => Promise<void>;
}

class Csm implements CodecLanguageModel {
  readonly voices = { kind: "any", presets: [] } as const;
  readonly #parts: Parts;
  readonly #clips = new ClipCache<readonly Frame[]>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async *speak(utterance: Utterance, signal: AbortSignal): AsyncGenerator<SpokenFrame, Ending, void> {
    const { config, generation, decoder, batch } = this.#parts;
    const settings = settingsOf(generation, utterance);
    batch.refuseUnlessFast();
    const { turns, rows } = await this.#read(utterance, settings.maxFrames, signal);
    const state = new CsmSequenceState(rows, settings, rngOf(utterance), decoder.begin(), config);
    const stop = yield* spokenFrames(batch, state, signal);
    return { stop, read: turns, heard: turns.filter((at) => soundsIn(utterance.history[at]!) > 0) };
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  /** The prompt's rows, and the turns that are in it. */
  async #read(
    { history, open: asked, mayForget = false }: Utterance,
    maxFrames: number,
    signal: AbortSignal,
  ): Promise<{ readonly turns: readonly number[]; readonly rows: Float32Array }> {
    const { config, tokenizer, embeddings } = this.#parts;
    const written = ({ speaker, text }: Pick<SpokenTurn, "speaker" | "text">): Position[] =>
      textPositions(speaker, text ?? "", tokenizer, config);
    const texts = history.map(written);
    const last = written(asked);
    const turns = turnsRead({
      history,
      lengths: history.map((turn, at) => texts[at]!.length + soundsIn(turn)),
      speaker: asked.speaker,
      needed: last.length,
      wanted: maxFrames,
      positions: config.backbone.positions,
      mayForget,
    });
    const positions: Position[] = [];
    for (const at of turns) {
      const frames = await this.#framesOf(history[at]!);
      positions.push(...texts[at]!, ...(frames === null ? [] : soundPositions(frames, config)));
      signal.throwIfAborted();
    }
    return { turns, rows: embeddings.ofPositions([...positions, ...last]) };
  }

  async #framesOf({ audio, codes, digest }: SpokenTurn): Promise<readonly Frame[] | null> {
    if (codes !== undefined) return codes;
    if (audio === null) return null;
    return await this.#clips.of([digest], () => this.#parts.encoder.encode(audio));
  }
}

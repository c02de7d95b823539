import { join } from "node:path";
import type { Session } from "../../../tensors/session.ts";
import { floatsOf, int64 } from "../../../tensors/tensor.ts";
import { readTokenizer, type Tokenizer } from "../../../tokens/tokenizer-file.ts";
import { choose } from "../choosing.ts";
import { type Draws, givenDraws, seededDraws } from "../draws.ts";
import { CheckpointError, type Fields, readFields } from "../fields.ts";
import {
  type Frame,
  type MimiDecoder,
  type MimiEncoder,
  openMimiDecoder,
  openMimiEncoder,
} from "../mimi/mimi.ts";
import type {
  Architecture,
  CodecLanguageModel,
  Ending,
  Findings,
  Setup,
  SpokenFrame,
  SpokenTurn,
  Stop,
  Utterance,
} from "../model.ts";
import { lookOver, noting, Opened, weightsFileIn } from "../opened.ts";
import { Sequence } from "../sequence.ts";
import { type CsmConfig, readConfig } from "./config.ts";
import { backboneGraph, depthGraph } from "./graphs.ts";
import { csmManifest, NAMES, quantisationOf } from "./manifest.ts";
import { Embeddings, promptOf } from "./prompt.ts";
import { type GenerationSettings, settingsOf } from "./settings.ts";

/** CSM (Sesame): a backbone that chooses a frame's first code, and a depth decoder that chooses the others. */
export const csm: Architecture = { modelType: "csm", check, open };

const GENERATION = "generation_config.json";
const TOKENIZER = "tokenizer.json";

/** Positions of the prompt that are read at a time: what attention needs in memory grows with them. */
const PREFILL = 256;

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

const NOTHING_ASKED: Utterance = {
  history: [],
  open: { speaker: "0", text: "" },
  wishes: {},
  options: new Map(),
  uniforms: null,
  seed: 0n,
};

function factsOf({ backbone, depth, codec, codebooks }: CsmConfig): string[] {
  return [
    "CSM",
    `backbone of ${backbone.layers} layers, ${backbone.width} wide; depth decoder of ${depth.layers}, ${depth.width} wide`,
    `${codebooks} codebooks of ${codec.codes} codes; at most ${backbone.positions} positions`,
  ];
}

async function open(folder: string, setup: Setup): Promise<CodecLanguageModel> {
  const { threads } = setup;
  const config = await readConfig(folder);
  const generation = await readFields(folder, GENERATION);
  const tokenizer = await readTokenizer(join(folder, TOKENIZER));
  const opened = new Opened(setup);
  try {
    const file = await weightsFileIn(folder, config.weightsFile);
    const weights = await opened.weights(folder, file, csmManifest(config));
    const stacks = await opened.inPrecision(weights, (precision) => quantisationOf(config, precision));
    const { codec, codebooks } = config;
    return new Csm({
      config,
      generation,
      tokenizer,
      embeddings: new Embeddings(weights, config),
      encoder: opened.keep(await openMimiEncoder(weights, NAMES.codec, codec, codebooks, threads)),
      decoder: opened.keep(await openMimiDecoder(weights, NAMES.codec, codec, threads)),
      backbone: await opened.session(backboneGraph(stacks, config), stacks, "CSM's backbone"),
      depth: await opened.session(depthGraph(stacks, config), stacks, "CSM's depth decoder"),
      close: () => opened.close(),
    });
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
  readonly backbone: Session;
  readonly depth: Session;
  readonly close: () => Promise<void>;
}

class Csm implements CodecLanguageModel {
  readonly voices = { kind: "any", presets: [] } as const;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async *speak(utterance: Utterance, signal: AbortSignal): AsyncGenerator<SpokenFrame, Ending, void> {
    const { config, embeddings, generation, decoder, backbone } = this.#parts;
    const settings = settingsOf(generation, utterance);
    const draws = utterance.uniforms === null ? seededDraws(utterance.seed) : givenDraws(utterance.uniforms);
    const sequence = new Sequence(backbone, config.backbone);
    let { hidden, logits } = await this.#readPrompt(sequence, utterance, signal);
    const sound = decoder.begin();
    const all = [...utterance.history.keys()];
    const heard = all.filter((at) => utterance.history[at]!.audio !== null);
    const ending = (stop: Stop): Ending => ({ stop, read: all, heard });
    for (let count = 1; ; count++) {
      const codes = await this.#frame(hidden, logits, settings, draws);
      signal.throwIfAborted();
      // The last codebook is not asked. A frame that is not silent in it ends the speech too, and is heard.
      const isLast = codes.slice(0, -1).every((code) => code === 0);
      const isEnd = isLast && codes.at(-1) === 0;
      yield { codes, samples: isEnd ? new Float32Array(0) : await sound.decode([codes]) };
      if (isLast) return ending("finished");
      if (count >= settings.maxFrames || sequence.length >= config.backbone.positions)
        return ending("length");
      ({ hidden, logits } = await readRows(sequence, await embeddings.ofFrame(codes), config));
      signal.throwIfAborted();
    }
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  async #readPrompt(sequence: Sequence, { history, open }: Utterance, signal: AbortSignal): Promise<Newest> {
    const { config, tokenizer, embeddings } = this.#parts;
    const turns = [];
    for (const turn of [...history, { ...open, audio: null }]) {
      turns.push({ speaker: turn.speaker, text: turn.text ?? "", frames: await this.#framesOf(turn) });
      signal.throwIfAborted();
    }
    const positions = promptOf(turns, tokenizer, config);
    const { width, positions: most } = config.backbone;
    if (positions.length > most) {
      throw new CheckpointError(
        `The conversation takes ${positions.length} of the model's ${most} positions: leave out its earliest turns.`,
      );
    }
    const rows = await embeddings.ofPositions(positions);
    let newest: Newest | null = null;
    for (let from = 0; from < rows.length; from += PREFILL * width) {
      newest = await readRows(sequence, rows.slice(from, from + PREFILL * width), config);
      signal.throwIfAborted();
    }
    return newest!;
  }

  async #framesOf({ audio }: SpokenTurn): Promise<Frame[] | null> {
    return audio === null ? null : await this.#parts.encoder.encode(audio);
  }

  /** Chooses a frame by the backbone's newest row. */
  async #frame(
    hidden: Float32Array,
    logits: Float32Array,
    settings: GenerationSettings,
    draws: Draws,
  ): Promise<Frame> {
    const { config, depth, embeddings } = this.#parts;
    const { width } = config.backbone;
    // The codes that the codec does not have are left out.
    const known = (all: Float32Array): Float32Array => all.subarray(0, config.codec.codes);
    const codes = [choose(known(logits), settings.first, draws)];
    const sequence = new Sequence(depth, config.depth);
    for (let head = 0; head + 1 < config.codebooks; head++) {
      const row = await embeddings.ofCode(head, codes[head]!);
      const rows = head === 0 ? Float32Array.from([...hidden, ...row]) : row;
      const given = await sequence.read(rows, width, { head: int64(BigInt64Array.of(BigInt(head)), []) });
      codes.push(choose(known(floatsOf(given, "logits")), settings.others, draws));
    }
    return codes;
  }
}

/** What the backbone gives for the newest row. */
interface Newest {
  /** [width], after the last norm. */
  readonly hidden: Float32Array;
  /** [codes], of the first codebook. */
  readonly logits: Float32Array;
}

async function readRows(sequence: Sequence, rows: Float32Array, { backbone }: CsmConfig): Promise<Newest> {
  const given = await sequence.read(rows, backbone.width);
  return { hidden: floatsOf(given, "hidden").slice(-backbone.width), logits: floatsOf(given, "logits") };
}

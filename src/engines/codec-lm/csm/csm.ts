import { join } from "node:path";
import type { GraphFile } from "../../../tensors/graph-file.ts";
import type { Weights } from "../../../tensors/weights-folder.ts";
import { readTokenizer, type Tokenizer } from "../../../tokens/tokenizer-file.ts";
import { backboneGraph } from "../backbone.ts";
import type { Architecture, Checkpoint, SpecialToken } from "../checkpoint.ts";
import { ClipCache } from "../clip-cache.ts";
import { type DepthDecoderSizes, depthDecoderGraph } from "../depth-decoder.ts";
import type { Fields } from "../fields.ts";
import type { Frame, FrameDecoder } from "../frame-decoder.ts";
import { type Built, type Loading, loadModel, type Prepared, type Speaker } from "../load-model.ts";
import { weightsFileIn } from "../manifest.ts";
import { type MimiEncoder, openMimiDecoder, openMimiEncoder } from "../mimi/mimi.ts";
import { NOTHING_ASKED, type SpokenTurn, type Utterance } from "../model.ts";
import { rngOf } from "../rng.ts";
import { type CsmConfig, csmConfig } from "./config.ts";
import { csmManifest, NAMES, quantisationOf } from "./manifest.ts";
import { Embeddings, type Position, soundPositions, textPositions } from "./prompt.ts";
import { csmSequenceState } from "./sequence-state.ts";
import { type GenerationSettings, settingsOf } from "./settings.ts";
import { soundsIn, turnsRead } from "./turns-read.ts";

/** CSM (Sesame): a backbone that chooses a frame's first code, and a depth decoder that chooses the others. */
export const csm: Architecture = {
  modelType: "csm",
  describe,
  checkGeneration: (generation) => void settingsOf(generation, NOTHING_ASKED),
};

async function describe(folder: string, fields: Fields): Promise<Checkpoint> {
  const config = csmConfig(fields);
  const { backbone, depth, codec, codebooks } = config;
  const file = await weightsFileIn(folder, config.weightsFile);
  const checkpoint: Checkpoint = {
    folder,
    facts: [
      "CSM",
      `backbone of ${backbone.layers} layers, ${backbone.width} wide; depth decoder of ${depth.layers}, ${depth.width} wide`,
      `${codebooks} codebooks of ${codec.codes} codes; at most ${backbone.positions} positions`,
    ],
    qwen3Tts: null,
    weights: [{ folder: "", file, manifest: csmManifest(config) }],
    quantisation: (precision) => quantisationOf(config, precision),
    readByRow: [NAMES.text, ...NAMES.audio],
    backbone,
    // A frame's codes, behind the state that they begin with.
    depthDecoder: { ...depth, positions: codebooks },
    positions: backbone.positions,
    specialTokens: specialTokensOf(fields),
    textTokens: config.textTokens,
    readTokenizer: () => readTokenizer(join(folder, "tokenizer.json")),
    open: (setup) => loadModel(checkpoint, setup, (loading) => build(config, loading)),
  };
  return checkpoint;
}

function specialTokensOf(config: Fields): SpecialToken[] {
  const named = [
    ["bos_token_id", "<|begin_of_text|>"],
    ["audio_token_id", "<|AUDIO|>"],
    ["audio_eos_token_id", "<|audio_eos|>"],
  ] as const;
  return named
    .filter(([field]) => config.has(field))
    .map(([field, token]) => ({ field, token, id: config.whole(field, undefined, 0) }));
}

async function build(
  config: CsmConfig,
  { opened, setup, positions, generation, tokenizer, weights: [weights], transformers }: Loading,
): Promise<Built<GenerationSettings>> {
  const { backbone, codec, codebooks, codes } = config;
  const embeddings = new Embeddings(weights!, config);
  const encoder = opened.keep(await openMimiEncoder(weights!, NAMES.codec, codec, codebooks, setup));
  const decoder = opened.keep(await openMimiDecoder(weights!, NAMES.codec, codec, setup));
  const sizes = { ...backbone, positions, codes };
  return {
    voices: { kind: "any", presets: [] },
    codes: codec.codes,
    decoder,
    embeddings,
    backbone: {
      graph: backboneGraph(transformers, NAMES.backbone, NAMES.head, sizes),
      sizes,
      name: "CSM's backbone",
    },
    depthDecoder: {
      graph: depthGraph(transformers, config),
      sizes: depthSizes(config),
      name: "CSM's depth decoder",
    },
    speaker: new CsmSpeaker({ config, positions, generation, tokenizer, embeddings, encoder, decoder }),
  };
}

export function depthGraph(weights: Weights, config: CsmConfig): GraphFile {
  const sizes = depthSizes(config);
  const { transformer, codes, codebooks } = sizes;
  const shape = [codebooks - 1, transformer.width, codes] as const;
  return depthDecoderGraph(weights, NAMES.depth, { stem: NAMES.projector }, sizes, (into, x, at) =>
    into.productWithPart(x, NAMES.depthHeads, shape, at),
  );
}

function depthSizes({ backbone, depth, codes, codebooks }: CsmConfig): DepthDecoderSizes {
  return { transformer: depth, rowWidth: backbone.width, codes, codebooks };
}

interface Parts {
  readonly config: CsmConfig;
  /** Of an utterance at most. */
  readonly positions: number;
  readonly generation: Fields;
  readonly tokenizer: Tokenizer;
  readonly embeddings: Embeddings;
  readonly encoder: MimiEncoder;
  readonly decoder: FrameDecoder;
}

class CsmSpeaker implements Speaker<GenerationSettings> {
  readonly #parts: Parts;
  readonly #clips = new ClipCache<readonly Frame[]>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  settingsOf(utterance: Utterance): GenerationSettings {
    return settingsOf(this.#parts.generation, utterance);
  }

  async prepare(utterance: Utterance, settings: GenerationSettings, signal: AbortSignal): Promise<Prepared> {
    const { config, positions, tokenizer, embeddings, decoder } = this.#parts;
    const { history, open: asked, mayForget = false } = utterance;
    const written = ({ speaker, text }: Pick<SpokenTurn, "speaker" | "text">): Position[] =>
      textPositions(speaker, text ?? "", tokenizer, config);
    const texts = history.map(written);
    const last = written(asked);
    const read = turnsRead({
      history,
      lengths: history.map((turn, at) => texts[at]!.length + soundsIn(turn)),
      speaker: asked.speaker,
      needed: last.length,
      wanted: settings.maxFrames,
      positions,
      mayForget,
    });
    const prompt: Position[] = [];
    for (const at of read) {
      const frames = await this.#framesOf(history[at]!);
      prompt.push(...texts[at]!, ...(frames === null ? [] : soundPositions(frames, config)));
      signal.throwIfAborted();
    }
    const rows = embeddings.ofPositions([...prompt, ...last]);
    const state = csmSequenceState(rows, settings, rngOf(utterance), decoder.begin(), config);
    return { state, read, heard: read.filter((at) => soundsIn(history[at]!) > 0) };
  }

  async #framesOf({ audio, codes, digest }: SpokenTurn): Promise<readonly Frame[] | null> {
    if (codes !== undefined) return codes;
    if (audio === null) return null;
    return await this.#clips.of([digest], () => this.#parts.encoder.encode(audio));
  }
}

import { join } from "node:path";
import { readTokenizer, type Tokenizer } from "../../../onnx/tokenizer.ts";
import type { Architecture, Checkpoint, SpecialToken } from "../checkpoint.ts";
import { EMPTY_UTTERANCE, type SpokenTurn } from "../codec-language-model.ts";
import type { Fields } from "../fields.ts";
import { type LoadContext, loadModel, type ModelParts } from "../load-model.ts";
import { findWeightsFile } from "../manifest.ts";
import type { CodeFrame, FrameDecoder } from "../mimi/frame-decoder.ts";
import { ClipCache, type MimiEncoder, openMimiDecoder, openMimiEncoder } from "../mimi/mimi.ts";
import type { BackboneParts } from "../networks/backbone.ts";
import type { DepthDecoderParts } from "../networks/depth-decoder.ts";
import { createRng } from "../sampler.ts";
import { CSM_NAMES, type CsmConfig, csmConfig, csmManifest, csmQuantisation } from "./config.ts";
import {
  audioPositionCount,
  audioPositions,
  CsmEmbeddings,
  type PromptPosition,
  selectTurns,
  textPositions,
} from "./prompt.ts";
import { type CsmSettings, csmSequenceState, csmSettings } from "./sampling.ts";

/** CSM (Sesame): a backbone chooses the first code of a frame, a depth decoder the others. */
export const csm: Architecture = {
  modelType: "csm",
  describe,
  checkGeneration: (generation) => void csmSettings(generation, EMPTY_UTTERANCE),
  readTokenizer: readCsmTokenizer,
};

export function csmBackbone({ backbone, codes }: CsmConfig): BackboneParts {
  const { backbone: stem, head } = CSM_NAMES;
  return { name: "CSM's backbone", stem, head, sizes: { ...backbone, codes } };
}

export function csmDepthDecoder({ backbone, depth, codes, codebooks }: CsmConfig): DepthDecoderParts {
  return {
    name: "CSM's depth decoder",
    stem: CSM_NAMES.depth,
    projection: { stem: CSM_NAMES.projector },
    sizes: { transformer: depth, rowWidth: backbone.width, codes, codebooks },
    writeHead: (into, x, at) =>
      into.productWithLayer(x, CSM_NAMES.depthHeads, [codebooks - 1, depth.width, codes], at),
  };
}

async function describe(folder: string, fields: Fields): Promise<Checkpoint> {
  const config = csmConfig(fields);
  const { backbone, depth, codec, codebooks } = config;
  const file = await findWeightsFile(folder, config.weightsFile);
  const checkpoint: Checkpoint = {
    folder,
    facts: [
      "CSM",
      `backbone of ${backbone.layers} layers, ${backbone.width} wide; depth decoder of ${depth.layers}, ${depth.width} wide`,
      `${codebooks} codebooks of ${codec.codes} codes; at most ${backbone.positions} positions`,
    ],
    qwen3Tts: null,
    weights: [{ folder: "", file, manifest: csmManifest(config) }],
    quantisation: (precision) => csmQuantisation(config, precision),
    embeddingTables: [CSM_NAMES.text, ...CSM_NAMES.audio],
    backbone,
    // One position for the backbone's state and one for each code of a frame but the last.
    depthDecoder: { ...depth, positions: codebooks },
    defaultPositions: backbone.positions,
    specialTokens: readSpecialTokens(fields),
    textTokens: config.textTokens,
    readTokenizer: () => readCsmTokenizer(folder),
    open: (setup) => loadModel(checkpoint, setup, (loading) => build(config, loading)),
  };
  return checkpoint;
}

function readCsmTokenizer(folder: string): Promise<Tokenizer> {
  return readTokenizer(join(folder, "tokenizer.json"));
}

function readSpecialTokens(config: Fields): SpecialToken[] {
  const named = [
    ["bos_token_id", "<|begin_of_text|>"],
    ["audio_token_id", "<|AUDIO|>"],
    ["audio_eos_token_id", "<|audio_eos|>"],
  ] as const;
  return named
    .filter(([field]) => config.has(field))
    .map(([field, token]) => ({ field, token, id: config.integer(field, undefined, 0) }));
}

async function build(config: CsmConfig, loading: LoadContext): Promise<ModelParts<CsmSettings>> {
  const { resources, setup } = loading;
  const { codec, codebooks } = config;
  const weights = loading.weights[0]!;
  const embeddings = new CsmEmbeddings(weights, config);
  const encoder = resources.track(await openMimiEncoder(weights, CSM_NAMES.codec, codec, codebooks, setup));
  const decoder = resources.track(await openMimiDecoder(weights, CSM_NAMES.codec, codec, setup));
  return {
    voices: { kind: "any", presets: [] },
    codes: codec.codes,
    ...{ decoder, embeddings, settingsOf: csmSettings },
    backbone: csmBackbone(config),
    depthDecoder: csmDepthDecoder(config),
    prepare: createPrepare({ config, loading, embeddings, encoder, decoder }),
  };
}

interface PrepareParts {
  readonly config: CsmConfig;
  readonly loading: Pick<LoadContext, "maxPositions" | "tokenizer">;
  readonly embeddings: CsmEmbeddings;
  readonly encoder: MimiEncoder;
  readonly decoder: FrameDecoder;
}

/** Returns a function that encodes the turns that fit, each with its text and audio. */
function createPrepare(parts: PrepareParts): ModelParts<CsmSettings>["prepare"] {
  const { config, embeddings, encoder, decoder } = parts;
  const { maxPositions, tokenizer } = parts.loading;
  const clips = new ClipCache<readonly CodeFrame[]>();
  const framesOf = async ({ audio, codes, digest }: SpokenTurn): Promise<readonly CodeFrame[] | null> => {
    if (codes !== undefined) return codes;
    return audio === null ? null : await clips.getOrCompute([digest], () => encoder.encode(audio));
  };
  const written = ({ speaker, text }: Pick<SpokenTurn, "speaker" | "text">): PromptPosition[] =>
    textPositions(speaker, text ?? "", tokenizer, config);

  return async (utterance, settings, signal) => {
    const { history, open: asked, mayDropTurns = false } = utterance;
    const texts = history.map(written);
    const last = written(asked);
    const read = selectTurns({
      history,
      lengths: history.map((turn, at) => texts[at]!.length + audioPositionCount(turn)),
      speaker: asked.speaker,
      needed: last.length,
      wanted: settings.maxFrames,
      positions: maxPositions,
      mayDropTurns,
    });
    const prompt: PromptPosition[] = [];
    for (const at of read) {
      const frames = await framesOf(history[at]!);
      prompt.push(...texts[at]!, ...(frames === null ? [] : audioPositions(frames, config)));
      signal.throwIfAborted();
    }
    const rows = embeddings.ofPositions([...prompt, ...last]);
    const state = csmSequenceState(rows, settings, createRng(utterance), decoder.begin(), config);
    return { state, readTurns: read, audioTurns: read.filter((at) => audioPositionCount(history[at]!) > 0) };
  };
}

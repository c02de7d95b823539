import { join } from "node:path";
import { readTokenizer, type Tokenizer } from "../../../onnx/tokenizer.ts";
import type { Architecture, Checkpoint, SpecialToken } from "../checkpoint.ts";
import { NOTHING_ASKED, type SpokenTurn } from "../codec-language-model.ts";
import type { Fields } from "../fields.ts";
import { type Built, type Loading, loadModel } from "../load-model.ts";
import { weightsFileIn } from "../manifest.ts";
import type { CodeFrame, FrameDecoder } from "../mimi/frame-decoder.ts";
import { ClipCache, type MimiEncoder, openMimiDecoder, openMimiEncoder } from "../mimi/mimi.ts";
import type { BackboneParts } from "../networks/backbone.ts";
import type { DepthDecoderParts } from "../networks/depth-decoder.ts";
import { rngOf } from "../sampler.ts";
import { type CsmConfig, csmConfig, csmManifest, NAMES, quantisationOf } from "./config.ts";
import { Embeddings, type Position, soundPositions, soundsIn, textPositions, turnsRead } from "./prompt.ts";
import { csmSequenceState, type GenerationSettings, settingsOf } from "./sampling.ts";

/** CSM (Sesame): a backbone that chooses a frame's first code, and a depth decoder that chooses the others. */
export const csm: Architecture = {
  modelType: "csm",
  describe,
  checkGeneration: (generation) => void settingsOf(generation, NOTHING_ASKED),
  readTokenizer: tokenizerIn,
};

export function csmBackbone({ backbone, codes }: CsmConfig): BackboneParts {
  const { backbone: stem, head } = NAMES;
  return { name: "CSM's backbone", stem, head, sizes: { ...backbone, codes } };
}

export function csmDepthDecoder({ backbone, depth, codes, codebooks }: CsmConfig): DepthDecoderParts {
  return {
    name: "CSM's depth decoder",
    stem: NAMES.depth,
    projection: { stem: NAMES.projector },
    sizes: { transformer: depth, rowWidth: backbone.width, codes, codebooks },
    writeHead: (into, x, at) =>
      into.productWithPart(x, NAMES.depthHeads, [codebooks - 1, depth.width, codes], at),
  };
}

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
    readTokenizer: () => tokenizerIn(folder),
    open: (setup) => loadModel(checkpoint, setup, (loading) => build(config, loading)),
  };
  return checkpoint;
}

function tokenizerIn(folder: string): Promise<Tokenizer> {
  return readTokenizer(join(folder, "tokenizer.json"));
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

async function build(config: CsmConfig, loading: Loading): Promise<Built<GenerationSettings>> {
  const { opened, setup } = loading;
  const { codec, codebooks } = config;
  const weights = loading.weights[0]!;
  const embeddings = new Embeddings(weights, config);
  const encoder = opened.keep(await openMimiEncoder(weights, NAMES.codec, codec, codebooks, setup));
  const decoder = opened.keep(await openMimiDecoder(weights, NAMES.codec, codec, setup));
  return {
    voices: { kind: "any", presets: [] },
    codes: codec.codes,
    ...{ decoder, embeddings, settingsOf },
    backbone: csmBackbone(config),
    depthDecoder: csmDepthDecoder(config),
    prepare: preparing({ config, loading, embeddings, encoder, decoder }),
  };
}

interface Parts {
  readonly config: CsmConfig;
  readonly loading: Pick<Loading, "positions" | "tokenizer">;
  readonly embeddings: Embeddings;
  readonly encoder: MimiEncoder;
  readonly decoder: FrameDecoder;
}

/** Gets utterances ready: of the conversation's turns those that there is room for, each with its words and its sound. */
function preparing(parts: Parts): Built<GenerationSettings>["prepare"] {
  const { config, embeddings, encoder, decoder } = parts;
  const { positions, tokenizer } = parts.loading;
  const clips = new ClipCache<readonly CodeFrame[]>();
  const framesOf = async ({ audio, codes, digest }: SpokenTurn): Promise<readonly CodeFrame[] | null> => {
    if (codes !== undefined) return codes;
    return audio === null ? null : await clips.of([digest], () => encoder.encode(audio));
  };
  const written = ({ speaker, text }: Pick<SpokenTurn, "speaker" | "text">): Position[] =>
    textPositions(speaker, text ?? "", tokenizer, config);

  return async (utterance, settings, signal) => {
    const { history, open: asked, mayForget = false } = utterance;
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
      const frames = await framesOf(history[at]!);
      prompt.push(...texts[at]!, ...(frames === null ? [] : soundPositions(frames, config)));
      signal.throwIfAborted();
    }
    const rows = embeddings.ofPositions([...prompt, ...last]);
    const state = csmSequenceState(rows, settings, rngOf(utterance), decoder.begin(), config);
    return { state, read, heard: read.filter((at) => soundsIn(history[at]!) > 0) };
  };
}

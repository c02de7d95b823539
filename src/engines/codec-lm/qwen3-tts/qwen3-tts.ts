import { join } from "node:path";
import { readVocabularyFiles } from "../../../onnx/tokenizer.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import type { Architecture, Checkpoint } from "../checkpoint.ts";
import { EMPTY_UTTERANCE } from "../codec-language-model.ts";
import { CheckpointError, type Fields } from "../fields.ts";
import { type LoadContext, loadModel, type ModelParts } from "../load-model.ts";
import { type CheckpointWeights, findWeightsFile, type Manifest } from "../manifest.ts";
import { openMimiEncoder } from "../mimi/mimi.ts";
import type { BackboneParts } from "../networks/backbone.ts";
import type { DepthDecoderParts } from "../networks/depth-decoder.ts";
import { createRng } from "../sampler.ts";
import { openCodecDecoder } from "./codec-decoder.ts";
import { CODEC_FOLDER, type Qwen3TtsConfig, qwen3TtsConfig } from "./config.ts";
import {
  codecManifest,
  ENCODER_PREFIX,
  hasProjection,
  QWEN3_NAMES,
  qwen3TtsManifest,
  qwen3TtsQuantisation,
} from "./manifest.ts";
import { buildPrompt, Qwen3Embeddings, type Qwen3Script, textProjectionGraph } from "./prompt.ts";
import {
  type Qwen3TtsSettings,
  qwen3TtsSequenceState,
  qwen3TtsSettings,
  type TalkerInput,
} from "./sampling.ts";
import { openSpeakerEncoder } from "./speaker-encoder.ts";
import { presetScript, VoiceFollower } from "./voice.ts";

/** Qwen3-TTS, 12 Hz (Alibaba): a talker chooses the first code of a frame, a code predictor the others. */
export const qwen3Tts: Architecture = {
  modelType: "qwen3_tts",
  describe,
  checkGeneration: (generation) => void qwen3TtsSettings(generation, EMPTY_UTTERANCE),
  readTokenizer: readVocabularyFiles,
};

/** Enough for a clip and some minutes; the talker has 32,768. */
const DEFAULT_POSITIONS = 1_024;

export function talkerParts({ talker, rows }: Qwen3TtsConfig): BackboneParts {
  const { talker: stem, head } = QWEN3_NAMES;
  return { name: "The talker", stem, head, sizes: { ...talker, codes: rows } };
}

export function codePredictorParts(config: Qwen3TtsConfig): DepthDecoderParts {
  const { talker, predictor, codes, codebooks } = config;
  return {
    name: "The code predictor",
    stem: QWEN3_NAMES.predictor,
    projection: hasProjection(config) ? { stem: QWEN3_NAMES.projection, hasBias: true } : null,
    sizes: { transformer: predictor, rowWidth: talker.width, codes, codebooks },
    writeHead: (into, x, at) => into.linear(x, QWEN3_NAMES.predictorHead(at), predictor.width, codes),
  };
}

async function describe(folder: string, fields: Fields): Promise<Checkpoint> {
  const config = await qwen3TtsConfig(folder, fields);
  const { ids, talker, predictor, codebooks } = config;
  const part = async (inner: string, manifest: Manifest): Promise<CheckpointWeights> => {
    const file = await findWeightsFile(join(folder, inner), "model.safetensors");
    return { folder: inner, file, manifest };
  };
  const checkpoint: Checkpoint = {
    folder,
    facts: describeConfig(config),
    qwen3Tts: config,
    weights: [
      await part("", qwen3TtsManifest(config)),
      await part(CODEC_FOLDER, codecManifest(config.codec)),
    ],
    quantisation: (precision) => qwen3TtsQuantisation(config, precision),
    embeddingTables: [
      QWEN3_NAMES.text,
      QWEN3_NAMES.codec,
      ...Array.from({ length: codebooks - 1 }, (_, at) => QWEN3_NAMES.predictorCodec(at)),
    ],
    backbone: talker,
    depthDecoder: predictor,
    defaultPositions: Math.min(DEFAULT_POSITIONS, talker.positions),
    specialTokens: [
      { field: "im_start_token_id", token: "<|im_start|>", id: ids.imStart },
      { field: "im_end_token_id", token: "<|im_end|>", id: ids.imEnd },
      { field: "tts_pad_token_id", token: "<tts_pad>", id: ids.textPad },
      { field: "tts_bos_token_id", token: "<tts_text_bos>", id: ids.textBegin },
      { field: "tts_eos_token_id", token: "<tts_text_eod>", id: ids.textEnd },
    ],
    textTokens: config.textTokens,
    readTokenizer: () => readVocabularyFiles(folder),
    open: (setup) => loadModel(checkpoint, setup, (loading) => build(config, loading)),
  };
  return checkpoint;
}

function describeConfig({
  kind,
  size,
  talker,
  predictor,
  codebooks,
  codes,
  ...config
}: Qwen3TtsConfig): string[] {
  const named = (what: string, names: ReadonlyMap<string, number>): string[] =>
    names.size === 0 ? [] : [`${what}: ${[...names.keys()].join(", ")}`];
  return [
    `Qwen3-TTS, 12 Hz, ${kind} (${size})`,
    `talker of ${talker.layers} layers, ${talker.width} wide; code predictor of ${predictor.layers}, ${predictor.width} wide`,
    `${codebooks} codebooks of ${codes} codes; at most ${talker.positions} positions`,
    ...named("languages", config.languages),
    ...named("speakers", config.speakers),
  ];
}

async function build(config: Qwen3TtsConfig, loading: LoadContext): Promise<ModelParts<Qwen3TtsSettings>> {
  const { resources, setup, maxPositions } = loading;
  const [weights, codecWeights] = loading.weights as readonly [Weights, Weights];
  const { kind, codec, speakerEncoder, codes, codebooks, speakers } = config;
  const text = await resources.unquantisedSession(
    textProjectionGraph(weights, config),
    weights,
    "The talker's text projection",
  );
  const embeddings = new Qwen3Embeddings(weights, text, config);
  const decoder = resources.track(await openCodecDecoder(codecWeights, codec.decoder, setup));
  const follower =
    speakerEncoder === null
      ? null
      : new VoiceFollower(
          resources.track(await openSpeakerEncoder(weights, speakerEncoder, setup)),
          resources.track(
            await openMimiEncoder(codecWeights, ENCODER_PREFIX, codec.encoder, codebooks, setup),
          ),
          maxPositions,
        );
  return {
    voices: { kind: kind === "base" ? "clips" : "presets", presets: [...speakers.keys()] },
    ...{ codes, decoder, embeddings, settingsOf: qwen3TtsSettings },
    backbone: talkerParts(config),
    depthDecoder: codePredictorParts(config),
    async prepare(utterance, settings, signal) {
      const { script, voice, turns } =
        follower === null
          ? presetScript(config, utterance, settings)
          : await follower.scriptFor(utterance, settings);
      signal.throwIfAborted();
      const read = await encodeText(script, voice, embeddings, config, loading);
      const sound = decoder.begin();
      await sound.prime(script.reference?.frames ?? []);
      signal.throwIfAborted();
      const state = qwen3TtsSequenceState(read, settings, createRng(utterance), sound, config);
      return { state, readTurns: turns, audioTurns: turns };
    },
  };
}

/** @throws OptionError or CheckpointError as `buildPrompt` does, and if the prompt is too long */
async function encodeText(
  script: Qwen3Script,
  voice: Float32Array | null,
  embeddings: Qwen3Embeddings,
  config: Qwen3TtsConfig,
  { tokenizer, maxPositions }: LoadContext,
): Promise<TalkerInput> {
  const { rows, trailing } = buildPrompt(script, tokenizer, config);
  if (rows.length > maxPositions) {
    throw new CheckpointError(
      `The text takes ${rows.length} of the model's ${maxPositions} positions: make it shorter.`,
    );
  }
  return {
    prompt: await embeddings.ofRows(rows, voice),
    textRows: await embeddings.ofText([...trailing, config.ids.textPad]),
  };
}

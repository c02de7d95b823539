import { join } from "node:path";
import { readVocabularyFiles } from "../../../onnx/tokenizer.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import type { Architecture, Checkpoint } from "../checkpoint.ts";
import { NOTHING_ASKED } from "../codec-language-model.ts";
import { CheckpointError, type Fields } from "../fields.ts";
import { type Built, type Loading, loadModel } from "../load-model.ts";
import { type Manifest, type WeightsPart, weightsFileIn } from "../manifest.ts";
import { openMimiEncoder } from "../mimi/mimi.ts";
import type { BackboneParts } from "../networks/backbone.ts";
import type { DepthDecoderParts } from "../networks/depth-decoder.ts";
import { rngOf } from "../sampler.ts";
import { openCodecDecoder } from "./codec-decoder.ts";
import { CODEC_FOLDER, type Qwen3TtsConfig, qwen3TtsConfig } from "./config.ts";
import { codecManifest, ENCODER, isProjected, NAMES, quantisationOf, qwen3TtsManifest } from "./manifest.ts";
import { Embeddings, promptOf, type Script, textGraph } from "./prompt.ts";
import { type GenerationSettings, qwen3TtsSequenceState, type ReadText, settingsOf } from "./sampling.ts";
import { openSpeakerEncoder } from "./speaker-encoder.ts";
import { inPreset, VoiceFollower } from "./voice.ts";

/** Qwen3-TTS, 12 Hz (Alibaba): a talker that chooses a frame's first code, and a code predictor for the others. */
export const qwen3Tts: Architecture = {
  modelType: "qwen3_tts",
  describe,
  checkGeneration: (generation) => void settingsOf(generation, NOTHING_ASKED),
  readTokenizer: readVocabularyFiles,
};

/** A clip and some minutes: the talker itself has 32,768. */
const POSITIONS = 1_024;

export function talkerOf({ talker, rows }: Qwen3TtsConfig): BackboneParts {
  const { talker: stem, head } = NAMES;
  return { name: "The talker", stem, head, sizes: { ...talker, codes: rows } };
}

export function codePredictorOf(config: Qwen3TtsConfig): DepthDecoderParts {
  const { talker, predictor, codes, codebooks } = config;
  return {
    name: "The code predictor",
    stem: NAMES.predictor,
    projection: isProjected(config) ? { stem: NAMES.projection, hasBias: true } : null,
    sizes: { transformer: predictor, rowWidth: talker.width, codes, codebooks },
    writeHead: (into, x, at) => into.linear(x, NAMES.predictorHead(at), predictor.width, codes),
  };
}

async function describe(folder: string, fields: Fields): Promise<Checkpoint> {
  const config = await qwen3TtsConfig(folder, fields);
  const { ids, talker, predictor, codebooks } = config;
  const part = async (inner: string, manifest: Manifest): Promise<WeightsPart> => {
    const file = await weightsFileIn(join(folder, inner), "model.safetensors");
    return { folder: inner, file, manifest };
  };
  const checkpoint: Checkpoint = {
    folder,
    facts: factsOf(config),
    qwen3Tts: config,
    weights: [
      await part("", qwen3TtsManifest(config)),
      await part(CODEC_FOLDER, codecManifest(config.codec)),
    ],
    quantisation: (precision) => quantisationOf(config, precision),
    readByRow: [
      NAMES.text,
      NAMES.codec,
      ...Array.from({ length: codebooks - 1 }, (_, at) => NAMES.predictorCodec(at)),
    ],
    backbone: talker,
    depthDecoder: predictor,
    positions: Math.min(POSITIONS, talker.positions),
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

function factsOf({ kind, size, talker, predictor, codebooks, codes, ...config }: Qwen3TtsConfig): string[] {
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

async function build(config: Qwen3TtsConfig, loading: Loading): Promise<Built<GenerationSettings>> {
  const { opened, setup, positions } = loading;
  const [weights, codecWeights] = loading.weights as readonly [Weights, Weights];
  const { kind, codec, speakerEncoder, codes, codebooks, speakers } = config;
  const text = await opened.plainSession(textGraph(weights, config), weights, "The talker's text projection");
  const embeddings = new Embeddings(weights, text, config);
  const decoder = opened.keep(await openCodecDecoder(codecWeights, codec.decoder, setup));
  const follower =
    speakerEncoder === null
      ? null
      : new VoiceFollower(
          opened.keep(await openSpeakerEncoder(weights, speakerEncoder, setup)),
          opened.keep(await openMimiEncoder(codecWeights, ENCODER, codec.encoder, codebooks, setup)),
          positions,
        );
  return {
    voices: { kind: kind === "base" ? "clips" : "presets", presets: [...speakers.keys()] },
    ...{ codes, decoder, embeddings, settingsOf },
    backbone: talkerOf(config),
    depthDecoder: codePredictorOf(config),
    async prepare(utterance, settings, signal) {
      const { script, voice, turns } =
        follower === null
          ? inPreset(config, utterance, settings)
          : await follower.follow(utterance, settings);
      signal.throwIfAborted();
      const read = await readText(script, voice, embeddings, config, loading);
      const sound = decoder.begin();
      await sound.prime(script.reference?.frames ?? []);
      signal.throwIfAborted();
      const state = qwen3TtsSequenceState(read, settings, rngOf(utterance), sound, config);
      return { state, read: turns, heard: turns };
    },
  };
}

/** @throws OptionError or CheckpointError as `promptOf` does, and when the prompt has no room */
async function readText(
  script: Script,
  voice: Float32Array | null,
  embeddings: Embeddings,
  config: Qwen3TtsConfig,
  { tokenizer, positions }: Loading,
): Promise<ReadText> {
  const { rows, trailing } = promptOf(script, tokenizer, config);
  if (rows.length > positions) {
    throw new CheckpointError(
      `The text takes ${rows.length} of the model's ${positions} positions: make it shorter.`,
    );
  }
  return {
    prompt: await embeddings.ofRows(rows, voice),
    beside: await embeddings.ofText([...trailing, config.ids.textPad]),
  };
}

import { join } from "node:path";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import type { GraphFile } from "../../../tensors/graph-file.ts";
import type { Weights } from "../../../tensors/weights-folder.ts";
import type { Tokenizer } from "../../../tokens/tokenizer-file.ts";
import { readVocabularyFiles } from "../../../tokens/vocabulary-files.ts";
import { backboneGraph } from "../backbone.ts";
import type { Architecture, Checkpoint } from "../checkpoint.ts";
import { ClipCache } from "../clip-cache.ts";
import { type DepthDecoderSizes, depthDecoderGraph } from "../depth-decoder.ts";
import { CheckpointError, type Fields, OptionError } from "../fields.ts";
import type { Frame, FrameDecoder } from "../frame-decoder.ts";
import { type Built, type Loading, loadModel, type Prepared, type Speaker } from "../load-model.ts";
import { type Manifest, type WeightsPart, weightsFileIn } from "../manifest.ts";
import { type MimiEncoder, openMimiEncoder } from "../mimi/mimi.ts";
import { NOTHING_ASKED, type Utterance } from "../model.ts";
import { rngOf } from "../rng.ts";
import { openCodecDecoder } from "./codec/codec.ts";
import { codecManifest, ENCODER } from "./codec/manifest.ts";
import { CODEC_FOLDER, type Qwen3TtsConfig, qwen3TtsConfig } from "./config.ts";
import { Embeddings, textGraph } from "./embeddings.ts";
import { isProjected, NAMES, quantisationOf, qwen3TtsManifest } from "./manifest.ts";
import { ownReference } from "./own-turns.ts";
import { promptOf, type Script } from "./prompt.ts";
import { qwen3TtsSequenceState, type ReadText } from "./sequence-state.ts";
import { type GenerationSettings, settingsOf } from "./settings.ts";
import { MIN_SAMPLES, openSpeakerEncoder, type SpeakerEncoder } from "./speaker/speaker-encoder.ts";

/** Qwen3-TTS, 12 Hz (Alibaba): a talker that chooses a frame's first code, and a code predictor for the others. */
export const qwen3Tts: Architecture = {
  modelType: "qwen3_tts",
  describe,
  checkGeneration: (generation) => void settingsOf(generation, NOTHING_ASKED),
};

/** A clip and some minutes: the talker itself has 32,768. */
const POSITIONS = 1_024;

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
  const { opened, setup, positions, generation, tokenizer, transformers } = loading;
  const [weights, codecWeights] = loading.weights as readonly [Weights, Weights];
  const { kind, codec, speakerEncoder, talker, rows, codes, codebooks, speakers } = config;
  const text = await opened.plainSession(textGraph(weights, config), weights, "The talker's text projection");
  const embeddings = new Embeddings(weights, text, config);
  const decoder = opened.keep(await openCodecDecoder(codecWeights, codec.decoder, setup));
  const listener =
    speakerEncoder === null
      ? null
      : {
          voice: opened.keep(await openSpeakerEncoder(weights, speakerEncoder, setup)),
          codes: opened.keep(await openMimiEncoder(codecWeights, ENCODER, codec.encoder, codebooks, setup)),
        };
  const sizes = { ...talker, positions, codes: rows };
  return {
    voices: { kind: kind === "base" ? "clips" : "presets", presets: [...speakers.keys()] },
    codes,
    decoder,
    embeddings,
    backbone: {
      graph: backboneGraph(transformers, NAMES.talker, NAMES.head, sizes),
      sizes,
      name: "The talker",
    },
    depthDecoder: {
      graph: predictorGraph(transformers, config),
      sizes: predictorSizes(config),
      name: "The code predictor",
    },
    speaker: new Qwen3TtsSpeaker({
      ...{ config, positions, generation, tokenizer, embeddings, decoder, listener },
    }),
  };
}

export function predictorGraph(weights: Weights, config: Qwen3TtsConfig): GraphFile {
  const sizes = predictorSizes(config);
  const { transformer, codes } = sizes;
  const projection = isProjected(config) ? { stem: NAMES.projection, hasBias: true } : null;
  return depthDecoderGraph(weights, NAMES.predictor, projection, sizes, (into, x, at) =>
    into.linear(x, NAMES.predictorHead(at), transformer.width, codes),
  );
}

function predictorSizes({ talker, predictor, codes, codebooks }: Qwen3TtsConfig): DepthDecoderSizes {
  return { transformer: predictor, rowWidth: talker.width, codes, codebooks };
}

interface Parts {
  readonly config: Qwen3TtsConfig;
  /** Of an utterance at most. */
  readonly positions: number;
  readonly generation: Fields;
  readonly tokenizer: Tokenizer;
  readonly embeddings: Embeddings;
  readonly decoder: FrameDecoder;
  /** Of a base model, which follows a voice that it hears. */
  readonly listener: { readonly voice: SpeakerEncoder; readonly codes: MimiEncoder } | null;
}

/** What is to be spoken in which voice. */
interface Spoken {
  readonly script: Script;
  /** What the speaker encoder made; `null`: the voice is a preset, or none. */
  readonly voice: Float32Array | null;
  readonly turns: readonly number[];
}

class Qwen3TtsSpeaker implements Speaker<GenerationSettings> {
  readonly #parts: Parts;
  readonly #voices = new ClipCache<Float32Array>();
  readonly #clips = new ClipCache<readonly Frame[]>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  settingsOf(utterance: Utterance): GenerationSettings {
    return settingsOf(this.#parts.generation, utterance);
  }

  async prepare(utterance: Utterance, settings: GenerationSettings, signal: AbortSignal): Promise<Prepared> {
    const { config, decoder } = this.#parts;
    const { script, voice, turns } = await this.#spokenOf(utterance, settings);
    signal.throwIfAborted();
    const text = await this.#textOf(script, voice);
    const sound = decoder.begin();
    await sound.prime(script.reference?.frames ?? []);
    signal.throwIfAborted();
    const state = qwen3TtsSequenceState(text, settings, rngOf(utterance), sound, config);
    return { state, read: turns, heard: turns };
  }

  /** The voice is that of a preset, or that of the open speaker's earlier turns. */
  async #spokenOf(utterance: Utterance, settings: GenerationSettings): Promise<Spoken> {
    const { listener } = this.#parts;
    return listener === null
      ? this.#presetOf(utterance, settings)
      : await this.#followed(utterance, settings);
  }

  #presetOf({ open: asked }: Utterance, settings: GenerationSettings): Spoken {
    const { config } = this.#parts;
    if (settings.isVoiceOnly) throw new OptionError("x_vector_only_mode is for base checkpoints alone.");
    const isPreset = config.speakers.has(asked.speaker.toLowerCase());
    const preset = settings.speaker ?? (isPreset ? asked.speaker : "");
    // The small one was not taught instructions; the reference leaves them out too.
    const isDeaf = config.kind === "custom_voice" && config.size === "0b6";
    const script: Script = {
      text: asked.text,
      language: settings.language,
      speaker: preset === "" ? null : { preset },
      instruction: isDeaf ? null : settings.instruction,
      reference: null,
      isTextFirst: settings.isTextFirst ?? true,
    };
    return { script, voice: null, turns: [] };
  }

  async #followed(utterance: Utterance, settings: GenerationSettings): Promise<Spoken> {
    const { voice, codes } = this.#parts.listener!;
    if (settings.instruction !== null || (settings.speaker ?? "") !== "") {
      throw new OptionError(
        "A base checkpoint takes neither speaker nor instruct: it follows earlier turns.",
      );
    }
    const { open: asked } = utterance;
    const own = ownReference(utterance, settings.isVoiceOnly);
    if (own === null || own.audio.length < MIN_SAMPLES) {
      throw new CheckpointError(
        `A base checkpoint follows a voice: give speaker ${JSON.stringify(asked.speaker)} an earlier turn with audio, of a few seconds.`,
      );
    }
    const { audio, digests, text, turns } = own;
    // It is not listened to in vain, which would take a while.
    if (text !== null && audio.length > this.#parts.positions * FRAME_SAMPLES) {
      throw new CheckpointError(
        `The clip of speaker ${JSON.stringify(asked.speaker)} is ${seconds(audio.length)} s long; the model has room for ${seconds(this.#parts.positions * FRAME_SAMPLES)}: send some seconds of it.`,
      );
    }
    const vector = await this.#voices.of(digests, () => voice.embed(audio));
    const frames = text === null ? null : await this.#clips.of(digests, () => codes.encode(audio));
    const script: Script = {
      text: asked.text,
      language: settings.language,
      speaker: "voice",
      instruction: null,
      reference: frames === null ? null : { text: text!, frames },
      isTextFirst: settings.isTextFirst ?? false,
    };
    return { script, voice: vector, turns };
  }

  async #textOf(script: Script, voice: Float32Array | null): Promise<ReadText> {
    const { config, tokenizer, embeddings, positions } = this.#parts;
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
}

const seconds = (samples: number): string => (samples / SAMPLE_RATE_HZ).toFixed(0);

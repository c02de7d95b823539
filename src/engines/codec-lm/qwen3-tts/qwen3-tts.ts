import { join } from "node:path";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import type { Tokenizer } from "../../../tokens/tokenizer-file.ts";
import { readVocabularyFiles } from "../../../tokens/vocabulary-files.ts";
import type { Architecture } from "../architecture.ts";
import { backboneGraph } from "../backbone.ts";
import { ClipCache } from "../clip-cache.ts";
import { CheckpointError, type Fields, OptionError, readFields } from "../fields.ts";
import type { FrameBatch } from "../frame-batch.ts";
import type { Frame } from "../frame-decoder.ts";
import { type MimiEncoder, openMimiEncoder } from "../mimi/mimi.ts";
import {
  type CodecLanguageModel,
  type Ending,
  type Findings,
  NOTHING_ASKED,
  type Setup,
  type SpokenFrame,
  type Utterance,
  type Voices,
} from "../model.ts";
import { openBatch } from "../open-batch.ts";
import { lookOver, noting, Opened, weightsFileIn } from "../opened.ts";
import { rngOf } from "../rng.ts";
import { spokenFrames } from "../spoken-frames.ts";
import { type CodecDecoder, openCodecDecoder } from "./codec/codec.ts";
import { codecManifest, ENCODER } from "./codec/manifest.ts";
import { CODEC_FOLDER, type Qwen3TtsConfig, readConfig } from "./config.ts";
import { Embeddings } from "./embeddings.ts";
import { predictorGraph, textGraph } from "./graphs.ts";
import { NAMES, quantisationOf, qwen3TtsManifest } from "./manifest.ts";
import { ownReference } from "./own-turns.ts";
import { qwen3TtsParts } from "./parts.ts";
import { promptOf, type Script } from "./prompt.ts";
import { Qwen3TtsSequenceState, type ReadText } from "./sequence-state.ts";
import { type GenerationSettings, settingsOf } from "./settings.ts";
import { MIN_SAMPLES, openSpeakerEncoder, type SpeakerEncoder } from "./speaker/speaker-encoder.ts";

/** Qwen3-TTS, 12 Hz (Alibaba): a talker that chooses a frame's first code, and a code predictor for the others. */
export const qwen3Tts: Architecture = { modelType: "qwen3_tts", parts: qwen3TtsParts, check, open };

const GENERATION = "generation_config.json";
const WEIGHTS = "model.safetensors";

async function check(folder: string): Promise<Findings> {
  const facts: string[] = [];
  const problems: string[] = [];
  await noting(problems, async () => {
    const config = await readConfig(folder);
    facts.push(...factsOf(config));
    await noting(problems, async () => {
      const file = await weightsFileIn(folder, WEIGHTS);
      facts.push(`${await lookOver(problems, folder, file, qwen3TtsManifest(config))} tensors`);
    });
    await noting(problems, async () => {
      const inner = join(folder, CODEC_FOLDER);
      const file = await weightsFileIn(inner, WEIGHTS);
      facts.push(`${await lookOver(problems, inner, file, codecManifest(config.codec))} of the codec`);
    });
    await noting(problems, () => readTokenizer(folder, config));
  });
  await noting(problems, async () => settingsOf(await readFields(folder, GENERATION), NOTHING_ASKED));
  return { facts, problems };
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

/** Reads the tokenizer. @throws TokenizerError; CheckpointError when its tokens are not those of the configuration */
async function readTokenizer(folder: string, { ids }: Qwen3TtsConfig): Promise<Tokenizer> {
  const tokenizer = await readVocabularyFiles(folder);
  for (const [token, id] of [
    ["<|im_start|>", ids.imStart],
    ["<|im_end|>", ids.imEnd],
  ] as const) {
    const found = tokenizer.idOf(token);
    if (found !== id) {
      throw new CheckpointError(
        `config.json: ${token} is ${id}; in tokenizer_config.json it is ${found ?? "missing"}.`,
      );
    }
  }
  return tokenizer;
}

async function open(folder: string, setup: Setup): Promise<CodecLanguageModel> {
  const { threads, guard } = setup;
  const config = await readConfig(folder);
  const positions = Math.min(setup.positions ?? config.talker.positions, config.talker.positions);
  const generation = await readFields(folder, GENERATION);
  const tokenizer = await readTokenizer(folder, config);
  const opened = new Opened(setup);
  try {
    const file = await weightsFileIn(folder, WEIGHTS);
    const weights = await opened.weights(folder, file, qwen3TtsManifest(config));
    const inner = join(folder, CODEC_FOLDER);
    const innerFile = await weightsFileIn(inner, WEIGHTS);
    const codecWeights = await opened.weights(inner, innerFile, codecManifest(config.codec));
    const stacks = await opened.inPrecision(weights, (precision) => quantisationOf(config, precision));
    const { codec, speakerEncoder, talker, predictor, rows, codes, codebooks } = config;
    const text = await opened.plainSession(
      textGraph(weights, config),
      weights,
      "The talker's text projection",
    );
    const embeddings = new Embeddings(weights, text, config);
    const decoder = opened.keep(await openCodecDecoder(codecWeights, codec.decoder, threads, guard));
    const listener =
      speakerEncoder === null
        ? null
        : {
            voice: opened.keep(await openSpeakerEncoder(weights, speakerEncoder, threads, guard)),
            codes: opened.keep(
              await openMimiEncoder(codecWeights, ENCODER, codec.encoder, codebooks, threads, guard),
            ),
          };
    const sizes = { ...talker, positions, codes: rows };
    const batch = await openBatch(opened, setup, {
      weights: stacks,
      positions,
      codes,
      decoder,
      embeddings,
      backbone: {
        graph: backboneGraph(stacks, NAMES.talker, NAMES.head, sizes),
        sizes,
        name: "The talker",
      },
      depthDecoder: {
        graph: predictorGraph(stacks, config),
        sizes: { transformer: predictor, rowWidth: talker.width, codes, codebooks },
        name: "The code predictor",
      },
    });
    const close = () => opened.close();
    return new Qwen3Tts({
      config,
      positions,
      generation,
      tokenizer,
      embeddings,
      decoder,
      listener,
      batch,
      close,
    });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Parts {
  readonly config: Qwen3TtsConfig;
  readonly generation: Fields;
  readonly tokenizer: Tokenizer;
  readonly embeddings: Embeddings;
  readonly decoder: CodecDecoder;
  /** Of a base model, which follows a voice that it hears. */
  readonly listener: { readonly voice: SpeakerEncoder; readonly codes: MimiEncoder } | null;
  readonly batch: FrameBatch;
  /** Of an utterance at most. */
  readonly positions: number;
  readonly close: () => Promise<void>;
}

/** What is to be spoken in which voice. */
interface Spoken {
  readonly script: Script;
  /** What the speaker encoder made; `null`: the voice is a preset, or none. */
  readonly voice: Float32Array | null;
  readonly turns: readonly number[];
}

class Qwen3Tts implements CodecLanguageModel {
  readonly voices: Voices;
  readonly #parts: Parts;
  readonly #voices = new ClipCache<Float32Array>();
  readonly #clips = new ClipCache<readonly Frame[]>();

  constructor(parts: Parts) {
    const { kind, speakers } = parts.config;
    this.voices = { kind: kind === "base" ? "clips" : "presets", presets: [...speakers.keys()] };
    this.#parts = parts;
  }

  async *speak(utterance: Utterance, signal: AbortSignal): AsyncGenerator<SpokenFrame, Ending, void> {
    const { config, generation, decoder, batch } = this.#parts;
    const settings = settingsOf(generation, utterance);
    batch.refuseUnlessFast();
    const { script, voice, turns } = await this.#spokenOf(utterance, settings);
    signal.throwIfAborted();
    const text = await this.#textOf(script, voice);
    const sound = decoder.begin();
    await sound.prime(script.reference?.frames ?? []);
    signal.throwIfAborted();
    const state = new Qwen3TtsSequenceState(text, settings, rngOf(utterance), sound, config);
    const stop = yield* spokenFrames(batch, state, signal);
    return { stop, read: turns, heard: turns };
  }

  close(): Promise<void> {
    return this.#parts.close();
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

import { join } from "node:path";
import type { Session } from "../../../tensors/session.ts";
import { floatsOf, int64 } from "../../../tensors/tensor.ts";
import type { Tokenizer } from "../../../tokens/tokenizer-file.ts";
import { readVocabularyFiles } from "../../../tokens/vocabulary-files.ts";
import { choose } from "../choosing.ts";
import { type Draws, givenDraws, seededDraws } from "../draws.ts";
import { CheckpointError, type Fields, OptionError, readFields } from "../fields.ts";
import { type Frame, type MimiEncoder, openMimiEncoder } from "../mimi/mimi.ts";
import type {
  Architecture,
  CodecLanguageModel,
  Ending,
  Findings,
  Setup,
  SpokenFrame,
  Stop,
  Utterance,
  Voices,
} from "../model.ts";
import { lookOver, noting, Opened, weightsFileIn } from "../opened.ts";
import { Sequence } from "../sequence.ts";
import { type CodecDecoder, openCodecDecoder } from "./codec/codec.ts";
import { codecManifest, ENCODER } from "./codec/manifest.ts";
import { CODEC_FOLDER, type Qwen3TtsConfig, readConfig } from "./config.ts";
import { addTo, Embeddings } from "./embeddings.ts";
import { firstCodeLogits } from "./first-code.ts";
import { predictorGraph, talkerGraph, textGraph } from "./graphs.ts";
import { quantisationOf, qwen3TtsManifest } from "./manifest.ts";
import { ownReference } from "./own-turns.ts";
import { type Prompt, promptOf, type Script } from "./prompt.ts";
import { type GenerationSettings, settingsOf } from "./settings.ts";
import { openSpeakerEncoder, SHORTEST, type SpeakerEncoder } from "./speaker/speaker-encoder.ts";

/** Qwen3-TTS, 12 Hz (Alibaba): a talker that chooses a frame's first code, and a code predictor for the others. */
export const qwen3Tts: Architecture = { modelType: "qwen3_tts", check, open };

const GENERATION = "generation_config.json";
const WEIGHTS = "model.safetensors";

/** Positions of the prompt that are read at a time: what attention needs in memory grows with them. */
const PREFILL = 256;

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

const NOTHING_ASKED: Utterance = {
  history: [],
  open: { speaker: "0", text: "" },
  wishes: {},
  options: new Map(),
  uniforms: null,
  seed: 0n,
};

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
  const { threads } = setup;
  const config = await readConfig(folder);
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
    const text = await opened.session(textGraph(weights, config), weights, "The talker's text projection");
    const { codec, speakerEncoder } = config;
    return new Qwen3Tts({
      config,
      generation,
      tokenizer,
      embeddings: new Embeddings(weights, text, config),
      talker: await opened.session(talkerGraph(stacks, config), stacks, "The talker"),
      predictor: await opened.session(predictorGraph(stacks, config), stacks, "The code predictor"),
      decoder: opened.keep(await openCodecDecoder(codecWeights, codec.decoder, threads)),
      listener:
        speakerEncoder === null
          ? null
          : {
              voice: opened.keep(await openSpeakerEncoder(weights, speakerEncoder, threads)),
              codes: opened.keep(
                await openMimiEncoder(codecWeights, ENCODER, codec.encoder, codec.codebooks, threads),
              ),
            },
      close: () => opened.close(),
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
  readonly talker: Session;
  readonly predictor: Session;
  readonly decoder: CodecDecoder;
  /** Of a base model, which follows a voice that it hears. */
  readonly listener: { readonly voice: SpeakerEncoder; readonly codes: MimiEncoder } | null;
  readonly close: () => Promise<void>;
}

class Qwen3Tts implements CodecLanguageModel {
  readonly voices: Voices;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    const { kind, speakers } = parts.config;
    this.voices = { kind: kind === "base" ? "clips" : "presets", presets: [...speakers.keys()] };
    this.#parts = parts;
  }

  async *speak(utterance: Utterance, signal: AbortSignal): AsyncGenerator<SpokenFrame, Ending, void> {
    const { config, embeddings, generation, tokenizer, decoder, talker } = this.#parts;
    const settings = settingsOf(generation, utterance);
    const draws = utterance.uniforms === null ? seededDraws(utterance.seed) : givenDraws(utterance.uniforms);
    const { script, voice } = await this.#scriptOf(utterance, settings);
    signal.throwIfAborted();
    const prompt = promptOf(script, tokenizer, config);
    const sequence = new Sequence(talker, config.talker);
    let { hidden, logits } = await this.#readPrompt(sequence, prompt, voice, signal);
    const { width } = config.talker;
    const texts = await embeddings.ofText([...prompt.trailing, config.ids.textPad]);
    const sound = decoder.begin();
    await sound.beginBehind(script.reference?.frames ?? []);
    const before = new Set<number>();
    const ending = (stop: Stop): Ending => ({ stop, read: [], heard: [] });
    for (let count = 0; ; count++) {
      signal.throwIfAborted();
      const scores = firstCodeLogits(logits, before, count, settings.penalty, config);
      const first = choose(scores, settings.first, draws);
      if (first === config.ids.end) return ending("finished");
      if (count >= settings.maxFrames) return ending("length");
      const codes = await this.#frame(hidden, first, settings, draws);
      signal.throwIfAborted();
      yield { codes, samples: await sound.decode([codes]) };
      if (sequence.length >= config.talker.positions) return ending("length");
      before.add(first);
      const row = await embeddings.ofFrame(codes);
      const at = Math.min(count, prompt.trailing.length) * width;
      addTo(row, texts.subarray(at, at + width));
      ({ hidden, logits } = await readRows(sequence, row, config));
    }
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  /** What is to be spoken in which voice: that of a preset, or that of the open speaker's earlier turns. */
  async #scriptOf(
    utterance: Utterance,
    settings: GenerationSettings,
  ): Promise<{ readonly script: Script; readonly voice: Float32Array | null }> {
    const { config, listener } = this.#parts;
    const { text, speaker: label } = utterance.open;
    const common = { text, language: settings.language };
    if (listener === null) {
      if (settings.isVoiceOnly) throw new OptionError("x_vector_only_mode is for base checkpoints alone.");
      const isPreset = config.speakers.has(label.toLowerCase());
      const preset = settings.speaker ?? (isPreset ? label : "");
      // The small one was not taught instructions; the reference leaves them out too.
      const isDeaf = config.kind === "custom_voice" && config.size === "0b6";
      const script = {
        ...common,
        speaker: preset === "" ? null : { preset },
        instruction: isDeaf ? null : settings.instruction,
        reference: null,
        isTextFirst: settings.isTextFirst ?? true,
      };
      return { script, voice: null };
    }
    if (settings.instruction !== null || (settings.speaker ?? "") !== "") {
      throw new OptionError(
        "A base checkpoint takes neither speaker nor instruct: it follows earlier turns.",
      );
    }
    const own = ownReference(utterance, settings.isVoiceOnly);
    if (own === null || own.audio.length < SHORTEST) {
      throw new CheckpointError(
        `A base checkpoint follows a voice: give speaker ${JSON.stringify(label)} an earlier turn with audio, of a few seconds.`,
      );
    }
    const voice = await listener.voice.embed(own.audio);
    const frames = own.text === null ? null : await listener.codes.encode(own.audio);
    const script: Script = {
      ...common,
      speaker: "voice",
      instruction: null,
      reference: frames === null ? null : { text: own.text!, frames },
      isTextFirst: settings.isTextFirst ?? false,
    };
    return { script, voice };
  }

  async #readPrompt(
    sequence: Sequence,
    { rows }: Prompt,
    voice: Float32Array | null,
    signal: AbortSignal,
  ): Promise<Newest> {
    const { config, embeddings } = this.#parts;
    const { width, positions } = config.talker;
    if (rows.length > positions) {
      throw new CheckpointError(
        `The text takes ${rows.length} of the model's ${positions} positions: make it shorter.`,
      );
    }
    const all = await embeddings.ofRows(rows, voice);
    let newest: Newest | null = null;
    for (let from = 0; from < all.length; from += PREFILL * width) {
      newest = await readRows(sequence, all.slice(from, from + PREFILL * width), config);
      signal.throwIfAborted();
    }
    return newest!;
  }

  /** Chooses the other codes of a frame, by the talker's newest row. */
  async #frame(
    hidden: Float32Array,
    first: number,
    { others }: GenerationSettings,
    draws: Draws,
  ): Promise<Frame> {
    const { config, predictor, embeddings } = this.#parts;
    const { width } = config.talker;
    const codes = [first];
    const sequence = new Sequence(predictor, config.predictor);
    let rows: Float32Array = Float32Array.from([...hidden, ...(await embeddings.ofRow(first))]);
    for (let head = 0; head + 1 < config.codebooks; head++) {
      const which = int64(BigInt64Array.of(BigInt(head)), []);
      const given = await sequence.read(rows, width, { head: which });
      const code = choose(floatsOf(given, "logits"), others, draws);
      codes.push(code);
      rows = await embeddings.ofCode(head + 1, code);
    }
    return codes;
  }
}

/** What the talker gives for the newest row. */
interface Newest {
  /** [width], after the last norm. */
  readonly hidden: Float32Array;
  /** [rows], of the first codebook and of what controls. */
  readonly logits: Float32Array;
}

async function readRows(sequence: Sequence, rows: Float32Array, { talker }: Qwen3TtsConfig): Promise<Newest> {
  const given = await sequence.read(rows, talker.width);
  return { hidden: floatsOf(given, "hidden").slice(-talker.width), logits: floatsOf(given, "logits") };
}

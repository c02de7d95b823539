import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import type { SpokenTurn, Utterance } from "../codec-language-model.ts";
import { CheckpointError, OptionError } from "../fields.ts";
import type { CodeFrame } from "../mimi/frame-decoder.ts";
import { ClipCache, type MimiEncoder } from "../mimi/mimi.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import type { Qwen3Script } from "./prompt.ts";
import type { Qwen3TtsSettings } from "./sampling.ts";
import { MIN_SAMPLES, type SpeakerEncoder } from "./speaker-encoder.ts";

export interface VoicedScript {
  readonly script: Qwen3Script;
  /** Vector of the speaker encoder; `null` for a preset or no voice. */
  readonly voice: Float32Array | null;
  /** Indices in the history of the turns that define the voice. */
  readonly turns: readonly number[];
}

/** Returns a script in the voice of a preset, or none. @throws OptionError */
export function presetScript(
  config: Qwen3TtsConfig,
  { open: asked }: Utterance,
  settings: Qwen3TtsSettings,
): VoicedScript {
  if (settings.isVoiceOnly) throw new OptionError("x_vector_only_mode is for base checkpoints alone.");
  const isPreset = config.speakers.has(asked.speaker.toLowerCase());
  const preset = settings.speaker ?? (isPreset ? asked.speaker : "");
  // The small model was not trained on instructions; the reference drops them too.
  const ignoresInstructions = config.kind === "custom_voice" && config.size === "0b6";
  const script: Qwen3Script = {
    text: asked.text,
    language: settings.language,
    speaker: preset === "" ? null : { preset },
    instruction: ignoresInstructions ? null : settings.instruction,
    reference: null,
    isTextFirst: settings.isTextFirst ?? true,
  };
  return { script, voice: null, turns: [] };
}

export class VoiceFollower {
  readonly #encoder: SpeakerEncoder;
  readonly #codec: MimiEncoder;
  /** Maximum length of a clip in positions. */
  readonly #positions: number;
  readonly #voices = new ClipCache<Float32Array>();
  readonly #clips = new ClipCache<readonly CodeFrame[]>();

  constructor(encoder: SpeakerEncoder, codec: MimiEncoder, positions: number) {
    this.#encoder = encoder;
    this.#codec = codec;
    this.#positions = positions;
  }

  /** Returns a script in the voice of the open speaker's earlier turns. @throws OptionError or CheckpointError */
  async scriptFor(utterance: Utterance, settings: Qwen3TtsSettings): Promise<VoicedScript> {
    if (settings.instruction !== null || (settings.speaker ?? "") !== "") {
      throw new OptionError(
        "A base checkpoint takes neither speaker nor instruct: it follows earlier turns.",
      );
    }
    const { open: asked } = utterance;
    const own = selectReference(utterance, settings.isVoiceOnly);
    if (own === null || own.audio.length < MIN_SAMPLES) {
      throw new CheckpointError(
        `A base checkpoint follows a voice: give speaker ${JSON.stringify(asked.speaker)} an earlier turn with audio, of a few seconds.`,
      );
    }
    const { audio, digests, text, turns } = own;
    const maxSamples = this.#positions * FRAME_SAMPLES;
    // Rejected before encoding, which takes a while.
    if (text !== null && audio.length > maxSamples) {
      throw new CheckpointError(
        `The clip of speaker ${JSON.stringify(asked.speaker)} is ${seconds(audio.length)} s long; the model has room for ${seconds(maxSamples)}: send some seconds of it.`,
      );
    }
    const voice = await this.#voices.getOrCompute(digests, () => this.#encoder.embed(audio));
    const frames =
      text === null ? null : await this.#clips.getOrCompute(digests, () => this.#codec.encode(audio));
    const script: Qwen3Script = {
      text: asked.text,
      language: settings.language,
      speaker: "voice",
      instruction: null,
      reference: frames === null ? null : { text: text!, frames },
      isTextFirst: settings.isTextFirst ?? false,
    };
    return { script, voice, turns };
  }
}

const seconds = (samples: number): string => (samples / SAMPLE_RATE_HZ).toFixed(0);

export interface VoiceReference {
  /** Concatenated audio, mono at 24 kHz. */
  readonly audio: Float32Array;
  /** Digests of its clips, if known. */
  readonly digests: readonly (string | undefined)[];
  /** Its words; `null` if unknown or not used. */
  readonly text: string | null;
  /** Indices of its turns in the history, oldest first. */
  readonly turns: readonly number[];
}

/** More makes the result worse, and other implementations then get different codes. */
const MAX_REFERENCE_S = 10;

/**
 * Selects the open speaker's newest whole turns with audio, up to ten seconds, or the newest alone if it is longer.
 * If any has text, only turns with text are used. Turns that the model spoke itself are excluded.
 *
 * @param isVoiceOnly whether the text is left out
 * @returns `null` if there are none
 */
export function selectReference({ history, open }: Utterance, isVoiceOnly: boolean): VoiceReference | null {
  const heard = [...history.keys()].filter((at) => {
    const { speaker, audio, codes } = history[at]!;
    return speaker === open.speaker && codes === undefined && lengthOf(audio) > 0;
  });
  const worded = heard.filter((at) => wordsOf(history[at]!) !== "");
  const turns = newestTurns(history, worded.length > 0 ? worded : heard);
  if (turns.length === 0) return null;
  const clips = turns.map((at) => history[at]!);
  return {
    audio: joinSamples(clips.map(({ audio }) => audio!)),
    digests: clips.map(({ digest }) => digest),
    text: worded.length > 0 && !isVoiceOnly ? clips.map(wordsOf).join(" ") : null,
    turns,
  };
}

function newestTurns(history: readonly SpokenTurn[], turns: readonly number[]): number[] {
  const kept: number[] = [];
  let samples = 0;
  for (const at of turns.toReversed()) {
    samples += lengthOf(history[at]!.audio);
    if (kept.length > 0 && samples > MAX_REFERENCE_S * SAMPLE_RATE_HZ) break;
    kept.unshift(at);
  }
  return kept;
}

const wordsOf = ({ text }: SpokenTurn): string => (text ?? "").trim();

const lengthOf = (audio: Float32Array | null): number => audio?.length ?? 0;

import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { resample } from "../../../audio/resample.ts";
import { abortable } from "../../../model/abortable.ts";
import type { Turn } from "../../../model/conversation.ts";
import type { Script } from "../../../model/script.ts";
import {
  type Frame,
  NothingToSpeakError,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../../../model/speech-model.ts";
import { stopWith } from "../../../model/stop-with.ts";
import type { NativeGuard } from "../../../tensors/session.ts";
import { architectureOf } from "../architectures.ts";
import { BusyError, type CodecLanguageModel, type Precision, type SpokenTurn } from "../model.ts";

export interface CodecLmOptions {
  /** The checkpoint's. */
  readonly folder: string;
  readonly precision: Precision;
  /** That compute one run together. */
  readonly threads: number;
  /** Where quantised weights are kept. */
  readonly cacheFolder: string;
  /** Utterances computed together. */
  readonly places: number;
  readonly pace: "realtime" | "throughput";
  /** By speaker label. */
  readonly voices: Readonly<Record<string, LabelVoice>>;
  /** Qwen3-TTS only; `null`: the checkpoint's `auto`. */
  readonly language: string | null;
  /** Qwen3-TTS only. */
  readonly instruct: string | null;
}

/** Whose voice a label has: one of the checkpoint's own, or that of a clip (24 kHz, mono) and its words. */
export type LabelVoice =
  | { readonly preset: string }
  | { readonly clip: { readonly samples: Float32Array; readonly text: string } };

const SPEAKABLE = /[\p{L}\p{N}]/u;
const BUSY_MS = 2_000;

/** Opens a checkpoint as a speech model. */
export async function createModel(options: CodecLmOptions, guard: NativeGuard): Promise<SpeechModel> {
  const { folder, threads, precision, cacheFolder, places, pace } = options;
  const architecture = await architectureOf(folder);
  const { signal } = new AbortController();
  const setup = { threads, precision, cacheFolder, places, pace, signal, guard };
  const model = await architecture.open(folder, setup);
  const closing = new AbortController();
  return {
    async *speak(script, signal) {
      signal.throwIfAborted();
      if (closing.signal.aborted) throw closing.signal.reason;
      const stop = stopWith([signal, closing.signal]);
      try {
        return yield* speech(model, script, options, stop.signal);
      } catch (error) {
        stop.signal.throwIfAborted();
        if (error instanceof BusyError) {
          throw new SpeechFailedError(error.message, { cause: error, retryAfterMs: BUSY_MS });
        }
        throw error;
      } finally {
        stop.end();
      }
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new SpeechFailedError("the model was closed"));
      await model.close();
    },
  };
}

async function* speech(
  model: CodecLanguageModel,
  script: Script,
  { voices, language, instruct }: CodecLmOptions,
  signal: AbortSignal,
): AsyncGenerator<Frame, SpeechReport, void> {
  const text = await allOf(script.text, signal);
  if (!SPEAKABLE.test(text)) throw new NothingToSpeakError("the text has no letter or number");
  const { speaker, delivery } = script;
  const { temperature, acousticTemperature, topK, maxFrames } = delivery;
  const voice = voices[speaker];
  const own: SpokenTurn[] =
    voice !== undefined && "clip" in voice
      ? [{ speaker, text: voice.clip.text, audio: voice.clip.samples }]
      : [];
  const options = new Map<string, string>();
  if (voice !== undefined && "preset" in voice) options.set("speaker", voice.preset);
  if (language !== null) options.set("language", language);
  if (instruct !== null) options.set("instruct", instruct);
  const utterance = {
    history: [...own, ...script.history.map(spokenTurn)],
    open: { speaker, text },
    mayForget: true,
    wishes: { temperature, acousticTemperature, topK, maxFrames },
    options,
    uniforms: null,
    seed: script.seed,
  };
  const frames = model.speak(utterance, signal);
  for (;;) {
    const step = await frames.next();
    if (step.done) return { stop: step.value.stop, spoken: text };
    const { samples } = step.value;
    if (samples.length > 0) yield { samples: bounded(samples) };
    signal.throwIfAborted();
  }
}

async function allOf(text: AsyncIterable<string>, signal: AbortSignal): Promise<string> {
  const pieces = text[Symbol.asyncIterator]();
  let all = "";
  try {
    for (;;) {
      const piece = await abortable(pieces.next(), signal);
      if (piece.done) return all;
      all += piece.value;
    }
  } finally {
    void Promise.resolve(pieces.return?.()).catch(() => {});
  }
}

function spokenTurn({ speaker, text, audio }: Turn): SpokenTurn {
  if (audio === null) return { speaker, text, audio: null };
  return {
    speaker,
    text,
    audio: resample(audio.samples, audio.sampleRateHz, SAMPLE_RATE_HZ),
    digest: audio.digest,
  };
}

function bounded(samples: Float32Array): Float32Array {
  return samples.subarray(0, FRAME_SAMPLES).map((sample) => Math.max(-1, Math.min(1, sample)));
}

import { setMaxListeners } from "node:events";
import { setPriority } from "node:os";
import { isMainThread } from "node:worker_threads";
import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import type { SpeakerLabel } from "../../../core/conversation.ts";
import { SpeechFailedError, type SpeechModel } from "../../../core/speech-model.ts";
import type { NativeGuard } from "../../../onnx/session.ts";
import { speakPlain } from "../../../text/speak-plain.ts";
import type { CodecLanguageModel, Precision } from "../codec-language-model.ts";
import { readCheckpoint } from "../read-checkpoint.ts";
import { seededRng } from "../sampler.ts";
import { speakUtterance, withPreset } from "./speak-utterance.ts";
import { type LabelVoice, resolveLabelVoices } from "./voices.ts";

export interface CodecLmOptions {
  readonly folder: string;
  readonly precision: Precision;
  readonly threads: number;
  readonly cacheFolder: string;
  readonly maxConcurrent: number;
  /** `realtime`: an utterance too many is rejected; `throughput`: all slow down. */
  readonly pace: "realtime" | "throughput";
  readonly voices: Readonly<Record<SpeakerLabel, LabelVoice>>;
  /** Language in the checkpoint's spelling; `null`: detected. Qwen3-TTS only. */
  readonly language: string | null;
  /** Instructions how to speak; `null`: none. Qwen3-TTS only, without a clip to follow. */
  readonly instruct: string | null;
}

/**
 * Opens a codec language model's checkpoint as a speech model. Each segment of a few sentences continues the
 * conversation and what was spoken before. docs/models.md describes the parameters.
 *
 * @throws CheckpointError, WeightsError or TokenizerError naming the problem in the folder; OptionError naming a
 * voice or an
 *   option that the checkpoint does not have
 */
export async function createModel(options: CodecLmOptions, guard: NativeGuard): Promise<SpeechModel> {
  const { folder, threads, precision, cacheFolder, maxConcurrent, pace } = options;
  // On Linux a thread has its own niceness, which threads it starts inherit.
  if (process.platform === "linux" && !isMainThread) setPriority(0, NICENESS);
  const checkpoint = await readCheckpoint(folder);
  const model = await checkpoint.open({
    threads,
    precision,
    cacheFolder,
    signal: new AbortController().signal,
    guard,
    slots: maxConcurrent,
    maxPositions: checkpoint.defaultPositions,
    pace,
  });
  return await createSpeechModel(model, options).catch(async (error: unknown) => {
    await model.close();
    throw error;
  });
}

/** Niceness of the computing threads, which never pause: threads with little work go first. */
const NICENESS = 10;

/** Creates a speech model from an open model, which it closes. @throws OptionError */
export async function createSpeechModel(
  model: CodecLanguageModel,
  { voices, language, instruct }: Pick<CodecLmOptions, "voices" | "language" | "instruct">,
): Promise<SpeechModel> {
  const options = new Map([
    ...(language === null ? [] : [["language", language] as const]),
    ...(instruct === null ? [] : [["instruct", instruct] as const]),
  ]);
  const parts = { model, voices: resolveLabelVoices(voices, model.voices), options };
  await warmUp(parts);
  const closing = new AbortController();
  // Every open utterance adds a listener.
  setMaxListeners(0, closing.signal);
  return {
    speak: (script, signal) =>
      speakPlain(script, (plain) => speakUtterance(plain, parts, [closing.signal, signal])),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new SpeechFailedError("The model was closed."));
      await model.close();
    },
  };
}

type Parts = Parameters<typeof speakUtterance>[1];

/**
 * Generates a frame that is discarded: it reveals unsupported options, and the first run is slower than later ones.
 */
async function warmUp({ model, voices, options }: Parts): Promise<void> {
  const speaker = "0";
  const noise = seededRng(0n);
  const clip = voices.clipOf(speaker) ?? {
    speaker,
    text: null,
    audio: Float32Array.from({ length: SAMPLE_RATE_HZ }, () => 0.1 * (noise() - 0.5)),
  };
  const speech = model.speak(
    {
      history: model.voices.kind === "presets" ? [] : [clip],
      open: { speaker, text: "Yes." },
      sampling: { temperature: 0, maxFrames: 1 },
      options: withPreset(options, voices.presetOf(speaker)),
      uniforms: null,
      seed: 0n,
    },
    new AbortController().signal,
  );
  while (!(await speech.next()).done);
}

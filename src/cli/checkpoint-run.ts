import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../audio/encode-wav.ts";
import { FRAME_S, SAMPLE_RATE_HZ } from "../audio/format.ts";
import { toPcm16 } from "../audio/pcm.ts";
import { resample } from "../audio/resample.ts";
import { ServiceError } from "../contract/errors.ts";
import { readJsonBody } from "../contract/json/read-json.ts";
import { ConverseRequest } from "../contract/requests.ts";
import { parseConverseRequest } from "../contract/validate.ts";
import type { Turn } from "../core/conversation.ts";
import { spokenText } from "../core/marked-text.ts";
import type {
  Precision,
  SamplingParams,
  SpokenFrame,
  StopReason,
  Utterance,
} from "../engines/codec-lm/codec-language-model.ts";
import { OptionError } from "../engines/codec-lm/fields.ts";
import { requireCheckpointMemory } from "../engines/codec-lm/memory.ts";
import { readCheckpoint } from "../engines/codec-lm/read-checkpoint.ts";
import { findModel, PUBLIC_MODELS } from "../models/public-models.ts";
import { UsageError } from "../server/errors.ts";
import { resolveConverse } from "../serving/prepare/resolve-request.ts";
import { type CommandIo, writeOutput } from "./terminal/command-io.ts";

export interface CheckpointRun {
  /** File of a `/v1/converse` body. */
  readonly conversation: string;
  /** Overrides the body's `max_new_tokens`. */
  readonly maxFrames?: number;
  readonly codes?: string;
  readonly output?: string;
  readonly option: ReadonlyMap<string, string>;
  readonly precision: Precision;
  readonly dataDir: string;
}

/** More hardly help: memory bandwidth is the limit. */
const MAX_THREADS = 4;

/** Speaks a conversation with the checkpoint in a folder, and writes the requested files. */
export async function runCheckpoint(
  folder: string,
  asked: CheckpointRun,
  { stderr }: CommandIo,
  signal: AbortSignal,
): Promise<void> {
  const utterance = await utteranceOf(asked);
  const checkpoint = await readCheckpoint(folder);
  const plan = { precision: asked.precision, slots: 1, cacheBytes: 0 };
  await requireCheckpointMemory(checkpoint, plan, `The checkpoint in ${folder}`);
  const model = await checkpoint.open({
    threads: Math.min(MAX_THREADS, availableParallelism()),
    precision: asked.precision,
    cacheFolder: join(asked.dataDir, "quantised"),
    signal,
    maxPrefixBytes: 0,
  });
  const startedAt = performance.now();
  const frames: SpokenFrame[] = [];
  let stop: StopReason;
  try {
    const speech = model.speak(utterance, signal);
    let step = await speech.next();
    for (; !step.done; step = await speech.next()) frames.push(step.value);
    ({ stop } = step.value);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new UsageError(error.message);
  } finally {
    await model.close();
  }
  const tookS = (performance.now() - startedAt) / 1_000;
  if (asked.codes !== undefined) {
    const chosen = JSON.stringify({ frames: frames.map(({ codes }) => codes), stop });
    await writeOutput(asked.codes, `${chosen}\n`, "--codes");
  }
  if (asked.output !== undefined) {
    const pcm = frames.map(({ samples }) => toPcm16(samples));
    await writeOutput(asked.output, encodeWav(pcm, SAMPLE_RATE_HZ), "-o");
  }
  const spokenS = frames.filter(({ samples }) => samples.length > 0).length * FRAME_S;
  stderr.write(
    `Spoke ${spokenS.toFixed(2)} s in ${tookS.toFixed(2)} s; the end was ${stop === "finished" ? "the model's own" : "the limit of frames"}.\n`,
  );
}

async function utteranceOf({ conversation: file, maxFrames, option }: CheckpointRun): Promise<Utterance> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`The file ${file} (--conversation) cannot be read (${error.code}).`);
  });
  try {
    const { value, textOf } = readJsonBody(bytes, ConverseRequest);
    const request = parseConverseRequest(value);
    // The named checkpoint speaks, whatever model the body names.
    const { conversation, seed } = resolveConverse(request, () => findModel(PUBLIC_MODELS, null), textOf);
    const { speaker, text, marked } = conversation.open;
    if (text === null) {
      throw new UsageError(`The last turn in ${file} has no text: a checkpoint speaks, it does not write.`);
    }
    const { uniforms: uniformsFile, ...options } = Object.fromEntries(option);
    return {
      history: conversation.history.map(spokenTurn),
      open: { speaker, text: spokenText(marked ?? text) },
      sampling: samplingOf(request.params ?? {}, maxFrames),
      options: new Map(Object.entries(options)),
      uniforms: uniformsFile === undefined ? null : await readUniforms(uniformsFile),
      seed,
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new UsageError(`What ${file} asks for cannot be spoken: ${error.message}.`);
  }
}

const spokenTurn = ({ speaker, text, audio }: Turn): Utterance["history"][number] => ({
  speaker,
  text,
  audio: audio === null ? null : resample(audio.samples, audio.sampleRateHz, SAMPLE_RATE_HZ),
});

/** Returns only what the body sets: defaults are the checkpoint's, not the contract's. */
function samplingOf(
  params: NonNullable<ReturnType<typeof parseConverseRequest>["params"]>,
  maxFrames: number | undefined,
): SamplingParams {
  const { temperature, acoustic_temperature: acoustic, top_k: topK, max_new_tokens: frames } = params;
  const max = maxFrames ?? frames;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(acoustic === undefined || acoustic === null ? {} : { acousticTemperature: acoustic }),
    ...(topK === undefined ? {} : { topK }),
    ...(max === undefined ? {} : { maxFrames: max }),
  };
}

async function readUniforms(file: string): Promise<readonly number[]> {
  const value: unknown = await readFile(file, "utf8")
    .then(JSON.parse)
    .catch(() => null);
  if (Array.isArray(value) && value.every((each) => typeof each === "number" && each >= 0 && each < 1)) {
    return value;
  }
  throw new UsageError(`${file} (--option uniforms) is no JSON array of numbers in [0, 1).`);
}

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { resample } from "../../audio/resample.ts";
import type { AvailableMemory } from "../../core/available-memory.ts";
import type { ModelVoice } from "../../core/model-card.ts";
import type { Checkpoint } from "../../engines/codec-lm/checkpoint.ts";
import { estimateMemory, requireCheckpointMemory } from "../../engines/codec-lm/memory.ts";
import type { CodecLmOptions } from "../../engines/codec-lm/speech/model.ts";
import type { LabelVoice } from "../../engines/codec-lm/speech/voices.ts";
import { installedCodecLmDir } from "../../models/installation-records.ts";
import { findCodecLm, KNOWN_CODEC_LMS } from "../../models/known-hub-models.ts";
import { KOKORO_CHECKPOINT } from "../../models/kokoro-voices.ts";
import type { LocalCheckpointInfo } from "../../models/models-from-settings.ts";
import { speakerVoices } from "../../models/public-models.ts";
import type { CodecLmSettings } from "../../settings/model-settings.ts";
import type { Settings } from "../../settings/schema.ts";
import { SettingsError, wrongSetting } from "../../settings/settings-error.ts";
import { createWorkerPool, type PoolEvent } from "../../workers/worker-pool.ts";
import { UsageError } from "../errors.ts";
import { idleUnloadOf, inThreads, type LocalCheckpoint, requireSpeaker } from "./local-checkpoint.ts";
import { readRecording } from "./read-recording.ts";

export interface CodecLmSources {
  /** Receives the events of a checkpoint's thread. */
  readonly onEvent?: (checkpoint: string, event: PoolEvent) => void;
  /** Default: measured. */
  readonly available?: AvailableMemory;
  /** Opens only this checkpoint. Default: all. */
  readonly only?: string;
}

type Given = Pick<Settings, "models" | "checkpoints" | "dataDir" | "loadTimeoutMs">;

/**
 * Returns the local codec language models, each in one thread that batches its utterances: those with a `path`, and
 * those that were pulled and are used by a model. Validates their directories and reads their voices' clips, but
 * loads no weights.
 *
 * @throws SettingsError with the setting and the remedy
 */
export async function codecLmCheckpoints(
  settings: Given,
  sources: CodecLmSources = {},
): Promise<LocalCheckpoint[]> {
  const found: LocalCheckpoint[] = [];
  for (const name of namesIn(settings)) {
    if (sources.only === undefined || name === sources.only)
      found.push(await opened(name, settings, sources));
  }
  return found;
}

/** More threads hardly help: memory bandwidth is the limit. */
const MAX_THREADS = 4;

/** Reading a long prompt, or quantising weights, stays in native code for some time. */
const STALL_MS = 60_000;

function namesIn({ models, checkpoints }: Given): string[] {
  const speaking = Object.values(models).map(({ checkpoint }) => checkpoint);
  const given = Object.entries(checkpoints).flatMap(([name, { remote, ...here }]) => {
    // Kokoro has its own file, `kokoro-checkpoint.ts`.
    if (remote !== undefined || name === KOKORO_CHECKPOINT) return [];
    if ("path" in here || speaking.includes(name)) return [name];
    if (findCodecLm(name) !== undefined) return [];
    throw withoutFolder(name);
  });
  const pulled = speaking.filter(
    (name) => findCodecLm(name) !== undefined && !Object.hasOwn(checkpoints, name),
  );
  return [...new Set([...given, ...pulled])];
}

function withoutFolder(name: string): SettingsError {
  const known = KNOWN_CODEC_LMS.map((each) => each.name).join(", ");
  return wrongSetting(
    `checkpoints.${name}`,
    `has neither remote nor path: give it one of them (only ${known}, once pulled, need none)`,
  );
}

async function opened(
  name: string,
  settings: Given,
  { onEvent, available }: CodecLmSources,
): Promise<LocalCheckpoint> {
  const given = Object.hasOwn(settings.checkpoints, name) ? settings.checkpoints[name] : undefined;
  const own: Partial<CodecLmSettings> = given?.remote === undefined ? (given ?? {}) : {};
  const { precision = "int8", maxConcurrent = 4, threads = 0, pace = "throughput" } = own;
  const setting = `checkpoints.${name}`;
  const idleUnload = idleUnloadOf(own, setting);
  const folder = await folderOf(name, own.path, settings);
  const checkpoint = await lookedOver(folder, name, own.path);
  const kind = checkpoint.qwen3Tts;
  const create: CodecLmOptions = {
    folder,
    precision,
    threads: threads > 0 ? threads : Math.min(MAX_THREADS, availableParallelism()),
    cacheFolder: join(settings.dataDir, "quantised"),
    maxConcurrent,
    pace,
    voices: await codecLmVoices(own, kind, setting),
    language: own.language ?? null,
    instruct: own.instruct ?? null,
  };
  const memoryBytes = estimateMemory(checkpoint, { precision, slots: maxConcurrent });
  return {
    name,
    kind: "codec-lm",
    memoryBytes,
    maxConcurrent,
    voice: localVoice(name, kind),
    ...idleUnload,
    ...inThreads(async () => {
      await requireCheckpointMemory(checkpoint, { precision, slots: maxConcurrent }, name, available);
      return await createWorkerPool({
        entry: new URL("../../engines/codec-lm/speech/model.js", import.meta.url),
        create,
        size: 1,
        isBatching: true,
        startTimeoutMs: settings.loadTimeoutMs,
        stallMs: STALL_MS,
        ...(onEvent === undefined ? {} : { onEvent: (event) => onEvent(name, event) }),
      });
    }),
  };
}

async function folderOf(name: string, path: string | undefined, { dataDir, models }: Given): Promise<string> {
  const folder = path ?? (await installedCodecLmDir(dataDir, name));
  if (folder !== null) return folder;
  if (findCodecLm(name) === undefined) throw withoutFolder(name);
  const [id] = Object.entries(models).find(([, { checkpoint }]) => checkpoint === name) ?? [];
  throw wrongSetting(
    id === undefined ? `checkpoints.${name}` : `models.${id}.checkpoint`,
    `names ${name}, which is not installed: run antiphon models pull ${name}`,
  );
}

async function lookedOver(folder: string, name: string, path: string | undefined): Promise<Checkpoint> {
  // Imported late, with all architectures: servers without such a checkpoint start without them.
  const { validateCheckpoint } = await import("../../engines/codec-lm/validate-checkpoint.ts");
  const { checkpoint, problems } = await validateCheckpoint(folder, { numbers: "none" }).catch(
    (error: Error) => ({ checkpoint: null, problems: [error.message] }),
  );
  const [problem] = problems;
  if (checkpoint !== null && problem === undefined) return checkpoint;
  const remedy = `antiphon checkpoint check ${folder} tells all that is wrong`;
  const why = `${problem!.replace(/\.$/, "")}. (${remedy}.)`;
  if (path !== undefined) {
    throw new SettingsError(
      "file",
      `The setting checkpoints.${name}.path names a folder that cannot be used: ${why}`,
    );
  }
  throw new SettingsError("file", `What was pulled as ${name} cannot be used: ${why}`);
}

/** The parts of a checkpoint that its settings depend on; `null` for CSM. */
type CodecLmKind = Checkpoint["qwen3Tts"];

/** Seconds of a voice's clip. A longer one does not improve the voice and takes room from the conversation. */
const CLIP_S = { min: 1, max: 30 } as const;

/**
 * Returns the voices of a checkpoint's speakers, with their clips.
 *
 * @param setting prefix of the settings: `checkpoints.csm-1b`
 * @throws SettingsError with the setting and the remedy
 */
async function codecLmVoices(
  { voices = {}, language, instruct }: Readonly<Partial<CodecLmSettings>>,
  kind: CodecLmKind,
  setting: string,
): Promise<Record<string, LabelVoice>> {
  checkVoiceOptions(language, instruct, kind, setting);
  const read: Record<string, LabelVoice> = {};
  for (const [label, voice] of Object.entries(voices)) {
    const where = `${setting}.voices.${label}`;
    requireSpeaker(label, setting);
    if ("preset" in voice) {
      checkPreset(voice.preset, kind, where);
      read[label] = { preset: voice.preset };
    } else {
      if (kind !== null && kind.kind !== "base") {
        throw wrongSetting(
          where,
          "has a clip, and this checkpoint follows none: name one of its own voices as preset",
        );
      }
      read[label] = { clip: { samples: await clipOf(voice.clip, `${where}.clip`), text: voice.text ?? "" } };
    }
  }
  return read;
}

/**
 * Describes a checkpoint's voices for a model card.
 * @param name as in the settings
 */
function localVoice(name: string, kind: CodecLmKind): LocalCheckpointInfo {
  const voices = [...speakerVoices(), ...(kind === null ? [] : [...kind.speakers.keys()].map(presetVoice))];
  const takes = { mixes: false, samples: kind === null || kind.kind === "base" };
  if (kind === null) {
    return {
      voices,
      takes,
      reads: "everybody",
      description:
        `Spoken here by “${name}”, a CSM: it reads the earlier turns, their words and their sound, and speaks on from ` +
        `them. Where there are too many it forgets the oldest. ${ALL}`,
    };
  }
  const { size } = kind;
  const begin = `Spoken here by “${name}”, a Qwen3-TTS (${size}).`;
  if (kind.kind === "base") {
    return {
      voices,
      takes,
      reads: "speaker",
      description:
        `${begin} It does not hear others' turns: of the conversation it takes the speaker's own latest ones that have ` +
        `sound, to keep their voice and manner. A speaker without any, and without a clip in the settings, cannot be spoken for. ${ALL}`,
    };
  }
  const voice =
    kind.kind === "custom_voice"
      ? "with a voice that it was taught"
      : "with a voice that a description in the settings designs";
  const description = `${begin} It speaks ${voice}, and does not hear earlier turns. ${ALL}`;
  return { voices, takes, description };
}

function presetVoice(name: string): ModelVoice {
  const description = "A voice that the model was taught.";
  return { id: name, name, sex: null, language: null, description, aliases: [] };
}

const ALL = "It reports no word times. Its sound has not been evaluated here.";

function checkVoiceOptions(
  language: string | undefined,
  instruct: string | undefined,
  kind: CodecLmKind,
  setting: string,
): void {
  if (kind === null) {
    const name = language !== undefined ? "language" : instruct !== undefined ? "instruct" : null;
    if (name !== null)
      throw wrongSetting(`${setting}.${name}`, "is for Qwen3-TTS, and this is a CSM: leave it out");
    return;
  }
  if (instruct !== undefined && kind.kind === "base") {
    throw wrongSetting(
      `${setting}.instruct`,
      "is for checkpoints that take instructions, which a base one does not",
    );
  }
  const known = [...kind.languages.keys()];
  if (language !== undefined && language !== "auto" && !kind.languages.has(language.toLowerCase())) {
    throw wrongSetting(`${setting}.language`, `is "${language}": name one of auto, ${known.join(", ")}`);
  }
}

function checkPreset(preset: string, kind: CodecLmKind, where: string): void {
  if (kind === null || kind.kind !== "custom_voice") {
    throw wrongSetting(where, "names a preset, and this checkpoint has none: give it a clip and its text");
  }
  if (!kind.speakers.has(preset.toLowerCase())) {
    throw wrongSetting(
      `${where}.preset`,
      `is "${preset}": name one of ${[...kind.speakers.keys()].join(", ")}`,
    );
  }
}

async function clipOf(file: string, where: string): Promise<Float32Array> {
  try {
    const { signal } = new AbortController();
    const sound = await readRecording(file, signal);
    const { sampleRateHz } = sound;
    const samples = await sound.read(CLIP_S.max * sampleRateHz + 1, signal);
    const isLong = samples.length > CLIP_S.max * sampleRateHz;
    const durationS = isLong ? sound.boundS : samples.length / sampleRateHz;
    if (durationS < CLIP_S.min || durationS > CLIP_S.max) {
      const s = durationS.toFixed(1);
      throw wrongSetting(where, `is ${s} s long: give a recording of ${CLIP_S.min} to ${CLIP_S.max} s`);
    }
    return new Float32Array(resample(samples, sampleRateHz, SAMPLE_RATE_HZ));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw wrongSetting(where, `cannot be used. ${error.message.replace(/\.$/, "")}`);
  }
}

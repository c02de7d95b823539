import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { AvailableMemory } from "../../core/available-memory.ts";
import type { Checkpoint as CodecLm } from "../../engines/codec-lm/checkpoint.ts";
import { memoryOf, requireCheckpointMemory } from "../../engines/codec-lm/memory.ts";
import type { CodecLmOptions } from "../../engines/codec-lm/speech/model.ts";
import { findCodecLm, installedFolder, KNOWN_CODEC_LMS } from "../../models/codec-lm/known-checkpoints.ts";
import { KOKORO_CHECKPOINT } from "../../models/kokoro-cast.ts";
import type { CodecLmSettings } from "../../settings/model-settings.ts";
import type { Settings } from "../../settings/schema.ts";
import { SettingsError, wrongSetting } from "../../settings/settings-error.ts";
import { createWorkerPool, type PoolEvent } from "../../workers/worker-pool.ts";
import { codecLmVoices, localVoice } from "./codec-lm-voices.ts";
import { idleUnloadOf, inThreads, type LocalCheckpoint } from "./local-checkpoint.ts";

export interface CodecLmSources {
  /** What becomes of a checkpoint's thread. */
  readonly onEvent?: (checkpoint: string, event: PoolEvent) => void;
  /** What memory there is; looked up unless given. */
  readonly available?: AvailableMemory;
  /** The one that is needed; all unless given. */
  readonly only?: string;
}

type Given = Pick<Settings, "models" | "checkpoints" | "dataDir" | "loadTimeoutMs">;

/**
 * The codec language models that compute here by the settings, each in one thread that computes several utterances together:
 * those with a folder of their own, and those that were pulled and speak for a model. Their folders are looked over, and their voices' clips read; nothing is loaded.
 *
 * @throws SettingsError naming the setting and the remedy
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

/** More help little: what computes is held up by memory. */
const MAX_THREADS = 4;

/** A thread that reads a long prompt, or makes weights of 8 or 4 bits, is in native code for some time. */
const STALL_MS = 60_000;

function namesIn({ models, checkpoints }: Given): string[] {
  const speaking = Object.values(models).map(({ checkpoint }) => checkpoint);
  const given = Object.entries(checkpoints).flatMap(([name, { remote, ...here }]) => {
    // Kokoro is none: see `kokoro-checkpoint.ts`.
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
  const memoryBytes = memoryOf(checkpoint, { precision, slots: maxConcurrent });
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
  const folder = path ?? (await installedFolder(dataDir, name));
  if (folder !== null) return folder;
  if (findCodecLm(name) === undefined) throw withoutFolder(name);
  const [id] = Object.entries(models).find(([, { checkpoint }]) => checkpoint === name) ?? [];
  throw wrongSetting(
    id === undefined ? `checkpoints.${name}` : `models.${id}.checkpoint`,
    `names ${name}, which is not installed: run antiphon models pull ${name}`,
  );
}

async function lookedOver(folder: string, name: string, path: string | undefined): Promise<CodecLm> {
  // All architectures come with it; who has no such checkpoint starts without them.
  const { lookOverCheckpoint } = await import("../../engines/codec-lm/validate-checkpoint.ts");
  const { checkpoint, problems } = await lookOverCheckpoint(folder, { numbers: "none" }).catch(
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

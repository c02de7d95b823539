import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type AvailableMemory, availableMemory } from "../../core/available-memory.ts";
import type { ModelVoice } from "../../core/model-card.ts";
import type { Lexicon } from "../../core/script.ts";
import { PUBLISHED_GRAPH } from "../../engines/kokoro/graphs/convert.ts";
import type { KokoroOptions } from "../../engines/kokoro/model.ts";
import { unusedKokoroKnobs, voicesIn } from "../../engines/kokoro/voices.ts";
import type { SlotPrice } from "../../limits/slot-utterance.ts";
import { findVoiceCheckpoint } from "../../models/checkpoint-manifest.ts";
import { voiceRecord } from "../../models/download/pull-voice.ts";
import { checkpointDir, embeddedCheckpoint, inspectCheckpoint } from "../../models/installed-checkpoint.ts";
import {
  KOKORO_CHECKPOINT,
  KOKORO_LANGUAGE_LABELS,
  KOKORO_SPEAKER_VOICES,
  KOKORO_STARTING_VOICES,
  KOKORO_VOICE_SUPPORT,
  KOKORO_VOICES,
  voicesMeasuredFirst,
} from "../../models/kokoro-voices.ts";
import type { LocalCheckpointInfo } from "../../models/models-from-settings.ts";
import type { CodecLmSettings } from "../../settings/model-settings.ts";
import type { Settings } from "../../settings/schema.ts";
import { wrongSetting } from "../../settings/settings-error.ts";
import { isEnglish } from "../../text/languages/languages.ts";
import { loadTextTables } from "../../text/tables/text-tables.ts";
import { createWorkerPool, type PoolEvent } from "../../workers/worker-pool.ts";
import { idleUnloadOf, inThreads, type LocalCheckpoint, requireSpeaker } from "./local-checkpoint.ts";

export interface KokoroSources {
  /** Receives the events of its threads. */
  readonly onEvent?: (event: PoolEvent) => void;
  /** Default: measured. */
  readonly available?: AvailableMemory;
  /** User lexicon of the server; see `lexicon-file.ts`. */
  readonly words?: Lexicon;
  /** Overrides the settings. */
  readonly threads?: number;
}

type Given = Pick<Settings, "models" | "checkpoints" | "dataDir" | "loadTimeoutMs">;

/** Maximum memory shared by all threads, and of each thread (measured: row `kokoro` of docs/performance.json). */
const SHARED_BYTES = 340 * 2 ** 20;
const THREAD_BYTES = 450 * 2 ** 20;

/**
 * A second of speech takes 0.6 s of processor time, so a thread keeps up with one listener but not with two. More
 * threads take more memory than most machines have.
 */
const MAX_THREADS = 8;

/** Cost of a slot: 0.6 s of processor time per second of speech, in addition to some 0.4 s before the first sound. */
const PRICE: SlotPrice = { perSecond: 0.6, patienceMs: 1_000 };

/** A thread may measure an unused voice for some seconds. */
const STALL_MS = 60_000;

/**
 * Returns Kokoro if a model uses it, else `null`. Validates its directory; loads nothing.
 *
 * @throws SettingsError with the setting and the remedy
 */
export async function kokoroCheckpoint(
  settings: Given,
  { onEvent, available, words = [], threads: asked }: KokoroSources = {},
): Promise<LocalCheckpoint | null> {
  const name = KOKORO_CHECKPOINT;
  const speaking = Object.entries(settings.models).find(([, { checkpoint }]) => checkpoint === name);
  const given = Object.hasOwn(settings.checkpoints, name) ? settings.checkpoints[name] : undefined;
  if (given?.remote !== undefined || (speaking === undefined && given === undefined)) return null;
  const own: Partial<CodecLmSettings> = given ?? {};
  const { threads = 0 } = own;
  const setting = `checkpoints.${name}`;
  requireKnown(own, setting);
  const idleUnload = idleUnloadOf(own, setting);
  const count = asked ?? (threads > 0 ? threads : Math.min(MAX_THREADS, availableParallelism()));
  const maxConcurrent = Math.min(count, own.maxConcurrent ?? count);
  const folder = await folderOf(own.path, settings, speaking?.[0]);
  const voices = await installedVoices(folder);
  const labels = labelsOf(own, setting, voices);
  const memoryBytes = SHARED_BYTES + count * THREAD_BYTES;
  return {
    name,
    kind: "kokoro",
    memoryBytes,
    maxConcurrent,
    price: PRICE,
    voice: voiceWith(labels, voices),
    unusedKnobs: unusedKokoroKnobs,
    ...idleUnload,
    ...inThreads(async () => {
      await requireMemory(memoryBytes, count, available);
      // The engine has some ninety modules; servers without Kokoro do not load them.
      const { prepareKokoro } = await import("./kokoro-preparation.ts");
      await prepareKokoro(folder, new AbortController().signal, { voices: voicesMeasuredFirst(labels) });
      const voiceDir = embeddedCheckpoint.dir;
      const create: KokoroOptions = {
        folder,
        voiceDir,
        labels,
        languageLabels: KOKORO_LANGUAGE_LABELS,
        starts: KOKORO_STARTING_VOICES,
        tables: await loadTextTables(voiceDir),
        words,
      };
      return await createWorkerPool({
        entry: new URL("../../engines/kokoro/model.js", import.meta.url),
        create,
        size: count,
        extraLoad: 0,
        startTimeoutMs: settings.loadTimeoutMs,
        stallMs: STALL_MS,
        ...(onEvent === undefined ? {} : { onEvent }),
      });
    }),
  };
}

/** Returns the voices that can be spoken with: those of later languages only if the folder has them. */
async function installedVoices(folder: string): Promise<readonly ModelVoice[]> {
  const present = new Set(await voicesIn(folder));
  return KOKORO_VOICES.filter(({ id, language }) => isEnglish(language ?? "en") || present.has(id));
}

async function folderOf(path: string | undefined, { dataDir }: Given, model?: string): Promise<string> {
  if (path !== undefined) {
    if (existsSync(join(path, PUBLISHED_GRAPH))) return path;
    throw wrongSetting(
      `checkpoints.${KOKORO_CHECKPOINT}.path`,
      `is ${JSON.stringify(path)}, which has no ${PUBLISHED_GRAPH}: name the folder that antiphon models pull ${KOKORO_CHECKPOINT} made, or leave it out`,
    );
  }
  const manifest = findVoiceCheckpoint(KOKORO_CHECKPOINT);
  if (manifest === undefined) throw new Error(`the package has no manifest of ${KOKORO_CHECKPOINT}`);
  const { state } = await inspectCheckpoint(voiceRecord(manifest), dataDir);
  if (state === "installed") return checkpointDir(manifest, dataDir);
  throw wrongSetting(
    model === undefined ? `checkpoints.${KOKORO_CHECKPOINT}` : `models.${model}.checkpoint`,
    `names ${KOKORO_CHECKPOINT}, which is ${state === "damaged" ? "damaged" : "not installed"}: run antiphon models pull ${KOKORO_CHECKPOINT}`,
  );
}

/** Rejects settings that do not apply to Kokoro. Throws SettingsError. */
function requireKnown(own: Partial<CodecLmSettings>, setting: string): void {
  const names = Object.keys(UNUSED) as (keyof typeof UNUSED)[];
  const set = names.find((name) => own[name] !== undefined && own[name] !== UNUSED[name]);
  if (set !== undefined)
    throw wrongSetting(`${setting}.${set}`, "is for codec language models: leave it out");
}

/** Settings that do not apply to Kokoro, with their defaults. */
const UNUSED = { precision: "int8", pace: "throughput", language: undefined, instruct: undefined } as const;

/** Returns the voices of the labels. Throws SettingsError for an unknown voice. */
function labelsOf(
  { voices = {} }: Partial<CodecLmSettings>,
  setting: string,
  known: readonly ModelVoice[],
): Readonly<Record<string, string>> {
  const labels: Record<string, string> = { ...KOKORO_SPEAKER_VOICES };
  for (const [label, voice] of Object.entries(voices)) {
    requireSpeaker(label, setting);
    if (!("preset" in voice)) {
      throw wrongSetting(
        `${setting}.voices.${label}`,
        "has a clip, which is for codec language models: name a voice as preset (a recording is followed as a request's voice, or from the setting voices)",
      );
    }
    if (!known.some(({ id }) => id === voice.preset)) {
      const ids = known.map(({ id }) => id).join(", ");
      throw wrongSetting(`${setting}.voices.${label}.preset`, `is "${voice.preset}": name one of ${ids}`);
    }
    labels[label] = voice.preset;
  }
  return labels;
}

function voiceWith(
  labels: Readonly<Record<string, string>>,
  voices: readonly ModelVoice[],
): LocalCheckpointInfo {
  const shown = Object.entries(labels).map(([label, id]) => `${label} is ${id}`);
  return {
    voices,
    labels,
    languageLabels: KOKORO_LANGUAGE_LABELS,
    takes: KOKORO_VOICE_SUPPORT,
    description:
      `Spoken here by Kokoro-82M, a neural voice of ${voices.length} people and mixes of them, for a few listeners: it takes 0.6 s of ` +
      `processor time for each second of speech. As speakers, ${shown.join(" and ")}. In pitch, pace, pauses and level ` +
      "it follows the speaker's own recordings, and sets out from its nearest voice. Each voice has one language: American or British English, Spanish or Italian.",
  };
}

async function requireMemory(needed: number, threads: number, available?: AvailableMemory): Promise<void> {
  const { bytes, limitedBy } = available ?? (await availableMemory());
  if (needed <= bytes) return;
  const mebibytes = (count: number) => `${Math.round(count / 2 ** 20)} MiB`;
  const fewer = threads > 1 ? `set checkpoints.${KOKORO_CHECKPOINT}.threads to less than ${threads}, ` : "";
  throw new Error(
    `${KOKORO_CHECKPOINT} in ${threads} ${threads === 1 ? "thread" : "threads"} takes ${mebibytes(needed)} of memory, and ` +
      `${mebibytes(bytes)} are available: ${fewer}stop other programs, or ` +
      `${limitedBy === "container" ? "give the container more" : "use a machine with more"}.`,
  );
}

import { existsSync } from "node:fs";
import {
  findVoiceCheckpoint,
  hubSourceOf,
  type RecogniserManifest,
  recogniserManifests,
  type VoiceManifest,
  voiceManifests,
  type WriterManifest,
} from "../models/checkpoint-manifest.ts";
import { megabytes } from "../models/download/disk.ts";
import { formatHubName } from "../models/download/hub-name.ts";
import { voiceRecord } from "../models/download/pull-voice.ts";
import {
  codecLmRecord,
  installedCodecLmDir,
  readLocalManifests,
  recogniserRecord,
} from "../models/installation-records.ts";
import {
  type CheckpointRecord,
  type CheckpointState,
  checkpointDir,
  embeddedCheckpoint,
  inspectCheckpoint,
  sizeOnDisk,
} from "../models/installed-checkpoint.ts";
import {
  findKnownWriter,
  KNOWN_CODEC_LMS,
  KNOWN_WRITERS,
  type KnownCodecLm,
  type KnownWriter,
} from "../models/known-hub-models.ts";
import { modelsFromSettings } from "../models/models-from-settings.ts";
import { WHISPER_CONVERSION } from "../server/recogniser/recogniser-weights.ts";
import type { Settings } from "../settings/schema.ts";
import { type Screen, table } from "./terminal/command-io.ts";

/** Output of `models list --json`. */
interface ModelListing {
  readonly models: readonly {
    readonly id: string;
    readonly display_name: string;
    readonly default: boolean;
    readonly modes: readonly string[];
    readonly speakers: readonly string[];
    readonly checkpoint: string;
    readonly installed: boolean;
    readonly description: string;
  }[];
  readonly checkpoints: readonly {
    readonly name: string;
    readonly kind: "voice" | "writer" | "recogniser";
    readonly embedded: boolean;
    readonly installed: boolean;
    /**
     * `damaged`: a file has the wrong size; `antiphon models pull` checks every byte. `elsewhere`: the settings name
     * `urls`.
     */
    readonly state: CheckpointState["state"] | "elsewhere";
    /** `null` if it is missing. */
    readonly size_bytes: number | null;
    /** Download size in bytes, approximate for some; null for the embedded voice and where unknown. */
    readonly download_bytes: number | null;
    readonly licence: string;
    /** Folder; `null` for a remote one. */
    readonly path: string | null;
    /** Addresses of a remote one; `null` for a local one. */
    readonly urls: readonly string[] | null;
    /** Name on the hub that `models pull` also accepts; else `null`. */
    readonly hub: string | null;
    /** Approximate memory of a language model of our list; else `null`. */
    readonly memory_bytes: number | null;
  }[];
}

type Listed = ModelListing["checkpoints"][number];

/** Lists all models and checkpoints, with their state in a data directory. */
export async function listModels({
  dataDir,
  models,
  checkpoints,
}: Pick<Settings, "dataDir" | "models" | "checkpoints">): Promise<ModelListing> {
  const { name, dir, licence } = embeddedCheckpoint;
  const embedded = { ...(await inFolder(name, dir)), embedded: true, licence };
  const own = await readLocalManifests(dataDir);
  // A checkpoint whose `path` or `remote` is set replaces the pulled one of that name.
  const pulled = voiceManifests().filter(({ name }) => {
    const given = checkpoints[name];
    return given?.remote === undefined && given?.path === undefined;
  });
  return {
    models: await Promise.all(
      modelsFromSettings({ models, checkpoints }).map(async ({ card, checkpoint }) => ({
        id: card.id,
        display_name: card.displayName,
        default: card.isDefault,
        modes: card.modes,
        speakers: card.speakers,
        checkpoint,
        installed: await isInstalled(checkpoint, { dataDir, checkpoints }, embedded.installed),
        description: card.description,
      })),
    ),
    checkpoints: await Promise.all([
      embedded,
      ...own.flatMap(({ manifest }) => (manifest === null ? [] : [writerOf(manifest, dataDir)])),
      ...recogniserManifests().map((manifest) => recogniserOf(manifest, dataDir)),
      ...pulled.map((manifest) => voiceOf(manifest, dataDir)),
      ...KNOWN_CODEC_LMS.map((known) => codecLmOf(known, dataDir)),
      ...Object.entries(checkpoints).flatMap(([name, checkpoint]) => configured(name, checkpoint)),
      ...own
        .filter(({ manifest }) => manifest === null)
        .map(({ name }) => rowOf(name, dataDir, { state: "damaged" })),
      ...KNOWN_WRITERS.filter((writer) => own.every((one) => one.name !== writer.name)).map((writer) =>
        onTheHub(writer, dataDir),
      ),
    ]),
  };
}

/** A remote checkpoint needs no installation. */
async function isInstalled(
  checkpoint: string,
  { dataDir, checkpoints }: Pick<Settings, "dataDir" | "checkpoints">,
  isEmbeddedThere: boolean,
): Promise<boolean> {
  if (checkpoint === embeddedCheckpoint.name) return isEmbeddedThere;
  const given = checkpoints[checkpoint];
  if (given?.remote !== undefined) return true;
  if (given?.path !== undefined) return existsSync(given.path);
  const voice = findVoiceCheckpoint(checkpoint);
  if (voice !== undefined)
    return (await inspectCheckpoint(voiceRecord(voice), dataDir)).state === "installed";
  return (await installedCodecLmDir(dataDir, checkpoint)) !== null;
}

async function writerOf(manifest: WriterManifest, dataDir: string): Promise<Listed> {
  const { name, kind, licence } = manifest;
  const source = hubSourceOf(manifest);
  const known = findKnownWriter(name);
  return rowOf(name, dataDir, {
    ...(await stateOf(manifest, dataDir)),
    kind,
    licence,
    download_bytes: sizeOf(manifest),
    hub: source === null ? null : formatHubName({ repository: source.repository, file: source.path }),
    memory_bytes: known === undefined ? null : known.memoryGb * 1e9,
  });
}

async function recogniserOf(manifest: RecogniserManifest, dataDir: string): Promise<Listed> {
  const { name, kind, licence, convertedBytes } = manifest;
  const record = await recogniserRecord(manifest, dataDir, WHISPER_CONVERSION.version);
  const state = await stateOf(record, dataDir);
  return rowOf(name, dataDir, { ...state, kind, licence, download_bytes: convertedBytes });
}

async function voiceOf(manifest: VoiceManifest, dataDir: string): Promise<Listed> {
  const { name, kind, licence } = manifest;
  const state = await stateOf(voiceRecord(manifest), dataDir);
  const download_bytes = sizeOf(voiceRecord(manifest, "all"));
  return rowOf(name, dataDir, { ...state, kind, licence, download_bytes });
}

async function codecLmOf(known: KnownCodecLm, dataDir: string): Promise<Listed> {
  const { name, licence, repository, approximateBytes } = known;
  return rowOf(name, dataDir, {
    ...(await stateOf(await codecLmRecord(known, dataDir), dataDir)),
    kind: "voice",
    licence,
    download_bytes: approximateBytes,
    hub: formatHubName({ repository, file: null }),
  });
}

/** Lists a known model that was never pulled. */
function onTheHub(
  { name, licence, repository, path, sizeGb, memoryGb, known }: KnownWriter,
  dataDir: string,
) {
  return rowOf(name, dataDir, {
    licence,
    download_bytes: known?.sizeBytes ?? sizeGb * 1e9,
    hub: formatHubName({ repository, file: path }),
    memory_bytes: memoryGb * 1e9,
  });
}

/** Lists a checkpoint of the settings; pulled ones are listed separately. */
function configured(
  name: string,
  checkpoint: Settings["checkpoints"][string],
): readonly (Listed | Promise<Listed>)[] {
  if (checkpoint.remote !== undefined) {
    const { urls } = checkpoint.remote;
    return [rowOf(name, "", { kind: "voice", installed: true, state: "elsewhere", path: null, urls })];
  }
  return checkpoint.path === undefined ? [] : [inFolder(name, checkpoint.path)];
}

/** Lists a voice in a folder of its own. */
async function inFolder(name: string, path: string): Promise<Listed> {
  const sizeBytes = await sizeOnDisk(path);
  const installed = sizeBytes !== null;
  const state = installed ? "installed" : "missing";
  return rowOf(name, "", { kind: "voice", installed, state, size_bytes: sizeBytes, path });
}

async function stateOf(record: CheckpointRecord | CheckpointState, dataDir: string) {
  const { state, sizeBytes } = await inspectCheckpoint(record, dataDir);
  return { installed: state === "installed", state, size_bytes: state === "missing" ? null : sizeBytes };
}

function sizeOf({ files }: { readonly files: readonly { readonly sizeBytes: number }[] }): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** Returns the row of a missing writer, with what is known to be different. */
function rowOf(name: string, dataDir: string, known: Partial<Listed>): Listed {
  return {
    name,
    kind: "writer",
    embedded: false,
    installed: false,
    state: "missing",
    size_bytes: null,
    download_bytes: null,
    licence: "",
    path: checkpointDir({ name }, dataDir),
    urls: null,
    hub: null,
    memory_bytes: null,
    ...known,
  };
}

export function formatListing({ models, checkpoints }: ModelListing, screen: Screen): string {
  const modelRows = models.map((model) => [
    model.id,
    model.checkpoint,
    model.installed ? "installed" : "missing",
    model.default ? "yes" : "",
  ]);
  const checkpointRows = checkpoints.map((checkpoint) => {
    const bytes = checkpoint.size_bytes ?? checkpoint.download_bytes;
    return [
      checkpoint.name,
      checkpoint.kind,
      checkpoint.state === "missing" && checkpoint.hub !== null ? "on the hub" : checkpoint.state,
      bytes === null ? "" : megabytes(bytes),
      checkpoint.licence,
      checkpoint.memory_bytes === null ? "" : megabytes(checkpoint.memory_bytes),
    ];
  });
  return `${table(["MODEL", "CHECKPOINT", "STATE", "DEFAULT"], modelRows, screen)}\n${table(
    ["CHECKPOINT", "KIND", "STATE", "SIZE", "LICENCE", "MEMORY"],
    checkpointRows,
    screen,
  )}`;
}

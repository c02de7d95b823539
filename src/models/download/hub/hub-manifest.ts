import type { CheckpointManifest, HubSource } from "../../checkpoint-manifest.ts";
import { findHubWriter, type HubWriter, hubWriterAt } from "../../hub-writers.ts";
import { PullError } from "../pull-error.ts";
import { HUB } from "./hub-access.ts";
import { type ChosenFile, fileName } from "./hub-name.ts";
import type { HubRepository } from "./hub-repository.ts";

/** What is said where the hub names no licence. */
const NO_LICENCE = "not stated";

/** A file of the hub, as of a commit, as a checkpoint that writes. */
export function hubManifest(repository: HubRepository, file: ChosenFile): CheckpointManifest {
  const known = hubWriterAt(repository.repository, file.path);
  return {
    name: known?.name ?? unclaimed(checkpointName(repository.repository, file.path)),
    aliases: [],
    kind: "writer",
    displayName: known?.displayName ?? fileName(file.path).replace(/\.gguf$/i, ""),
    licence: spelt(repository.licence),
    licenceUrl: repository.licenceLink ?? `${HUB}/${repository.repository}`,
    attribution: `${fileName(file.path)} of ${repository.repository} on the model hub.`,
    files: [
      {
        path: safe(fileName(file.path)),
        sizeBytes: file.sizeBytes,
        sha256: file.sha256,
        sources: [
          {
            kind: "hub",
            repository: repository.repository,
            revision: repository.revision,
            path: file.path,
          },
        ],
      },
    ],
  };
}

/** Where on the hub a checkpoint is from; `null` where it may be had elsewhere, too. */
export function hubSourceOf({ files }: CheckpointManifest): HubSource | null {
  const [source, ...others] = files.flatMap((file) => file.sources);
  return files.length === 1 && others.length === 0 && source?.kind === "hub" ? source : null;
}

/** What is known of the model of a checkpoint. */
function hubWriterOf(manifest: CheckpointManifest): HubWriter | undefined {
  const source = hubSourceOf(manifest);
  return source === null ? undefined : hubWriterAt(source.repository, source.path);
}

/** The template of a checkpoint's model: its file's own unless it is a known one. */
export function templateOf(manifest: CheckpointManifest): HubWriter["template"] {
  return hubWriterOf(manifest)?.template ?? "own";
}

/**
 * Refuses a file of which the hub states what others do not know it by. Of another commit nothing is known.
 *
 * @throws PullError
 */
export function requireKnown(manifest: CheckpointManifest): void {
  const known = hubWriterOf(manifest)?.known;
  const { sizeBytes, sha256 } = manifest.files[0]!;
  if (known === undefined || !hubSourceOf(manifest)?.revision.startsWith(known.revision)) return;
  const [first, last] = known.sha256;
  if (sizeBytes === known.sizeBytes && sha256.startsWith(first) && sha256.endsWith(last)) return;
  throw new PullError(
    `The hub states another file for ${manifest.name} at commit ${known.revision} than the one that is known ` +
      `(${known.sizeBytes} bytes, SHA-256 ${first}…${last}): nothing was fetched. Check HF_ENDPOINT, or try again later.`,
  );
}

/** `qwen.qwen3-0.6b-q4_k_m` for `Qwen3-0.6B-Q4_K_M.gguf` of `Qwen/Qwen3-0.6B-GGUF`: the owner, the repository unless the file's name begins with it, the file. */
function checkpointName(repository: string, path: string): string {
  const [owner = "", name = ""] = repository.toLowerCase().split("/");
  const model = name.replace(/[-_.]gguf$/, "");
  const file = fileName(path)
    .toLowerCase()
    .replace(/\.gguf$/, "");
  return safe([owner, ...(file.startsWith(model) ? [] : [model]), file].join("."));
}

/** No repository may take the name of a model of our list. */
function unclaimed(name: string): string {
  return findHubWriter(name) === undefined ? name : `hub.${name}`;
}

/** A folder's or a file's name, as long as any disk takes. */
function safe(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return plain.slice(-MAX_NAME_CHARS).replace(/^[^A-Za-z0-9]+/, "") || "model";
}

const MAX_NAME_CHARS = 160;

/** The hub writes identifiers small. */
export function spelt(licence: string | null): string {
  if (licence === null) return NO_LICENCE;
  return SPDX.find((identifier) => identifier.toLowerCase() === licence.toLowerCase()) ?? licence;
}

const SPDX = ["Apache-2.0", "MIT", "BSD-3-Clause", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0"];

import { type CheckpointManifest, hubSourceOf } from "../checkpoint-manifest.ts";
import { fixManifest, forgetEmpty, ownManifests } from "../installation-records.ts";
import { findHubWriter, hubWriterAt, hubWriterOf } from "../known-hub-models.ts";
import { type HubPullOptions, requireAccepted } from "./accepted-licences.ts";
import { type ChosenFile, chooseFile, fileName, type HubName } from "./hub-name.ts";
import { HUB, type HubRepository, lookAtRepository } from "./hub-repository.ts";
import { type Fetching, fetchingBy } from "./options.ts";
import { type Outcome, pullCheckpoint } from "./pull.ts";
import { PullError } from "./pull-error.ts";

export interface HubPulled {
  readonly manifest: CheckpointManifest;
  readonly outcome: Outcome;
}

/**
 * Sees to it that a GGUF of the hub is installed, as the hub has it when it is first asked for: that commit is fixed
 * beside the file, and a pull that goes on later asks for the same one, wherever the branch has moved to.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
 */
export async function pullFromHub(name: HubName, options: HubPullOptions): Promise<HubPulled> {
  const { dataDir } = options;
  const manifest = (await begunManifest(name, dataDir)) ?? (await statedManifest(name, fetchingBy(options)));
  const { repository } = hubSourceOf(manifest)!;
  const { path: file, sizeBytes } = manifest.files[0]!;
  const { licence, licenceUrl } = manifest;
  await requireAccepted({ repository, licence, licenceUrl, file, sizeBytes }, options);
  const fixed = await fixManifest(manifest, dataDir);
  requireSame(manifest, fixed);
  try {
    return { manifest: fixed, outcome: await pullCheckpoint(fixed, options) };
  } catch (error) {
    await forgetEmpty(fixed, dataDir);
    throw error;
  }
}

/** What an earlier pull of that name fixed, where it cannot mean anything else. */
async function begunManifest(name: HubName, dataDir: string): Promise<CheckpointManifest | null> {
  const found = (await ownManifests(dataDir)).flatMap(({ manifest }) => {
    const source = manifest === null ? null : hubSourceOf(manifest);
    if (manifest === null || source === null) return [];
    const isIt = source.repository.toLowerCase() === name.repository.toLowerCase();
    const isFile = name.file === null || [source.path, fileName(source.path)].some((at) => at === name.file);
    return isIt && isFile ? [manifest] : [];
  });
  return found.length === 1 ? found[0]! : null;
}

async function statedManifest(
  { repository, file }: HubName,
  fetching: Fetching,
): Promise<CheckpointManifest> {
  const seen = await lookAtRepository(repository, fetching);
  const manifest = hubManifest(seen, chooseFile(seen, file));
  requireKnown(manifest);
  return manifest;
}

/** Two files may come to one name, as where capitals are all that tells them apart. */
function requireSame(wanted: CheckpointManifest, fixed: CheckpointManifest): void {
  const [one, other] = [hubSourceOf(wanted), hubSourceOf(fixed)];
  if (one?.repository === other?.repository && one?.path === other?.path) return;
  throw new PullError(
    `The name ${fixed.name} is taken by ${other?.path} of ${other?.repository}: run antiphon models rm ${fixed.name} first.`,
  );
}

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

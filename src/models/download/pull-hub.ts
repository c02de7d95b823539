import { hubSourceOf, type WriterManifest } from "../checkpoint-manifest.ts";
import { pinManifest, readLocalManifests, removeIfEmpty } from "../installation-records.ts";
import { findKnownWriter, knownWriterAt, knownWriterOf } from "../known-hub-models.ts";
import { type HubPullOptions, requireAcceptedLicence } from "./accepted-licences.ts";
import { type ChosenFile, chooseGgufFile, fileName, type HubName } from "./hub-name.ts";
import { HUB, type HubRepository, readHubRepository } from "./hub-repository.ts";
import { type FetchContext, fetchContext } from "./options.ts";
import { type PullOutcome, pullCheckpoint } from "./pull.ts";
import { PullError } from "./pull-error.ts";

interface HubPulled {
  readonly manifest: WriterManifest;
  readonly outcome: PullOutcome;
}

/**
 * Installs a GGUF of the hub at the commit that `main` is at when it is first pulled. The commit is stored next to
 * the file, so that a resumed pull asks for the same one.
 *
 * @throws PullError, one or two sentences with the remedy; the signal's reason
 */
export async function pullFromHub(name: HubName, options: HubPullOptions): Promise<HubPulled> {
  const { dataDir } = options;
  const manifest =
    (await findPinnedManifest(name, dataDir)) ?? (await fetchManifest(name, fetchContext(options)));
  const { repository } = hubSourceOf(manifest)!;
  const { path: file, sizeBytes } = manifest.files[0]!;
  const { licence, licenceUrl } = manifest;
  await requireAcceptedLicence({ repository, licence, licenceUrl, file, sizeBytes }, options);
  const fixed = await pinManifest(manifest, dataDir);
  requireSame(manifest, fixed);
  try {
    return { manifest: fixed, outcome: await pullCheckpoint(fixed, options) };
  } catch (error) {
    await removeIfEmpty(fixed, dataDir);
    throw error;
  }
}

/** Returns the manifest that an earlier pull stored, if exactly one matches. */
async function findPinnedManifest(name: HubName, dataDir: string): Promise<WriterManifest | null> {
  const found = (await readLocalManifests(dataDir)).flatMap(({ manifest }) => {
    const source = manifest === null ? null : hubSourceOf(manifest);
    if (manifest === null || source === null) return [];
    const isIt = source.repository.toLowerCase() === name.repository.toLowerCase();
    const isFile = name.file === null || [source.path, fileName(source.path)].some((at) => at === name.file);
    return isIt && isFile ? [manifest] : [];
  });
  return found.length === 1 ? found[0]! : null;
}

async function fetchManifest({ repository, file }: HubName, fetching: FetchContext): Promise<WriterManifest> {
  const listing = await readHubRepository(repository, fetching);
  const manifest = hubManifest(listing, chooseGgufFile(listing, file));
  requireKnownDigest(manifest);
  return manifest;
}

/** Different files can have the same checkpoint name, such as two that differ in case only. */
function requireSame(wanted: WriterManifest, fixed: WriterManifest): void {
  const [one, other] = [hubSourceOf(wanted), hubSourceOf(fixed)];
  if (one?.repository === other?.repository && one?.path === other?.path) return;
  throw new PullError(
    `The name ${fixed.name} is taken by ${other?.path} of ${other?.repository}: run antiphon models rm ${fixed.name} first.`,
  );
}

const NO_LICENCE = "not stated";

function hubManifest(repository: HubRepository, file: ChosenFile): WriterManifest {
  const known = knownWriterAt(repository.repository, file.path);
  return {
    name: known?.name ?? unreservedName(checkpointName(repository.repository, file.path)),
    aliases: [],
    kind: "writer",
    displayName: known?.displayName ?? fileName(file.path).replace(/\.gguf$/i, ""),
    licence: spdxLicence(repository.licence),
    licenceUrl: repository.licenceLink ?? `${HUB}/${repository.repository}`,
    attribution: `${fileName(file.path)} of ${repository.repository} on the model hub.`,
    files: [
      {
        path: safeName(fileName(file.path)),
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

/** Rejects a file whose digest at a known commit differs from the one on record. @throws PullError */
function requireKnownDigest(manifest: WriterManifest): void {
  const known = knownWriterOf(manifest)?.known;
  const { sizeBytes, sha256 } = manifest.files[0]!;
  if (known === undefined || !hubSourceOf(manifest)?.revision.startsWith(known.revision)) return;
  const [first, last] = known.sha256;
  if (sizeBytes === known.sizeBytes && sha256.startsWith(first) && sha256.endsWith(last)) return;
  throw new PullError(
    `The hub's file for ${manifest.name} at commit ${known.revision} differs from the one on record ` +
      `(${known.sizeBytes} bytes, SHA-256 ${first}…${last}): nothing was fetched. Check HF_ENDPOINT, or try again later.`,
  );
}

/**
 * Returns owner, repository (unless the file's name begins with it) and file: `qwen.qwen3-0.6b-q4_k_m` for
 * `Qwen3-0.6B-Q4_K_M.gguf` of `Qwen/Qwen3-0.6B-GGUF`.
 */
function checkpointName(repository: string, path: string): string {
  const [owner = "", name = ""] = repository.toLowerCase().split("/");
  const model = name.replace(/[-_.]gguf$/, "");
  const file = fileName(path)
    .toLowerCase()
    .replace(/\.gguf$/, "");
  return safeName([owner, ...(file.startsWith(model) ? [] : [model]), file].join("."));
}

/** The short names of known models are reserved. */
function unreservedName(name: string): string {
  return findKnownWriter(name) === undefined ? name : `hub.${name}`;
}

function safeName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return plain.slice(-MAX_NAME_CHARS).replace(/^[^A-Za-z0-9]+/, "") || "model";
}

const MAX_NAME_CHARS = 160;

/** Restores the capitals of an SPDX identifier, which the hub writes in lower case. */
export function spdxLicence(licence: string | null): string {
  if (licence === null) return NO_LICENCE;
  return SPDX.find((identifier) => identifier.toLowerCase() === licence.toLowerCase()) ?? licence;
}

const SPDX = ["Apache-2.0", "MIT", "BSD-3-Clause", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0"];

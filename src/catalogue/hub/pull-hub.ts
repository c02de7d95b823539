import type { CheckpointManifest } from "../checkpoint-manifest.ts";
import { fixManifest, forgetEmpty, ownManifests } from "../own-manifests.ts";
import { type PullOptions, pullCheckpoint } from "../pull/pull.ts";
import { PullError } from "../pull/pull-error.ts";
import { DEFAULT_TIMES } from "../pull/times.ts";
import { accept, isAccepted } from "./accepted-licences.ts";
import { chooseFile, fileName } from "./choose-file.ts";
import { hubManifest, hubSourceOf } from "./hub-manifest.ts";
import type { HubName } from "./hub-name.ts";
import { lookAtRepository } from "./hub-repository.ts";

/** A licence that has yet to be accepted. */
export interface LicenceQuestion {
  readonly repository: string;
  /** As the hub states it, or that it states none. */
  readonly licence: string;
  readonly licenceUrl: string;
  readonly file: string;
  readonly sizeBytes: number;
}

export interface HubPullOptions extends PullOptions {
  /** Shows a licence to whoever pulls: true when it is accepted. Asked once for each repository and licence. */
  readonly acceptLicence: (question: LicenceQuestion) => Promise<boolean>;
}

export interface HubPulled {
  readonly manifest: CheckpointManifest;
  readonly outcome: "already-installed" | "installed";
}

/**
 * Sees to it that a GGUF of the hub is installed, as the hub has it when it is first asked for: that commit is fixed
 * beside the file, and a pull that goes on later asks for the same one, wherever the branch has moved to.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
 */
export async function pullFromHub(name: HubName, options: HubPullOptions): Promise<HubPulled> {
  const { dataDir, signal = new AbortController().signal } = options;
  const begun = await begunManifest(name, dataDir);
  const manifest = begun ?? (await statedManifest(name, options, signal));
  const source = hubSourceOf(manifest)!;
  if (!(await isAccepted(dataDir, source.repository, manifest.licence))) {
    const file = manifest.files[0]!;
    const { licence, licenceUrl } = manifest;
    const question = {
      repository: source.repository,
      licence,
      licenceUrl,
      file: file.path,
      sizeBytes: file.sizeBytes,
    };
    if (!(await options.acceptLicence(question))) {
      throw new PullError(
        `The licence of ${source.repository} was not accepted (${licence}, ${licenceUrl}): nothing was fetched.`,
      );
    }
    await accept(dataDir, source.repository, licence);
  }
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
  name: HubName,
  { env = process.env, times }: HubPullOptions,
  signal: AbortSignal,
): Promise<CheckpointManifest> {
  const repository = await lookAtRepository(name.repository, env, { ...DEFAULT_TIMES, ...times }, signal);
  return hubManifest(repository, chooseFile(repository, name.file));
}

/** Two files may come to one name, as where capitals are all that tells them apart. */
function requireSame(wanted: CheckpointManifest, fixed: CheckpointManifest): void {
  const [one, other] = [hubSourceOf(wanted), hubSourceOf(fixed)];
  if (one?.repository === other?.repository && one?.path === other?.path) return;
  throw new PullError(
    `The name ${fixed.name} is taken by ${other?.path} of ${other?.repository}: run antiphon models rm ${fixed.name} first.`,
  );
}

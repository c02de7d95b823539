import type { CheckpointManifest } from "../../checkpoint-manifest.ts";
import { fixManifest, forgetEmpty, ownManifests } from "../../folder-records.ts";
import { type Fetching, fetchingBy } from "../options.ts";
import { type Outcome, pullCheckpoint } from "../pull.ts";
import { PullError } from "../pull-error.ts";
import { type HubPullOptions, requireAccepted } from "./accepted-licences.ts";
import { hubManifest, hubSourceOf, requireKnown } from "./hub-manifest.ts";
import { chooseFile, fileName, type HubName } from "./hub-name.ts";
import { lookAtRepository } from "./hub-repository.ts";

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

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type CheckpointManifest,
  parseAnyManifest,
  type RecogniserManifest,
  type VoiceManifest,
} from "./checkpoint-manifest.ts";

/** The recogniser that is used where the settings name no other. */
export const DEFAULT_RECOGNISER = "whisper-base";

/** The manifests that come with the package, where they lie beside the compiled program. */
const MANIFESTS_DIR = fileURLToPath(new URL("../../../checkpoints", import.meta.url));

/**
 * The recognisers that can be pulled, by name.
 *
 * @throws Error when a manifest is wrong, or two claim one name.
 */
export function pullableRecognisers(dir: string = MANIFESTS_DIR): RecogniserManifest[] {
  return manifestsIn(dir).filter((manifest) => manifest.kind === "recogniser");
}

/** The same for the speech models whose files are stated here. */
export function pullableVoices(dir: string = MANIFESTS_DIR): VoiceManifest[] {
  return manifestsIn(dir).filter((manifest) => manifest.kind === "voice");
}

function manifestsIn(dir: string): (CheckpointManifest | RecogniserManifest | VoiceManifest)[] {
  const manifests = readdirSync(dir)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => join(dir, file))
    .map((path) => parseAnyManifest(readFileSync(path, "utf8"), path));
  const taken = new Set<string>();
  for (const name of manifests.flatMap(namesOf)) {
    if (taken.has(name)) throw new Error(`two manifests in ${dir} claim the name ${name}: rename one`);
    taken.add(name);
  }
  return manifests;
}

/** The recogniser of that name or alias, or `undefined`. */
export function findRecogniser(name: string): RecogniserManifest | undefined {
  return pullableRecognisers().find((manifest) => namesOf(manifest).includes(name));
}

/** The speech model of that name or alias, or `undefined`. */
export function findVoiceCheckpoint(name: string): VoiceManifest | undefined {
  return pullableVoices().find((manifest) => namesOf(manifest).includes(name));
}

/** Where the licence of a speech model lies, and what it asks to be told. */
export function noticesOf({ name }: Pick<VoiceManifest, "name">, dir: string = MANIFESTS_DIR): string {
  return join(dir, name);
}

/** What a person may call a checkpoint, its own name first. */
export function namesOf({ name, aliases }: Pick<CheckpointManifest, "name" | "aliases">): string[] {
  return [name, ...aliases];
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CheckpointManifest, parseManifest } from "./checkpoint-manifest.ts";

/** The writer that is used where the settings name no other. */
export const DEFAULT_WRITER = "smollm2-135m";

/** The manifests that come with the package, where they lie beside the compiled program. */
const MANIFESTS_DIR = fileURLToPath(new URL("../../../checkpoints", import.meta.url));

/**
 * Everything that can be pulled, by name.
 *
 * @throws Error when a manifest is wrong, or two claim one name.
 */
export function pullableCheckpoints(dir: string = MANIFESTS_DIR): CheckpointManifest[] {
  const manifests = readdirSync(dir)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => parseManifest(readFileSync(join(dir, file), "utf8"), join(dir, file)));
  const taken = new Set<string>();
  for (const name of manifests.flatMap(namesOf)) {
    if (taken.has(name)) throw new Error(`two manifests in ${dir} claim the name ${name}: rename one`);
    taken.add(name);
  }
  return manifests;
}

/** The checkpoint of that name or alias, or `undefined`. */
export function findCheckpoint(
  name: string,
  among: readonly CheckpointManifest[] = pullableCheckpoints(),
): CheckpointManifest | undefined {
  return among.find((manifest) => namesOf(manifest).includes(name));
}

/** What a person may call a checkpoint, its own name first. */
export function namesOf({ name, aliases }: CheckpointManifest): string[] {
  return [name, ...aliases];
}

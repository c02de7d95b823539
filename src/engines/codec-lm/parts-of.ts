import { architectureOf } from "./architectures.ts";
import { csm } from "./csm/csm.ts";
import { csmParts } from "./csm/parts.ts";
import type { CheckpointParts } from "./parts.ts";
import { qwen3TtsParts } from "./qwen3-tts/parts.ts";

/**
 * What the checkpoint in a folder consists of, by its configuration.
 *
 * @throws CheckpointError when it is none that can be run, or a field is wrong
 */
export async function partsOf(folder: string): Promise<CheckpointParts> {
  const { modelType } = await architectureOf(folder);
  return modelType === csm.modelType ? await csmParts(folder) : await qwen3TtsParts(folder);
}

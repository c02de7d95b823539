import type { Architecture } from "./architecture.ts";
import { csm } from "./csm/csm.ts";
import { CheckpointError, readFields } from "./fields.ts";

import { qwen3Tts } from "./qwen3-tts/qwen3-tts.ts";

const ARCHITECTURES: readonly Architecture[] = [csm, qwen3Tts];

/** The kind of model in a folder, by its `config.json`. @throws CheckpointError when it is none that can be run */
export async function architectureOf(folder: string): Promise<Architecture> {
  const config = await readFields(folder, "config.json");
  const type = config.text("model_type");
  const found = ARCHITECTURES.find(({ modelType }) => modelType === type);
  if (found !== undefined) return found;
  const known = ARCHITECTURES.map(({ modelType }) => modelType).join(", ");
  throw new CheckpointError(
    `The model_type in config.json is ${JSON.stringify(type)}; what can be run is ${known}.`,
  );
}

import type { Architecture, Checkpoint } from "./checkpoint.ts";
import { csm } from "./csm/csm.ts";
import { CheckpointError, type Fields, readFields } from "./fields.ts";
import { qwen3Tts } from "./qwen3-tts/qwen3-tts.ts";

const ARCHITECTURES: readonly Architecture[] = [csm, qwen3Tts];

/** Reads a folder's `config.json` and finds its architecture. @throws CheckpointError if it is not supported */
export async function identifyArchitecture(
  folder: string,
): Promise<{ readonly architecture: Architecture; readonly config: Fields }> {
  const config = await readFields(folder, "config.json");
  const type = config.text("model_type");
  const architecture = ARCHITECTURES.find(({ modelType }) => modelType === type);
  if (architecture !== undefined) return { architecture, config };
  const known = ARCHITECTURES.map(({ modelType }) => modelType).join(", ");
  throw new CheckpointError(
    `The model_type in config.json is ${JSON.stringify(type)}; what can be run is ${known}.`,
  );
}

/** Reads the checkpoint in a folder. @throws CheckpointError if it is not supported, or naming the wrong field */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const { architecture, config } = await identifyArchitecture(folder);
  return await architecture.describe(folder, config);
}

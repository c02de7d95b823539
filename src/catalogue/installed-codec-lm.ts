import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Codec language models that can be pulled. */
export const CODEC_LMS: readonly string[] = ["csm-1b", "qwen3-tts-0.6b", "qwen3-tts-1.7b"];

/** The folder of a pulled checkpoint; `null` where it is not there. */
export function installedFolder(dataDir: string, name: string): string | null {
  const folder = join(dataDir, "checkpoints", name);
  return existsSync(join(folder, "config.json")) ? folder : null;
}

/** An upper bound of the memory that a checkpoint takes, in bytes. */
export async function memoryOf(
  folder: string,
  { precision, places }: { readonly precision: "fp32" | "int8" | "int4"; readonly places: number },
): Promise<number> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".safetensors"));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes * (precision === "fp32" ? 2 : 1) + (places + 1) * 2 ** 27;
}

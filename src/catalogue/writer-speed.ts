import { readFile } from "node:fs/promises";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Check } from "typebox/schema";
import { writeJson } from "../files/write-json.ts";
import type { CheckpointManifest } from "./checkpoint-manifest.ts";
import { checkpointDir } from "./installed-checkpoint.ts";

/** How fast a checkpoint wrote when it was measured, and where that was. */
const Speed = Type.Object({
  sha256: Type.String(),
  cpu: Type.String(),
  cores: Type.Integer(),
  /** As the settings have it; 0 is one for each core. */
  threads: Type.Integer(),
  read_tokens_per_s: Type.Number({ exclusiveMinimum: 0 }),
  write_tokens_per_s: Type.Number({ exclusiveMinimum: 0 }),
  /** ISO 8601. */
  measured_at: Type.String(),
});

export type WriterSpeed = Static<typeof Speed>;

/** A reply's first sentence, as replies are told to be. */
const PROMPT_TOKENS = 200;
const SENTENCE_TOKENS = 15;

/** Seconds from a prompt of 200 tokens to a sentence of 15, nothing of it being in a cache. */
export function firstSentenceS(speed: WriterSpeed): number {
  return PROMPT_TOKENS / speed.read_tokens_per_s + SENTENCE_TOKENS / speed.write_tokens_per_s;
}

/** What was measured of a checkpoint here, or `null` when nothing was, or the file, the machine or the threads are others now. */
export async function knownSpeed(
  manifest: CheckpointManifest,
  dataDir: string,
  threads: number,
): Promise<WriterSpeed | null> {
  try {
    const speed: unknown = JSON.parse(await readFile(pathOf(manifest, dataDir), "utf8"));
    if (!Check(Speed, speed)) return null;
    const here = circumstances(manifest, threads);
    const isHere = (Object.keys(here) as (keyof typeof here)[]).every((key) => speed[key] === here[key]);
    return isHere ? speed : null;
  } catch {
    return null;
  }
}

/** Keeps what was measured beside the checkpoint; where nothing can be written it is measured again next time. */
export async function keepSpeed(
  manifest: CheckpointManifest,
  dataDir: string,
  threads: number,
  measured: { readonly readTokensPerS: number; readonly writeTokensPerS: number },
): Promise<WriterSpeed> {
  const speed: WriterSpeed = {
    ...circumstances(manifest, threads),
    read_tokens_per_s: measured.readTokensPerS,
    write_tokens_per_s: measured.writeTokensPerS,
    measured_at: new Date().toISOString(),
  };
  await writeJson(pathOf(manifest, dataDir), speed).catch(() => {});
  return speed;
}

function pathOf(manifest: CheckpointManifest, dataDir: string): string {
  return join(checkpointDir(manifest, dataDir), "speed.json");
}

function circumstances({ files }: CheckpointManifest, threads: number) {
  return {
    sha256: files[0]!.sha256,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    threads,
  };
}

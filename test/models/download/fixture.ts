import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { CheckpointSource, WriterManifest } from "../../../src/models/checkpoint-manifest.ts";
import type { PullEvent, PullOptions, PullTimes } from "../../../src/models/download/options.ts";
import { pullCheckpoint } from "../../../src/models/download/pull.ts";
import { checkpointDir, checkpointFile } from "../../../src/models/installed-checkpoint.ts";

/** Short times for tests that are not about waiting. */
export const HASTY: PullTimes = {
  connectTimeoutMs: 5_000,
  stallTimeoutMs: 5_000,
  stallBytes: 1,
  retryDelaysMs: [0, 0, 0],
  maxWaitMs: 1_000,
  pipTimeoutMs: 30_000,
  pipPollMs: 10,
  lockPollMs: 20,
  lockStaleMs: 2_000,
};

/** Deterministic noise. */
export const WEIGHTS = Buffer.concat(
  Array.from({ length: 3_000 }, (_, i) => createHash("sha256").update(`weights ${i}`).digest()),
).subarray(0, 95_001);

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A checkpoint of one file. */
export function manifestOf(
  sources: CheckpointSource[] | string,
  bytes: Uint8Array = WEIGHTS,
): WriterManifest {
  return {
    name: "tiny",
    aliases: [],
    kind: "writer",
    displayName: "Tiny",
    licence: "Apache-2.0",
    licenceUrl: "https://example.org/licence",
    attribution: "Nobody.",
    files: [
      {
        path: "tiny.gguf",
        sizeBytes: bytes.length,
        sha256: sha256(bytes),
        sources: typeof sources === "string" ? [{ kind: "https", url: sources }] : sources,
      },
    ],
  };
}

export interface Pulled {
  /** The outcome, or the error message. */
  readonly end: string;
  readonly events: readonly PullEvent[];
  /** Files in the checkpoint's folder; `null` if there is none. */
  readonly left: readonly string[] | null;
}

export async function pull(
  manifest: WriterManifest,
  dataDir: string,
  options: Omit<Partial<PullOptions>, "times"> & { readonly times?: Partial<PullTimes> } = {},
): Promise<Pulled> {
  const events: PullEvent[] = [];
  const observe = (event: PullEvent) => {
    events.push(event);
    options.observe?.(event);
  };
  const times = { ...HASTY, ...options.times };
  const end = await pullCheckpoint(manifest, { ...options, dataDir, times, observe }).catch(
    (error: Error) => error.message,
  );
  return { end, events, left: leftOf(manifest, dataDir) };
}

export function leftOf(manifest: WriterManifest, dataDir: string): string[] | null {
  const dir = checkpointDir(manifest, dataDir);
  return existsSync(dir) ? readdirSync(dir).sort() : null;
}

export function placed(manifest: WriterManifest, dataDir: string): Buffer {
  return readFileSync(checkpointFile(manifest, dataDir));
}

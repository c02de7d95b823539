import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Check } from "typebox/schema";
import { writeJson } from "../../files/write-json.ts";
import { SAFE_NAME, SHA256 } from "../checkpoint-manifest.ts";
import {
  type CheckpointState,
  checkpointDir,
  inspectCheckpoint,
  verifyCheckpoint,
} from "../installed-checkpoint.ts";
import { onDisk } from "../pull/disk.ts";
import { isAbsent } from "../pull/pull-error.ts";
import type { RecogniserManifest } from "./recogniser-manifest.ts";

/**
 * What was made of the weights, and of which: written last, so that what it names is whole. It is what the files are held
 * against, since other weights, or another version of Antiphon, make other bytes. A recogniser's own files may say the
 * same of each other; but the catalogue installs and checks what any conversion makes, without knowing how to read it.
 */
const Receipt = Type.Object({
  name: Type.String(),
  /** Of the conversion. */
  version: Type.Integer(),
  /** Plain words. */
  origin: Type.String(),
  files: Type.Array(
    Type.Object({
      path: Type.String({ pattern: SAFE_NAME }),
      sizeBytes: Type.Integer({ minimum: 1 }),
      sha256: Type.String({ pattern: SHA256 }),
    }),
    { minItems: 1 },
  ),
});

/** What a recogniser's folder says of itself. */
export type Receipt = Static<typeof Receipt>;

const FILE = "installed.json";

/** Looks at the sizes only: blind to bytes that have changed in place. */
export async function inspectRecogniser(
  manifest: Pick<RecogniserManifest, "name">,
  dataDir: string,
  version: number,
): Promise<CheckpointState> {
  const receipt = await readReceipt(manifest, dataDir, version);
  return "problem" in receipt ? receipt : inspectCheckpoint(receipt, dataDir);
}

/** Reads every byte: about 0.3 s for 80 MB. Throws the signal's reason when it aborts. */
export async function verifyRecogniser(
  manifest: Pick<RecogniserManifest, "name">,
  dataDir: string,
  version: number,
  signal?: AbortSignal,
): Promise<CheckpointState> {
  const receipt = await readReceipt(manifest, dataDir, version);
  return "problem" in receipt ? receipt : verifyCheckpoint(receipt, dataDir, signal);
}

/** Says what a recogniser's folder holds. @throws PullError when the disk fails. */
export async function writeReceipt(receipt: Receipt, dataDir: string): Promise<void> {
  const path = receiptPath(receipt, dataDir);
  await onDisk(path, () => writeJson(path, receipt));
}

/** Takes back what a folder says of itself, so that nobody takes what is in it for whole. */
export async function removeReceipt(
  manifest: Pick<RecogniserManifest, "name">,
  dataDir: string,
): Promise<void> {
  await rm(receiptPath(manifest, dataDir), { force: true });
}

async function readReceipt(
  { name }: Pick<RecogniserManifest, "name">,
  dataDir: string,
  version: number,
): Promise<Receipt | CheckpointState> {
  const path = receiptPath({ name }, dataDir);
  const without = (state: "missing" | "damaged", what: string): CheckpointState => ({
    state,
    sizeBytes: 0,
    problem: `The weights of ${name} are ${what}: run antiphon models pull ${name}.`,
  });
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (isAbsent(error)) return without("missing", `missing (there is no ${path})`);
    return without("damaged", `damaged (${path} cannot be read)`);
  }
  if (!Check(Receipt, value) || value.name !== name)
    return without("damaged", `damaged (${path} says nothing)`);
  return value.version === version ? value : without("damaged", "those of another version of Antiphon");
}

function receiptPath(manifest: Pick<RecogniserManifest, "name">, dataDir: string): string {
  return join(checkpointDir(manifest, dataDir), FILE);
}

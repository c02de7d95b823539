import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { DEFAULT_WRITER, findCheckpoint } from "../catalogue/checkpoints.ts";
import { ownManifests } from "../catalogue/folder-records.ts";
import { inspectCheckpoint } from "../catalogue/installed-checkpoint.ts";
import { firstSentenceS, type WriterSpeed } from "../catalogue/writer-speed.ts";
import { messageWithCauses } from "./message-with-causes.ts";

/** What `writer.checkpoint` says for the largest that is fast enough. */
export const AUTO = "auto";

/** A first sentence that takes longer is waited for too long. */
const MAX_FIRST_SENTENCE_S = 1.5;

/** What a choice depends on. */
export interface Choice {
  readonly dataDir: string;
  /** How fast a checkpoint is here. Throws where it cannot write. */
  speedOf(manifest: CheckpointManifest): Promise<WriterSpeed>;
  /** Is told, in one plain sentence each, why larger ones were passed over and what was chosen. */
  note(sentence: string): void;
  readonly signal: AbortSignal;
}

/**
 * The name of the largest installed checkpoint that begins a reply soon enough on this machine, else of the one that
 * comes with Antiphon. Throws the signal's reason.
 */
export async function chooseCheckpoint({ dataDir, speedOf, note, signal }: Choice): Promise<string> {
  for (const manifest of await installedBySize(dataDir)) {
    if (manifest.name === DEFAULT_WRITER) break;
    try {
      const seconds = firstSentenceS(await speedOf(manifest));
      if (seconds < MAX_FIRST_SENTENCE_S) {
        note(`Replies are written by ${manifest.name}, whose first sentence takes ${shown(seconds)} here.`);
        return manifest.name;
      }
      note(`${manifest.name} is skipped: its first sentence would take ${shown(seconds)} here.`);
    } catch (error) {
      signal.throwIfAborted();
      note(`${manifest.name} is skipped, because ${messageWithCauses(error)}.`);
    }
  }
  note(`Replies are written by ${DEFAULT_WRITER}.`);
  return DEFAULT_WRITER;
}

/** The largest first. */
async function installedBySize(dataDir: string): Promise<CheckpointManifest[]> {
  const own = (await ownManifests(dataDir)).flatMap(({ manifest }) => manifest ?? []);
  const all = [...own, findCheckpoint(DEFAULT_WRITER)].filter((one) => one !== undefined);
  const states = await Promise.all(all.map((manifest) => inspectCheckpoint(manifest, dataDir)));
  const bytesOf = ({ files }: CheckpointManifest) => files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return all
    .filter((_, at) => states[at]?.state === "installed")
    .sort((one, other) => bytesOf(other) - bytesOf(one));
}

/** `0.8 s` */
export function shown(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}

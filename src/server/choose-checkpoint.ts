import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { DEFAULT_WRITER } from "../catalogue/checkpoints.ts";
import { ownManifests } from "../catalogue/folder-records.ts";
import { inspectCheckpoint } from "../catalogue/installed-checkpoint.ts";
import { firstSentenceS, type WriterSpeed } from "../catalogue/writer-speed.ts";
import { messageWithCauses } from "./message-with-causes.ts";

/** What `writer.checkpoint` says for the best that is fast enough. */
export const AUTO = "auto";

/** A first sentence that takes longer is waited for too long. */
const MAX_FIRST_SENTENCE_S = 1.5;

/** What a choice depends on. */
export interface Choice {
  readonly dataDir: string;
  /** How a checkpoint's replies were judged, as `HubWriter.rank`. */
  rankOf(manifest: CheckpointManifest): number | null;
  /** How fast a checkpoint is here. Throws where it cannot write. */
  speedOf(manifest: CheckpointManifest): Promise<WriterSpeed>;
  /** Is told, in one plain sentence each, why others were passed over and what was chosen. */
  note(sentence: string): void;
  readonly signal: AbortSignal;
}

/**
 * The name of the installed checkpoint whose replies were judged best, of those that begin one soon enough on this
 * machine, else of the one that comes with Antiphon. One that nobody has judged is never chosen: that it is larger says
 * nothing, and whoever knows better can name it. Throws the signal's reason.
 */
export async function chooseCheckpoint({ dataDir, rankOf, speedOf, note, signal }: Choice): Promise<string> {
  const better: { readonly manifest: CheckpointManifest; readonly rank: number }[] = [];
  for (const manifest of await installedOwn(dataDir)) {
    const rank = rankOf(manifest);
    if (rank !== null && rank > 0) better.push({ manifest, rank });
    else note(`${manifest.name} is skipped: ${rank === null ? NOT_JUDGED : NO_BETTER}.`);
  }
  for (const { manifest } of better.sort((one, other) => other.rank - one.rank)) {
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

const NOT_JUDGED =
  "nobody has judged whether its replies are better; to write with it, set writer.checkpoint to its name";
const NO_BETTER = `its replies were judged to be no better than those of ${DEFAULT_WRITER}`;

/** What was pulled and can be used, by name. */
async function installedOwn(dataDir: string): Promise<CheckpointManifest[]> {
  const own = (await ownManifests(dataDir)).flatMap(({ manifest }) => manifest ?? []);
  const states = await Promise.all(own.map((manifest) => inspectCheckpoint(manifest, dataDir)));
  return own
    .filter((_, at) => states[at]?.state === "installed")
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** `0.8 s` */
export function shown(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}

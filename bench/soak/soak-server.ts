import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startHearingServer } from "../hearing/hearing-server.ts";
import { MALLOC, startServerProcess } from "../load/server-process.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { TOP } from "../top.ts";

/**
 * Starts a server as in production, with a voice `anna` in its settings. `problem` says why it has no recogniser.
 *
 * @param folder for its settings, and for the memory of its threads
 */
export async function startSoakServer(folder: string) {
  const config = join(folder, "settings.json");
  const anna = { clip: join(TOP, "docs", "samples", "earlier-turn-bright.mp3") };
  await writeFile(config, JSON.stringify({ logLevel: "warn", voices: { anna } }));
  const preload = pathToFileURL(join(TOP, "dist", "bench", "soak", "thread-memory.js"));
  // Threads with `execArgv: []` ignore `--import`, but not NODE_OPTIONS.
  const environment = [...MALLOC, `NODE_OPTIONS=--import=${preload}`, `THREAD_MEMORY_FOLDER=${folder}`];
  const main = join(TOP, "dist", "src", "cli", "main.js");
  const args = [...environment, process.execPath, main, "serve", "--no-pull", "--config", config];
  // Its own process group: Ctrl-C ends only the load.
  const serve = { command: "env", args, cwd: TOP, isWrapper: true };
  try {
    return { ...(await startHearingServer({ serve })), problem: null };
  } catch (error) {
    if (!(error instanceof NotMeasuredError)) throw error;
    return { ...(await startServerProcess({ serve })), problem: error.message };
  }
}

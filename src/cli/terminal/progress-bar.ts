import type { SingleBar } from "cli-progress";
import type { Screen } from "./command-io.ts";

/** Makes a bar on a terminal, which it leaves clean. @param format holds no text of others */
export async function progressBar(stream: Screen, format: string): Promise<SingleBar> {
  const { SingleBar: Bar, Presets } = await import("cli-progress");
  const looks = { hideCursor: true, clearOnComplete: true, stopOnComplete: false, gracefulExit: false };
  return new Bar({ stream: stream.raw ?? stream, format, ...looks }, Presets.shades_classic);
}

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Tells how much of a wheel lies in the folder that pip works in, in bytes, whenever that has changed. Not every pip says
 * how far it is, and none in the same way; what it has written can be seen. `lookMs` is the time between two looks.
 *
 * @returns ends it
 */
export function watchWheel(folder: string, lookMs: number, tell: (doneBytes: number) => void): () => void {
  let toldBytes = 0;
  let isOver = false;
  const look = async (): Promise<void> => {
    const bytes = await largestWheel(folder);
    if (isOver) return;
    if (bytes !== toldBytes) tell(bytes);
    toldBytes = bytes;
    timer = setTimeout(look, lookMs);
  };
  let timer = setTimeout(look, lookMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** The larger of two counts: pip downloads into a folder of its own, and copies from there. */
async function largestWheel(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const wheels = names.filter((name) => name.endsWith(".whl"));
  // One may go between the two calls.
  const sizes = wheels.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return Math.max(0, ...(await Promise.all(sizes)));
}

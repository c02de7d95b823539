import { lookOverCheckpoint } from "../engines/codec-lm/look-over.ts";

/** Prints what is in a checkpoint's folder, and what is wrong with it. @throws Error when something is */
export async function checkCheckpoint(
  folder: string,
  { isFull, signal }: { readonly isFull: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { facts, problems } = await lookOverCheckpoint(folder, {
    numbers: isFull ? "all" : "sample",
    signal,
  });
  for (const line of [...facts, ...problems]) process.stdout.write(`${line}\n`);
  if (problems.length === 0) process.stdout.write("Everything that it needs is there.\n");
  else
    throw new Error(
      `${problems.length} ${problems.length === 1 ? "thing is" : "things are"} wrong with ${folder}`,
    );
}

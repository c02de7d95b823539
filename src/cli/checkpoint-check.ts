import { lookOverCheckpoint } from "../engines/codec-lm/validate-checkpoint.ts";
import type { CommandIo } from "./terminal/command-io.ts";

interface CheckOptions extends Pick<CommandIo, "stdout"> {
  /** Looks at every number of the weights. */
  readonly isFull: boolean;
  readonly signal: AbortSignal;
}

/** Prints what is in a checkpoint's folder, and what is wrong with it. @throws Error when something is */
export async function checkCheckpoint(
  folder: string,
  { isFull, stdout, signal }: CheckOptions,
): Promise<void> {
  const { facts, problems } = await lookOverCheckpoint(folder, {
    numbers: isFull ? "all" : "sample",
    signal,
  });
  for (const line of [...facts, ...problems]) stdout.write(`${line}\n`);
  if (problems.length === 0) stdout.write("Everything that it needs is there.\n");
  else
    throw new Error(
      `${problems.length} ${problems.length === 1 ? "thing is" : "things are"} wrong with ${folder}`,
    );
}

import { createInterface } from "node:readline/promises";
import { megabytes } from "../../models/download/disk.ts";
import type { LicenceQuestion } from "../../models/download/hub/accepted-licences.ts";
import type { CommandIo } from "./command-io.ts";
import { onOneLine, safeText } from "./safe-screen.ts";

/** How a licence is accepted. */
export interface LicenceOptions {
  /** Said beforehand: `--accept-licence`. */
  readonly isAccepted: boolean;
  /** Where a person is asked: on standard error, to answer on standard input. */
  readonly io: Pick<CommandIo, "stdin" | "stderr">;
  readonly signal: AbortSignal;
}

/**
 * Shows a licence, and whether it is accepted: by the flag, or by a person at a terminal who says yes.
 *
 * @throws Error with the remedy, where there is neither; the signal's reason.
 */
export async function askLicence(
  { repository, licence, licenceUrl, file, sizeBytes }: LicenceQuestion,
  { isAccepted, signal, io: { stdin: input, stderr: output } }: LicenceOptions,
): Promise<boolean> {
  const asked = `${repository} (${file}, ${megabytes(sizeBytes)}): licence ${licence}, ${licenceUrl}`;
  const shown = onOneLine(output, asked);
  if (isAccepted) {
    output.write(`${shown}; accepted with --accept-licence.\n`);
    return true;
  }
  if (input.isTTY !== true || output.isTTY !== true) {
    throw new Error(
      `The licence of ${shown} has yet to be accepted: read it, then run this again with --accept-licence. Nothing was fetched.`,
    );
  }
  const prompt = createInterface({ input, output: output.raw ?? output });
  try {
    const answer = await prompt.question(`${safeText(shown)}.\nDo you accept it? [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    prompt.close();
  }
}

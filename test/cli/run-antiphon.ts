import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

/** A command that has not ended by then is killed: its code is then -1. */
const DEADLINE_MS = 120_000;

/** What a finished command left behind. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `antiphon` as its own process, without the `ANTIPHON_…` variables of the caller. */
export function runAntiphon(
  line: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ANTIPHON_"));
  return new Promise((resolve) => {
    const options = {
      env: { ...Object.fromEntries(inherited), ...env },
      timeout: DEADLINE_MS,
      killSignal: "SIGKILL" as const,
    };
    const child = execFile(process.execPath, [MAIN, ...line], options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

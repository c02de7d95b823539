import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after } from "node:test";
import { killChildren, launch } from "../children.ts";
import { within } from "../waiting.ts";
import { TOP, temporaryFolder } from "./folders.ts";

/** How a program is run, beside its arguments. */
export interface ProgramOptions {
  /** The checkout whose build is run. */
  readonly top?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A line of shell that is run first, such as `ulimit -f 100`. */
  readonly before?: string;
}

/** What a finished program left behind. */
export interface Finished {
  readonly code: number | null;
  /** Standard output, as it is and as text. */
  readonly bytes: Buffer;
  readonly stdout: string;
  readonly stderr: string;
}

// A test that fails or is cut off must not leave its children behind, nor wait for them to end.
after(killChildren);

/** Starts the built `antiphon` with a home of its own and none of the caller's settings. */
export function launchAntiphon(line: readonly string[], options: ProgramOptions = {}): ChildProcess {
  const { top = TOP, cwd = temporaryFolder(), env = {}, before } = options;
  const program = [process.execPath, join(top, "dist/src/cli/main.js"), ...line];
  const [command, ...args] =
    before === undefined ? program : ["bash", "-c", `${before}; exec "$@"`, "bash", ...program];
  return launch(command!, args, { cwd, env: { ...newcomersEnvironment(), ...env } });
}

/** Runs the built `antiphon` to its end. Whatever stands in `input` is its standard input. */
export async function antiphon(
  line: readonly string[],
  options: ProgramOptions & { readonly input?: string | Uint8Array } = {},
): Promise<Finished> {
  const child = launchAntiphon(line, options);
  child.stdin?.end(options.input ?? "");
  return within(`the end of antiphon ${line[0]}`, finished(child), { deadlineMs: 120_000 });
}

/** Waits for a process to end and for all that it printed. */
export async function finished(child: ChildProcess): Promise<Finished> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  const bytes = Buffer.concat(stdout);
  return { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(stderr).toString() };
}

/** All that a newcomer's shell has: a path, and an empty home. */
export function newcomersEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: temporaryFolder() };
}

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after } from "node:test";
import { killChildren, launch } from "../children.ts";
import { within } from "../waiting.ts";
import { TOP, temporaryFolder } from "./folders.ts";

export interface ProgramOptions {
  readonly top?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A line of shell to run first, such as `ulimit -f 100`. */
  readonly before?: string;
}

export interface Finished {
  readonly code: number | null;
  readonly bytes: Buffer;
  readonly stdout: string;
  readonly stderr: string;
}

// A failed test leaves no children behind, nor waits for them.
after(killChildren);

/** Starts the built `antiphon` with an empty home and none of the caller's settings. */
export function launchAntiphon(line: readonly string[], options: ProgramOptions = {}): ChildProcess {
  const { top = TOP, cwd = temporaryFolder(), env = {}, before } = options;
  const program = [process.execPath, join(top, "dist/src/cli/main.js"), ...line];
  const [command, ...args] =
    before === undefined ? program : ["bash", "-c", `${before}; exec "$@"`, "bash", ...program];
  return launch(command!, args, { cwd, env: { ...newcomersEnvironment(), ...env } });
}

export async function antiphon(
  line: readonly string[],
  options: ProgramOptions & { readonly input?: string | Uint8Array } = {},
): Promise<Finished> {
  const child = launchAntiphon(line, options);
  child.stdin?.end(options.input ?? "");
  return within(`the end of antiphon ${line[0]}`, finished(child), { deadlineMs: 120_000 });
}

export async function finished(child: ChildProcess): Promise<Finished> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  const bytes = Buffer.concat(stdout);
  return { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(stderr).toString() };
}

/** Returns an environment with only a path and an empty home. */
export function newcomersEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: temporaryFolder() };
}

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { within } from "../waiting.ts";
import { temporaryFolder } from "./folders.ts";
import { type Finished, finished, launchAntiphon, type ProgramOptions } from "./program.ts";

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly dataDir: string;
  /** The key that it printed, or "". */
  readonly key: string;
  stdout(): string;
  stderr(): string;
  stop(signal?: NodeJS.Signals): Promise<Finished>;
  readonly ended: Promise<Finished>;
}

export interface ServeOptions extends ProgramOptions {
  readonly dataDir?: string;
  readonly flags?: readonly string[];
}

/** Avoids pulling and loading the weights of writers and recognisers. */
export const WITHOUT_MODELS = { ANTIPHON_WRITER_KIND: "none", ANTIPHON_RECOGNISER_KIND: "none" };

/** Starts `antiphon serve` on a free port with one thread, and waits until it listens. */
export async function startServerProcess(options: ServeOptions = {}): Promise<ServerProcess> {
  const { dataDir = join(temporaryFolder(), "data"), flags = [] } = options;
  const line = ["serve", "--port", "0", "--data-dir", dataDir, ...flags];
  const env = { ...WITHOUT_MODELS, ANTIPHON_WORKERS: "1", ANTIPHON_LOG_LEVEL: "warn", ...options.env };
  const child = launchAntiphon(line, { ...options, env });
  return listening(child, dataDir);
}

/** Waits until a child listens and has printed everything that it prints then. */
export async function listening(child: ChildProcess, dataDir: string): Promise<ServerProcess> {
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    err += chunk;
  });
  const ended = finished(child);
  const isUp = () => /listening on .*\n/.test(out) && (!out.includes("API key") || /\.wav\n/.test(out));
  while (!isUp()) {
    const sign = Promise.race([once(child.stdout!, "data"), ended]);
    const over = await within("the server to listen", sign, { deadlineMs: 120_000 });
    if (!Array.isArray(over) && !isUp()) throw new Error(`the server ended with ${over.code}:\n${out}${err}`);
  }
  return {
    child,
    dataDir,
    url: /listening on (http:\S+)/.exec(out)?.[1] ?? "",
    key: /API key, shown this once: (\S+)/.exec(out)?.[1] ?? "",
    stdout: () => out,
    stderr: () => err,
    ended,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return within("the server's end", ended, { deadlineMs: 60_000 });
    },
  };
}

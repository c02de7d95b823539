import { Readable, Writable } from "node:stream";
import { runProgram } from "../../src/cli/program.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import type { Finished } from "../e2e/program.ts";
import { within } from "../waiting.ts";

export interface ShellOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/**
 * Runs `antiphon` in this process, without the caller's `ANTIPHON_…` variables, and by default in a new data
 * directory.
 */
export async function runAntiphon(
  args: readonly string[],
  { env = {}, input = "" }: ShellOptions = {},
): Promise<Finished> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ANTIPHON_"));
  const isPlaced = args.includes("--data-dir") || args.includes("--config");
  const own = isPlaced ? {} : { ANTIPHON_DATA_DIR: temporaryFolder() };
  const [stdout, stderr] = [new Collected(), new Collected()];
  const code = await within(
    `the end of antiphon ${args[0]}`,
    runProgram(args, {
      env: { ...Object.fromEntries(inherited), ...own, ...env },
      stdin: Readable.from([Buffer.from(input)]),
      stdout,
      stderr,
    }),
    { deadlineMs: 120_000 },
  );
  const bytes = stdout.bytes();
  return { code, bytes, stdout: bytes.toString(), stderr: stderr.bytes().toString() };
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

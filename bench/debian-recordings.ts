import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { NotMeasuredError } from "./not-measured-error.ts";
import type { Pythons } from "./python.ts";
import type { Piece } from "./reference-recipes.ts";
import { CACHE } from "./top.ts";

/** A WAV that is to be made: 16 kHz, mono, 16-bit. */
export interface WantedRecording {
  /** Its name in the folder, without `.wav`; no two alike. */
  readonly name: string;
  /** The Debian package that has it. */
  readonly package: string;
  /** Joined in this order. */
  readonly pieces: readonly Piece[];
}

/**
 * Recordings that are no part of the repository: Debian's packages have them, and this fetches and cuts them into a folder
 * of `bench/.cache` at the first use, and again when what is wanted has changed.
 *
 * @returns the folder
 * @throws NotMeasuredError when there is no apt-get, or a package cannot be had or has other files.
 */
export async function debianRecordings(
  folderName: string,
  wanted: readonly WantedRecording[],
  python: Pythons,
  note: (text: string) => void,
): Promise<string> {
  const folder = join(CACHE, folderName);
  const madeFrom = join(folder, "recipes.json");
  const recipes = JSON.stringify(wanted);
  if (existsSync(madeFrom) && (await readFile(madeFrom, "utf8")) === recipes) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await make(folder, wanted, python, note);
  await writeFile(madeFrom, recipes);
  return folder;
}

async function make(
  folder: string,
  wanted: readonly WantedRecording[],
  python: Pythons,
  note: (text: string) => void,
): Promise<void> {
  const packages = [...new Set(wanted.map((recording) => recording.package))];
  const unpacked = await mkdtemp(join(CACHE, "packages-"));
  try {
    const joiner = await python.start("references.py");
    try {
      note(`fetching ${packages.length} Debian packages with recordings (once; 150 to 250 MB)`);
      await run("apt-get", ["download", "--quiet", ...packages], unpacked);
      for (const file of (await readdir(unpacked)).filter((name) => name.endsWith(".deb"))) {
        await run("dpkg", ["-x", file, "."], unpacked);
      }
      for (const { name, pieces } of wanted) {
        const into = join(folder, `${name}.wav`);
        const found = pieces.map((piece) => ({ ...piece, path: join(unpacked, "usr", "share", piece.path) }));
        const answer = await joiner.ask({ pieces: found, into });
        if (typeof answer !== "number") throw new NotMeasuredError(`No ${into}: ${JSON.stringify(answer)}`);
      }
    } finally {
      await joiner.close();
    }
  } finally {
    await rm(unpacked, { recursive: true, force: true });
  }
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  try {
    await promisify(execFile)(command, args, { cwd });
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    const lines = stderr?.trim().split("\n") ?? [];
    const why = lines.find((line) => line.startsWith("E: ")) ?? (lines.at(-1) || message);
    throw new NotMeasuredError(`Recordings cannot be had: ${command}: ${why}`);
  }
}

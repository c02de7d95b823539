import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { NotMeasuredError } from "./not-measured-error.ts";
import type { Pythons } from "./python.ts";
import { type Piece, REFERENCE_RECIPES, type ReferenceRecipe } from "./reference-recipes.ts";
import { CACHE } from "./top.ts";

/** A human speaker in two clips that say different things: 16 kHz, mono, 16-bit. */
export interface Reference
  extends Pick<ReferenceRecipe, "name" | "sex" | "language" | "kind" | "transcript"> {
  /** Path of the WAV to be followed, some 6 to 12 s. */
  readonly clip: string;
  /** Path of a WAV to compare with, some 10 to 20 s. */
  readonly heldOut: string;
}

/**
 * Recordings of people, to measure how far the voice follows them. They are no part of the repository: Debian's
 * packages have them, under the licences that `reference-recipes.ts` names, and this fetches them into `bench/.cache`
 * at the first use.
 *
 * @throws NotMeasuredError when there is no apt-get, or a package cannot be had or has other files.
 */
export async function references(
  python: Pythons,
  note: (text: string) => void,
): Promise<readonly Reference[]> {
  const folder = join(CACHE, "references");
  const madeFrom = join(folder, "recipes.json");
  const wanted = JSON.stringify(REFERENCE_RECIPES);
  if (!existsSync(madeFrom) || (await readFile(madeFrom, "utf8")) !== wanted) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await make(folder, python, note);
    await writeFile(madeFrom, wanted);
  }
  return REFERENCE_RECIPES.map(({ name, sex, language, kind, transcript }) => ({
    ...{ name, sex, language, kind, transcript },
    clip: clipOf(folder, name),
    heldOut: heldOutOf(folder, name),
  }));
}

function clipOf(folder: string, name: string): string {
  return join(folder, `${name}.wav`);
}

function heldOutOf(folder: string, name: string): string {
  return join(folder, `${name}2.wav`);
}

async function make(folder: string, python: Pythons, note: (text: string) => void): Promise<void> {
  const packages = [...new Set(REFERENCE_RECIPES.map((recipe) => recipe.package))];
  const unpacked = await mkdtemp(join(CACHE, "packages-"));
  try {
    const joiner = await python.start("references.py");
    const join16kHz = async (pieces: readonly Piece[], into: string) => {
      const found = pieces.map((piece) => ({ ...piece, path: join(unpacked, "usr", "share", piece.path) }));
      const answer = await joiner.ask({ pieces: found, into });
      if (typeof answer !== "number") throw new NotMeasuredError(`No ${into}: ${JSON.stringify(answer)}`);
    };
    try {
      note(`fetching ${packages.length} Debian packages of recorded speech (once; about 150 MB)`);
      await run("apt-get", ["download", "--quiet", ...packages], unpacked);
      for (const file of (await readdir(unpacked)).filter((name) => name.endsWith(".deb"))) {
        await run("dpkg", ["-x", file, "."], unpacked);
      }
      for (const { name, clip, heldOut } of REFERENCE_RECIPES) {
        await join16kHz(clip, clipOf(folder, name));
        await join16kHz(heldOut, heldOutOf(folder, name));
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
    throw new NotMeasuredError(`The speech of people cannot be had: ${command}: ${why}`);
  }
}

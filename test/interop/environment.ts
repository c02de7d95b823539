import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { lastLines, run } from "./child.ts";

/** EX_UNAVAILABLE of BSD's sysexits. */
export const UNAVAILABLE = 69;

/** The date up to which unpinned dependencies are resolved. */
const AS_OF = "2026-11-22";
/** For packages that need a newer Node. */
const NEWER_NODE = "node@24";
const INSTALL_LIMIT_S = 300;

/** Packages could not be installed. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}

/** The folder in which packages are installed. */
export interface Place {
  readonly folder: string;
  /** Removes the folder unless it is kept. */
  close(): Promise<void>;
}

/** A folder with installed packages, from which scripts run. */
export interface Environment {
  readonly folder: string;
  /** The interpreter and its arguments before the script. */
  readonly command: readonly [string, ...string[]];
}

/** Opens a temporary folder, or one that is kept for the next run. */
export async function openPlace(kept?: string): Promise<Place> {
  if (kept === undefined) {
    const folder = await mkdtemp(join(tmpdir(), "antiphon-interop-"));
    return { folder, close: () => rm(folder, { recursive: true, force: true }) };
  }
  const folder = resolve(kept);
  await mkdir(folder, { recursive: true });
  return { folder, close: async () => {} };
}

/** Creates a Python environment from a `requirements.txt`. Throws {@link UnavailableError} if that fails. */
export async function pythonEnvironment(
  place: Place,
  name: string,
  requirements: string,
): Promise<Environment> {
  const folder = join(place.folder, name);
  const bin = join(folder, "python", process.platform === "win32" ? "Scripts" : "bin");
  const python = join(bin, "python");
  await once(folder, requirements, "requirements.txt", async () => {
    await install("python3", ["-m", "venv", "python"], folder);
    // Bytecode is compiled on import.
    const options = ["--quiet", "--disable-pip-version-check", "--no-compile"];
    await install(python, ["-m", "pip", "install", ...options, "-r", "requirements.txt"], folder);
  });
  return { folder, command: [python] };
}

/** Installs a `package.json` and the Node that it requires. Throws {@link UnavailableError} if that fails. */
export async function nodeEnvironment(place: Place, name: string, packages: string): Promise<Environment> {
  const folder = join(place.folder, name);
  await once(folder, packages, "package.json", async () => {
    const options = ["--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    await install("npm", ["install", ...options, "--before", AS_OF], folder);
  });
  const { engines } = JSON.parse(await readFile(packages, "utf8"));
  const needed = Number(/\d+/.exec(engines?.node ?? "")?.[0] ?? 0);
  if (Number.parseInt(process.versions.node, 10) >= needed) return { folder, command: [process.execPath] };
  const newer = await install("npx", ["--yes", NEWER_NODE, "-p", "process.execPath"], folder);
  return { folder, command: [newer.trim()] };
}

/** Fills a folder unless it has these pins already. */
async function once(folder: string, pins: string, name: string, fill: () => Promise<void>): Promise<void> {
  const done = join(folder, "installed");
  const wanted = await readFile(pins, "utf8");
  if (existsSync(done) && (await readFile(done, "utf8")) === wanted) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await copyFile(pins, join(folder, name));
  await fill();
  await writeFile(done, wanted);
}

/** Returns what was printed. */
async function install(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { cwd, limitS: INSTALL_LIMIT_S }).catch(
    (error: Error) => {
      throw new UnavailableError(`${command} cannot be run: ${error.message}`);
    },
  );
  if (code === 0) return `${stdout}`;
  const end = code === null ? "took too long" : `ended with code ${code}`;
  throw new UnavailableError(`${command} ${args.join(" ")} ${end}:\n${lastLines(`${stdout}\n${stderr}`, 5)}`);
}

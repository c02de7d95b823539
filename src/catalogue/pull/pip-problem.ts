import type { PipSource } from "../checkpoint-manifest.ts";
import { FullDiskError } from "./disk.ts";
import { type PullError, SourceError } from "./pull-error.ts";
import type { PythonEnd } from "./python.ts";

/** What pip prints when it has no way to the index; its last line then claims that there is no such package. */
const NO_NETWORK =
  /connection broken|NewConnectionError|name resolution|Max retries exceeded|Network is unreachable|ConnectTimeout|ProxyError|SSLError|Could not fetch URL/i;

/** What was wrong, in our words, with a pip that failed. */
export function pipProblem(
  { exitCode, stderr }: PythonEnd,
  python: string,
  { package: name, version }: Pick<PipSource, "package" | "version">,
  path: string,
): SourceError | PullError {
  if (/No module named '?pip/.test(stderr)) {
    return new SourceError(
      `${python} has no pip: install it (on Debian and Ubuntu: apt install python3-pip)`,
    );
  }
  if (/No space left on device|Errno 28|Disk quota exceeded/.test(stderr)) return new FullDiskError(path);
  if (/DO NOT MATCH THE HASHES|HashMismatch/i.test(stderr)) {
    return new SourceError(`the package index has another file under the name of ${name} ${version}`);
  }
  if (NO_NETWORK.test(stderr)) {
    return new SourceError(
      "the package index cannot be reached: look at the network, or at pip's index settings",
    );
  }
  if (/No matching distribution|Could not find a version/.test(stderr)) {
    return new SourceError(`the package index cannot be reached, or does not have ${name} ${version}`);
  }
  if (exitCode === null) return new SourceError("pip was killed");
  const last = stderr.split("\n").findLast((line) => line.trim() !== "");
  return new SourceError(`pip failed${last === undefined ? "" : ` (${last.trim().slice(0, 200)})`}`);
}

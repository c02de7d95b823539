// Builds when there is no build yet, or when something that it is made from is newer.
import { execSync } from "node:child_process";
import { readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";

/** What the compiler knows of its last run. It leaves files alone that come out as they were, this one too. */
const STAMP = "dist/tsconfig.tsbuildinfo";
const SOURCES = ["src", "package.json", "package-lock.json", "tsconfig.json"];

function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const builtMs = statSync(STAMP, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const nowS = Date.now() / 1_000;
if (SOURCES.some((source) => newest(source) > builtMs)) {
  execSync("npm run --silent build", { stdio: "inherit" });
  utimesSync(STAMP, nowS, nowS);
}

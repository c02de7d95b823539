import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { TOP, temporaryFolder } from "./folders.ts";

/** Lists the files of a clone, uncommitted ones included; of an archive, all that is not installed or built. */
function partsOfAClone(): string[] {
  if (existsSync(join(TOP, ".git")))
    return execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: TOP,
      encoding: "utf8",
    })
      .split("\0")
      .filter(Boolean);
  return readdirSync(TOP).filter((name) => !["node_modules", "dist", "shared"].includes(name));
}

/** Not needed by a server. */
const ASIDE = /^(bench|docs|test|training)(\/|$)/;

/** Returns a clone after `npm ci`. */
export function installedClone(): string {
  const clone = temporaryFolder();
  for (const part of partsOfAClone()) {
    if (!ASIDE.test(part) && existsSync(join(TOP, part)))
      cpSync(join(TOP, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(TOP, "node_modules"), join(clone, "node_modules"));
  return clone;
}

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The top of the repository: the folder above the compiled program that has the package's manifest. */
export const TOP = above(dirname(fileURLToPath(import.meta.url)));

/** Where what is fetched and built for measurements stays; not part of the repository. */
export const CACHE = join(TOP, "bench", ".cache");

/** The document that keeps the table. */
export const PERFORMANCE = join(TOP, "docs", "performance.json");

function above(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : above(dirname(folder));
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TOP } from "../architecture/top.ts";

/** Reads a JSON file of `test/golden/writers`. */
export function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(join(TOP, "test/golden/writers", name), "utf8")) as T;
}

import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LibraryMemory } from "../library-process.ts";
import type { Row } from "../row.ts";

const PROGRAM = fileURLToPath(new URL("../library-process.js", import.meta.url));
/** It is not made: speaking needs none. */
const DATA_DIR = join(tmpdir(), "antiphon-bench-none");

/**
 * Readings one second and four collections after each `close()`; the last once more with glibc's thresholds
 * at 64 kB.
 */
export const libraryMemory: Row = {
  id: "library-memory",
  what: "resident memory of a Node program that opens Antiphon, speaks and closes it, five times: before; speaking; after the first and the last `close()`; the last with glibc's thresholds fixed",
  goal: "after the first ≤ 220 MB, after the last no more than speaking (within 15 %)",
  async measure({ isQuick }) {
    const times = isQuick ? 2 : 5;
    const { before, speaking, closed } = measured(times, {});
    const fixed = { MALLOC_MMAP_THRESHOLD_: "65536", MALLOC_TRIM_THRESHOLD_: "65536" };
    const trimmed = measured(times, fixed).closed.at(-1)!;
    const [first, last] = [closed[0]!, closed.at(-1)!];
    const all = [before, speaking, first, last, trimmed].map((mb) => mb.toFixed(0));
    return {
      measured: `${all[0]} MB; ${all[1]} MB; ${all[2]} MB, ${all[3]} MB; ${all[4]} MB`,
      isMet: first <= 220 && last <= 1.15 * speaking,
    };
  },
};

function measured(times: number, env: Readonly<Record<string, string>>): LibraryMemory {
  const line = ["--expose-gc", PROGRAM, DATA_DIR, String(times)];
  const printed = execFileSync(process.execPath, line, {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return JSON.parse(printed) as LibraryMemory;
}

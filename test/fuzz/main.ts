import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import type { Found, FuzzSite } from "./fuzz-thread.ts";
import { randomOf } from "./fuzzer.ts";
import { corpusFolder, TARGETS } from "./targets.ts";

/**
 * `npm run fuzz -- TARGET… [--for 10m] [--seed N]`: tries each target for a time, in a thread that is replaced if it dies or
 * hangs. Inputs that find a fault are added to the corpus.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { for: { type: "string", default: "1m" }, seed: { type: "string" } },
});
const targets = positionals.length === 0 ? Object.keys(TARGETS) : positionals;
const unknown = targets.filter((target) => TARGETS[target] === undefined);
const forMs = msOf(values.for);
const seed = values.seed === undefined ? Date.now() | 0 : Number(values.seed);
if (unknown.length > 0 || forMs === null || !Number.isInteger(seed)) {
  console.error(
    `Call it as npm run fuzz -- TARGET… [--for 10m] [--seed N], where a target is one of ${Object.keys(TARGETS).join(", ")}.`,
  );
  process.exit(2);
}

const HANG_MS = 20_000;
const LOOK_MS = 200;

let isClean = true;
for (const target of targets) isClean = (await fuzz(target, seed, forMs)) && isClean;
process.exit(isClean ? 0 : 1);

/** @returns whether no fault was found */
async function fuzz(target: string, first: number, durationMs: number): Promise<boolean> {
  const endMs = performance.now() + durationMs;
  const seen = new Set<string>();
  let tried = 0;
  let next = first;
  const found = async (one: Found): Promise<void> => {
    // A fault is often found again.
    const key = one.what.replaceAll(/\d+/g, "#").slice(0, 400);
    if (seen.has(key)) return;
    seen.add(key);
    console.log(`${target}, seed ${one.seed}${await kept(target, one.seed)}:\n${one.what}`);
  };
  while (performance.now() < endMs) {
    const trying = new Int32Array(new SharedArrayBuffer(8));
    const site: FuzzSite = { target, seed: next, trying };
    const worker = new Worker(new URL("./fuzz-thread.js", import.meta.url), {
      workerData: site,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    worker.stderr.resume();
    let death: string | null = null;
    worker.on("message", (one: Found) => void found(one));
    worker.on("error", (error) => {
      death = `the thread died: ${error.message}`;
    });
    worker.once("exit", () => {
      death ??= "the thread ended";
    });
    let lastCount = 0;
    let sinceMs = performance.now();
    while (death === null && performance.now() < endMs) {
      await pause(LOOK_MS);
      const count = Atomics.load(trying, 1);
      if (count !== lastCount) sinceMs = performance.now();
      else if (performance.now() - sinceMs > HANG_MS) death = `it hangs for over ${HANG_MS} ms`;
      lastCount = count;
    }
    tried += Atomics.load(trying, 1);
    next = (Atomics.load(trying, 0) + 1) | 0;
    if (death !== null) await found({ seed: next - 1, what: death });
    await worker.terminate();
  }
  console.log(`${target}: ${tried} inputs from seed ${first} on, ${seen.size} faults found`);
  return seen.size === 0;
}

/** Adds an input of bytes to the corpus. @returns its path, for the message */
async function kept(target: string, of: number): Promise<string> {
  const { make } = await TARGETS[target]!();
  if (make === undefined) return "";
  const input = make(randomOf(of));
  const folder = corpusFolder(target);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, createHash("sha256").update(input).digest("hex").slice(0, 16));
  writeFileSync(file, input);
  return `, kept as ${relative(process.cwd(), file)}`;
}

function msOf(duration: string): number | null {
  const [, count, unit] = /^(\d+)([smh])$/.exec(duration) ?? [];
  if (count === undefined || unit === undefined) return null;
  return Number(count) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as "s" | "m" | "h"];
}

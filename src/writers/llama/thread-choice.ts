import { cpus } from "node:os";

/** On how many threads a model may compute. */
export interface ThreadOptions {
  /** At most; 0 is one for each core that computes. */
  readonly threads: number;
  /** Whether nobody is spoken to just now. While somebody is, one thread computes, and speech has the other cores. */
  readonly isQuiet: () => boolean;
}

/** The part of llama.cpp's instance that says how many threads there are for all models of the process. */
interface Threaded {
  maxThreads: number;
}

/** What one kind of work has shown. */
interface Experience {
  /** Milliseconds a token, lately: on one thread and on all. */
  oneMs: number | null;
  allMs: number | null;
  /** Until then one thread is taken, since all were no faster. */
  oneUntilMs: number;
  /** When all were last taken. */
  tookAllMs: number;
}

/** What is known of the time, and of the cores. */
interface Surroundings {
  nowMs(): number;
  readonly idle: Pick<IdleCores, "begin" | "sinceBegin">;
}

/**
 * Chooses for each decoding whether one thread computes or all: all while it is quiet, the other cores are idle, and
 * they are the faster. Threads wait for each other at every layer: beside other work several are a hundred times slower
 * than one, so nothing is tried where there is some. Reading and writing are compared each for itself. How many
 * compute changes nothing of what is computed: a row of a matrix is one thread's work.
 */
export class ThreadChoice {
  readonly #llama: Threaded;
  readonly #all: number;
  readonly #isQuiet: () => boolean;
  readonly #around: Surroundings;
  readonly #reading = unexperienced();
  readonly #writing = unexperienced();
  /** How many cores were idle beside one thread, and when that was seen. */
  #idle = { cores: 0, atMs: Number.NEGATIVE_INFINITY };
  /** When the span that is looked at was last added to; it is one of one thread's work without pauses. */
  #spanEndMs = Number.NEGATIVE_INFINITY;

  constructor(
    llama: Threaded,
    all: number,
    isQuiet: () => boolean,
    around: Surroundings = { nowMs: () => performance.now(), idle: new IdleCores() },
  ) {
    this.#llama = llama;
    this.#all = all;
    this.#isQuiet = isQuiet;
    this.#around = around;
  }

  /** Does the work of so many tokens on the threads that suit it now. */
  async during<T>(tokens: number, work: () => Promise<T>): Promise<T> {
    if (this.#all === 1) return work();
    const experience = tokens > 1 ? this.#reading : this.#writing;
    const isQuiet = this.#isQuiet();
    const beganMs = this.#around.nowMs();
    const takesAll = isQuiet && this.#suitsAll(experience, beganMs);
    // One more than is taken, for the gate; where one has to be enough for the model, the gate waits for a piece.
    this.#llama.maxThreads = takesAll ? this.#all + 1 : 1;
    if (!takesAll && beganMs - this.#spanEndMs > GAP_MS) this.#around.idle.begin();
    const done = await work();
    const endedMs = this.#around.nowMs();
    const msPerToken = (endedMs - beganMs) / tokens;
    if (takesAll) this.#learnOfAll(experience, msPerToken, endedMs);
    else this.#look(endedMs);
    // Beside speech one thread is slower than it would be now.
    if (isQuiet && !takesAll) experience.oneMs = mixed(experience.oneMs, msPerToken);
    return done;
  }

  #suitsAll({ oneMs, oneUntilMs, tookAllMs }: Experience, nowMs: number): boolean {
    // One thread first, so that there is something to compare all of them with.
    if (oneMs === null || nowMs < oneUntilMs) return false;
    if (nowMs - tookAllMs < FRESH_MS) return true;
    return nowMs - this.#idle.atMs < FRESH_MS && this.#idle.cores >= this.#all - 1 - OTHERS;
  }

  #learnOfAll(experience: Experience, msPerToken: number, nowMs: number): void {
    this.#spanEndMs = Number.NEGATIVE_INFINITY;
    experience.tookAllMs = nowMs;
    experience.allMs = mixed(experience.allMs, msPerToken);
    if (experience.allMs < (experience.oneMs ?? 0)) return;
    // What is remembered is of another time when they are tried again.
    Object.assign(experience, {
      allMs: null,
      tookAllMs: Number.NEGATIVE_INFINITY,
      oneUntilMs: nowMs + ONE_FOR_MS,
    });
    this.#idle = { cores: 0, atMs: Number.NEGATIVE_INFINITY };
  }

  /** How idle the cores were while one thread worked. */
  #look(nowMs: number): void {
    this.#spanEndMs = nowMs;
    const cores = this.#around.idle.sinceBegin();
    if (cores === null) return;
    this.#idle = { cores, atMs: nowMs };
    this.#around.idle.begin();
  }
}

function unexperienced(): Experience {
  return { oneMs: null, allMs: null, oneUntilMs: 0, tookAllMs: Number.NEGATIVE_INFINITY };
}

function mixed(before: number | null, now: number): number {
  return before === null ? now : before + (now - before) / 4;
}

/** After all threads were no faster than one, they are not tried again for so long. */
const ONE_FOR_MS = 20_000;
/** What was seen is believed for so long. */
const FRESH_MS = 2_000;
/** A pause in the work ends the span in which the cores are looked at. */
const GAP_MS = 20;
/** Cores that may be at something else where all are taken. */
const OTHERS = 0.3;

/** Processor time, in milliseconds of one core. */
interface CpuTime {
  readonly idleMs: number;
  readonly totalMs: number;
  readonly cores: number;
}

/** Tells how many cores of the machine had nothing to do, whoever gave the others work. */
class IdleCores {
  #from = cpuTime();

  /** A span of time begins. */
  begin(): void {
    this.#from = cpuTime();
  }

  /** How many cores were idle in the span; `null` while it is too short to tell. */
  sinceBegin(): number | null {
    const now = cpuTime();
    const elapsedMs = (now.totalMs - this.#from.totalMs) / now.cores;
    // The system counts in steps of 10 ms.
    return elapsedMs < 80 ? null : (now.idleMs - this.#from.idleMs) / elapsedMs;
  }
}

function cpuTime(): CpuTime {
  const all = cpus();
  const sum = (of: (times: ReturnType<typeof cpus>[number]["times"]) => number) =>
    all.reduce((total, { times }) => total + of(times), 0);
  return {
    idleMs: sum(({ idle }) => idle),
    totalMs: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
    cores: Math.max(1, all.length),
  };
}

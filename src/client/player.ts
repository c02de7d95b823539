import type { StreamEvent, Word } from "./replies.ts";

/** The rate of everything that is played, in Hz. */
export const SAMPLE_RATE_HZ = 24_000;

/** What a player may be given. */
export interface PlayerOptions {
  /** An `AudioContext` at 24 kHz. Default: that of {@link wakeSound}. */
  readonly context?: SoundContext;
  /** The node that is played into, such as a `GainNode`. Default: the context's destination. */
  readonly destination?: object;
  /** How far ahead the first frame is scheduled: what the network may waver. Default 30. */
  readonly leadMs?: number;
  /** Called some 25 times a second with the seconds heard so far. */
  readonly onPosition?: (seconds: number) => void;
  /** Called as a word begins to be heard, where words are known; also after a jump into it. */
  readonly onWord?: (word: Word, index: number) => void;
  /** Called when everything has been heard, and when it was stopped. */
  readonly onEnd?: () => void;
}

const MAX_LEAD_SAMPLES = 0.32 * SAMPLE_RATE_HZ;
const TICK_MS = 40;

/** Plays a reply without gaps while it comes, and keeps it: to pause, to jump, to hear it again. */
export class Player {
  /** How often a frame came too late. Each time, the next ones are given twice the time. */
  underruns = 0;
  readonly #options: PlayerOptions;
  readonly #context: SoundContext;
  readonly #playback = new PlaybackSchedule();
  readonly #sources = new Set<SoundSource>();
  readonly #frames: Int16Array[] = [];
  #words: Word[] = [];
  #word = -1;
  /** Samples given, the one from which it plays, and the one that is scheduled next. */
  #given = 0;
  #from = 0;
  #next = 0;
  #lead: number;
  #state: "playing" | "paused" | "ended" = "playing";
  #isComplete = false;
  #leave: () => void = () => {};
  #onceEnded: () => void = () => {};
  #ticking: ReturnType<typeof setInterval> | undefined;

  constructor(options: PlayerOptions = {}) {
    this.#options = options;
    this.#context = options.context ?? wakeSound();
    this.#lead = Math.round(((options.leadMs ?? 30) * SAMPLE_RATE_HZ) / 1_000);
  }

  /** `playing` also while it waits for more to come. */
  get state(): "playing" | "paused" | "ended" {
    return this.#state;
  }

  /** Seconds of the reply heard so far. */
  get positionS(): number {
    if (this.#state !== "playing") return this.#next / SAMPLE_RATE_HZ;
    const latency = (this.#context.outputLatency || 0) * SAMPLE_RATE_HZ;
    return this.#sampleAt(this.#now - latency) / SAMPLE_RATE_HZ;
  }

  /** Seconds of the reply that have come. */
  get durationS(): number {
    return this.#given / SAMPLE_RATE_HZ;
  }

  /** Plays a stream, and resolves when it has been heard or stopped. What it throws is thrown at once. */
  async play(events: AsyncIterable<StreamEvent>): Promise<void> {
    const iterator = events[Symbol.asyncIterator]();
    this.#leave = () => void iterator.return?.();
    try {
      for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
        const event = step.value;
        if (event.event === "audio") this.add(event.pcm, event.data.words);
        else if (event.event === "end" && event.data.meta.words) this.#words = [...event.data.meta.words];
      }
    } finally {
      this.#leave = () => {};
      this.complete();
    }
    await new Promise<void>((resolve) => {
      if (this.#state === "ended") resolve();
      else this.#onceEnded = resolve;
    });
  }

  /** Adds a frame, and the words that begin in it. Once it is complete or stopped, nothing more is taken. */
  add(pcm: Int16Array, words: readonly Word[] = []): void {
    if (this.#isComplete) return;
    this.#frames.push(pcm);
    this.#given += pcm.length;
    this.#words.push(...words);
    if (this.#state === "playing") this.#schedule(pcm);
  }

  /** No more frames will come. */
  complete(): void {
    this.#isComplete = true;
    this.#endIfHeard();
  }

  pause(): void {
    if (this.#state === "playing") this.#halt("paused", this.#sampleAt(this.#now));
  }

  /** Goes on after a pause, or plays again from the start after the end. */
  resume(): void {
    if (this.#state === "playing") return;
    if (this.#state === "ended" && this.#next >= this.#given) this.#next = 0;
    this.#state = "playing";
    this.#scheduleRest();
  }

  /** Jumps to a second of what has come. It plays from there, or stays paused there. */
  seek(seconds: number): void {
    const sample = Math.round(Math.min(Math.max(seconds, 0), this.durationS) * SAMPLE_RATE_HZ);
    const state = this.#state;
    this.#halt(state, sample);
    this.#word = -1;
    if (state === "playing") this.#scheduleRest();
    else this.#tick();
  }

  /** Ends it, and leaves the stream that it plays, so that no more of it is generated. */
  stop(): void {
    this.#isComplete = true;
    this.#leave();
    if (this.#state !== "ended") this.#end(0);
  }

  get #now(): number {
    return Math.round(this.#context.currentTime * SAMPLE_RATE_HZ);
  }

  #sampleAt(time: number): number {
    return Math.floor(this.#playback.sampleAt(time) ?? this.#from);
  }

  #scheduleRest(): void {
    const all = new Int16Array(this.#given);
    let at = 0;
    for (const frame of this.#frames) {
      all.set(frame, at);
      at += frame.length;
    }
    if (this.#next < at) this.#schedule(all.subarray(this.#next));
    this.#endIfHeard();
  }

  #schedule(pcm: Int16Array): void {
    const context = this.#context;
    if (this.#playback.isDry(this.#now)) {
      this.underruns++;
      this.#lead = Math.min(2 * this.#lead, MAX_LEAD_SAMPLES);
    }
    const buffer = context.createBuffer(1, pcm.length, SAMPLE_RATE_HZ);
    buffer.getChannelData(0).set(Float32Array.from(pcm, (sample) => sample / 32_768));
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#options.destination ?? context.destination);
    source.onended = () => {
      this.#sources.delete(source);
      this.#endIfHeard();
    };
    source.start(this.#playback.add(this.#next, pcm.length, this.#now, this.#lead) / SAMPLE_RATE_HZ);
    this.#sources.add(source);
    this.#next += pcm.length;
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  #endIfHeard(): void {
    if (this.#isComplete && this.#state === "playing" && this.#sources.size === 0) this.#end(this.#given);
  }

  #end(at: number): void {
    this.#halt("ended", at);
    this.#onceEnded();
    this.#options.onEnd?.();
  }

  /** Silences what is scheduled, and stands at a sample. */
  #halt(state: "playing" | "paused" | "ended", at: number): void {
    for (const source of this.#sources) {
      source.onended = null;
      source.stop();
    }
    this.#sources.clear();
    this.#playback.clear();
    this.#state = state;
    this.#next = this.#from = at;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #tick(): void {
    const seconds = this.positionS;
    this.#options.onPosition?.(seconds);
    const index = this.#words.findLastIndex(({ start }) => start <= seconds);
    if (index === this.#word) return;
    this.#word = index;
    const word = this.#words[index];
    if (word !== undefined) this.#options.onWord?.(word, index);
  }
}

/** What the player uses of an `AudioContext`: any is one. */
export interface SoundContext {
  /** Seconds. */
  readonly currentTime: number;
  /** Seconds from what is computed to what is heard, where the browser tells. */
  readonly outputLatency?: number;
  readonly destination: object;
  createBuffer(channels: number, length: number, sampleRate: number): SoundBuffer;
  createBufferSource(): SoundSource;
  resume(): Promise<void>;
}

/** What it uses of an `AudioBuffer`. */
export interface SoundBuffer {
  getChannelData(channel: number): Float32Array;
}

/** What it uses of an `AudioBufferSourceNode`. */
export interface SoundSource {
  buffer: unknown;
  onended: unknown;
  connect(destination: object): unknown;
  start(atS: number): void;
  stop(): void;
}

let shared: SoundContext | undefined;

/**
 * Opens the sound device, which takes a moment, and returns its context at 24 kHz, the same one every time. Browsers let
 * it sound only after a click or a key was pressed: call it then.
 */
export function wakeSound(): SoundContext {
  const { AudioContext } = globalThis as unknown as {
    AudioContext: new (options: { sampleRate: number }) => SoundContext;
  };
  shared ??= new AudioContext({ sampleRate: SAMPLE_RATE_HZ });
  void shared.resume();
  return shared;
}

/** A time without a gap: which samples sound in it, and from which sample of the context's own time on. */
interface Run {
  readonly at: number;
  readonly from: number;
  to: number;
}

/**
 * When which sample sounds. All times are whole samples, since buffers that begin between two samples do not join without a
 * click.
 */
export class PlaybackSchedule {
  #runs: Run[] = [];

  /** Begins anew: the next sample to be set down is `from`. */
  clear(): void {
    this.#runs = [];
  }

  /**
   * Sets `length` samples from `from` down, right after those before them, and returns when they begin. Where nothing
   * sounds any more, they begin `lead` after `now`.
   */
  add(from: number, length: number, now: number, lead: number): number {
    let run = this.#runs.at(-1);
    if (run === undefined || this.#endOf(run) < now) {
      run = { at: now + lead, from, to: from };
      this.#runs.push(run);
    }
    const at = this.#endOf(run);
    run.to += length;
    return at;
  }

  /** Whether all that was set down has sounded; false where nothing was. */
  isDry(now: number): boolean {
    const last = this.#runs.at(-1);
    return last !== undefined && this.#endOf(last) < now;
  }

  /** The sample that sounds at `now`, or null before the first one does. */
  sampleAt(now: number): number | null {
    const run = this.#runs.findLast(({ at }) => at <= now);
    return run ? Math.min(run.to, run.from + now - run.at) : null;
  }

  #endOf({ at, from, to }: Run): number {
    return at + to - from;
  }
}

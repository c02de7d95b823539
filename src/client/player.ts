import type { StreamEvent, Word } from "./replies.ts";

/** Sample rate of all audio, in Hz. */
export const SAMPLE_RATE_HZ = 24_000;

export interface PlayerOptions {
  /** An `AudioContext` at 24 kHz. Default: that of {@link wakeSound}. */
  readonly context?: SoundContext;
  /** Node to play into, such as a `GainNode`. Default: the context's destination. */
  readonly destination?: object;
  /** Milliseconds of buffering before the first frame, against network jitter. Default 30. */
  readonly leadMs?: number;
  /** Called some 25 times a second with the seconds played so far. */
  readonly onPosition?: (seconds: number) => void;
  /** Called when a word begins to play, if words are known; also after seeking into it. */
  readonly onWord?: (word: Word, index: number) => void;
  /** Called when everything was played or playback was stopped. */
  readonly onEnd?: () => void;
}

const MAX_LEAD_SAMPLES = 0.32 * SAMPLE_RATE_HZ;
const TICK_MS = 40;

/** Plays a reply without gaps while it arrives, and keeps it for pausing, seeking and replaying. */
export class Player {
  /** Frames that arrived too late. After each, the buffering doubles. */
  underruns = 0;
  readonly #options: PlayerOptions;
  readonly #context: SoundContext;
  readonly #playback = new PlaybackSchedule();
  readonly #sources = new Set<SoundSource>();
  readonly #frames: Int16Array[] = [];
  #words: Word[] = [];
  #word = -1;
  /** Samples received, the sample where playback started, and the next one to schedule. */
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

  /** `playing` also while waiting for more audio. */
  get state(): "playing" | "paused" | "ended" {
    return this.#state;
  }

  /** Seconds played so far. */
  get positionS(): number {
    if (this.#state !== "playing") return this.#next / SAMPLE_RATE_HZ;
    const latency = (this.#context.outputLatency || 0) * SAMPLE_RATE_HZ;
    return this.#sampleAt(this.#now - latency) / SAMPLE_RATE_HZ;
  }

  /** Seconds received so far. */
  get durationS(): number {
    return this.#given / SAMPLE_RATE_HZ;
  }

  /** Plays a stream. Resolves when it was played or stopped; throws the stream's error at once. */
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

  /** Adds a frame and the words that begin in it. Ignored after `complete` and `stop`. */
  add(pcm: Int16Array, words: readonly Word[] = []): void {
    if (this.#isComplete) return;
    this.#frames.push(pcm);
    this.#given += pcm.length;
    this.#words.push(...words);
    if (this.#state === "playing") this.#schedule(pcm);
  }

  complete(): void {
    this.#isComplete = true;
    this.#endIfHeard();
  }

  pause(): void {
    if (this.#state === "playing") this.#halt("paused", this.#sampleAt(this.#now));
  }

  /** Resumes after a pause, or plays again from the start. */
  resume(): void {
    if (this.#state === "playing") return;
    if (this.#state === "ended" && this.#next >= this.#given) this.#next = 0;
    this.#state = "playing";
    this.#scheduleRest();
  }

  /** Jumps to a second of the audio received, and keeps playing or stays paused. */
  seek(seconds: number): void {
    const sample = Math.round(Math.min(Math.max(seconds, 0), this.durationS) * SAMPLE_RATE_HZ);
    const state = this.#state;
    this.#halt(state, sample);
    this.#word = -1;
    if (state === "playing") this.#scheduleRest();
    else this.#tick();
  }

  /** Stops, and leaves the stream, which ends its generation. */
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

/** The part of `AudioContext` that the player uses. */
export interface SoundContext {
  /** Seconds. */
  readonly currentTime: number;
  /** Seconds from computing a sample to playing it, where the browser reports it. */
  readonly outputLatency?: number;
  readonly destination: object;
  createBuffer(channels: number, length: number, sampleRate: number): SoundBuffer;
  createBufferSource(): SoundSource;
  resume(): Promise<void>;
}

/** The part of `AudioBuffer` that the player uses. */
export interface SoundBuffer {
  getChannelData(channel: number): Float32Array;
}

/** The part of `AudioBufferSourceNode` that the player uses. */
export interface SoundSource {
  buffer: unknown;
  onended: unknown;
  connect(destination: object): unknown;
  start(atS: number): void;
  stop(): void;
}

let shared: SoundContext | undefined;

/**
 * Opens the audio device, which takes a moment, and returns its shared context at 24 kHz. Call it on a click or key
 * press: browsers allow sound only then.
 */
export function wakeSound(): SoundContext {
  const { AudioContext } = globalThis as unknown as {
    AudioContext: new (options: { sampleRate: number }) => SoundContext;
  };
  shared ??= new AudioContext({ sampleRate: SAMPLE_RATE_HZ });
  void shared.resume();
  return shared;
}

/** Gapless playback: its samples, and when it starts on the context's clock. */
interface Run {
  readonly at: number;
  readonly from: number;
  to: number;
}

/**
 * Schedule of samples. All times are whole samples, since buffers that start between two samples join with a click.
 */
export class PlaybackSchedule {
  #runs: Run[] = [];

  clear(): void {
    this.#runs = [];
  }

  /**
   * Schedules `length` samples from `from` after the previous ones, and returns their start. If playback has run dry,
   * they start `lead` after `now`.
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

  /** Whether everything scheduled was played; false if nothing was. */
  isDry(now: number): boolean {
    const last = this.#runs.at(-1);
    return last !== undefined && this.#endOf(last) < now;
  }

  sampleAt(now: number): number | null {
    const run = this.#runs.findLast(({ at }) => at <= now);
    return run ? Math.min(run.to, run.from + now - run.at) : null;
  }

  #endOf({ at, from, to }: Run): number {
    return at + to - from;
  }
}

import { FRAME_S } from "../../audio/format.ts";
import { abortable } from "../../core/abortable.ts";
import { BusyError, type ModelSetup, type Pace } from "./codec-language-model.ts";
import { type FrameModel, ModelRunner } from "./model-runner.ts";
import { PrefixCache } from "./networks/kv-cache.ts";
import { Sequence, type SequenceState } from "./sequence.ts";

/** Blocks of a prompt read between two frames of other utterances. */
const PREFILL_BLOCKS_PER_TICK: Readonly<Record<Pace, number>> = { realtime: 1, throughput: 4 };
const MAX_PREFIX_BYTES = 256 * 2 ** 20;

/**
 * Computes the frames of several utterances together, in ticks. Each tick reads prompts a little further and computes
 * one frame of every utterance that is waited for. No utterance's frames depend on the others.
 */
export class FrameBatch {
  readonly #model: FrameModel;
  readonly #pace: Pace;
  readonly #runner: ModelRunner;
  readonly #times: TickTimes;
  readonly #sequences = new Set<Sequence>();
  readonly #freeSlots: number[];
  /** Wakes those that wait for room in the batch. */
  readonly #waiting: (() => void)[] = [];
  #running: Promise<void> | null = null;
  #wake = (): void => {};
  #isClosed = false;

  constructor(
    model: FrameModel,
    setup: Pick<ModelSetup, "slots" | "pace" | "maxPrefixBytes">,
    times = new TickTimes(),
  ) {
    const { slots = 1, pace = "throughput", maxPrefixBytes = MAX_PREFIX_BYTES } = setup;
    this.#model = model;
    this.#pace = pace;
    this.#runner = new ModelRunner(model, new PrefixCache(maxPrefixBytes), PREFILL_BLOCKS_PER_TICK[pace]);
    this.#times = times;
    this.#freeSlots = Array.from({ length: slots }, (_, slot) => slot);
  }

  /**
   * Adds an utterance, which starts when a slot is free.
   *
   * @throws as {@link admit} does
   */
  async join(state: SequenceState, signal: AbortSignal, mayWait = false): Promise<Sequence> {
    while (mayWait && this.#isFull()) await this.#nextChange(signal);
    signal.throwIfAborted();
    if (this.#isClosed) throw closedError();
    this.#rejectIfFull();
    const sequence = new Sequence(state, signal, () => this.#wake());
    this.#sequences.add(sequence);
    this.#running ??= this.#run();
    this.#wake();
    return sequence;
  }

  /**
   * Checks ahead of {@link join} whether an utterance would be accepted.
   *
   * @param mayWait whether to wait until it would be
   * @throws BusyError if real time could not be kept; the signal's reason
   */
  async admit(signal: AbortSignal, mayWait = false): Promise<void> {
    while (mayWait && this.#isFull()) await this.#nextChange(signal);
    this.#rejectIfFull();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const sequence of this.#sequences) sequence.fail(closedError());
    this.#wake();
    await this.#running;
  }

  get #activeCount(): number {
    return [...this.#sequences].filter(({ isOver }) => !isOver).length;
  }

  #isFull(): boolean {
    const count = this.#activeCount;
    return this.#pace === "realtime" && count > 0 && this.#times.estimate(count + 1) > FRAME_S * 1_000;
  }

  #rejectIfFull(): void {
    if (!this.#isFull()) return;
    throw new BusyError(
      `With ${this.#activeCount} utterances in progress, another could not be computed in real time.`,
    );
  }

  /** Resolves when an utterance has left or a tick was measured. */
  #nextChange(signal: AbortSignal): Promise<void> {
    return abortable(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && this.#sequences.size > 0) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      // Lets other events (requests for frames, utterances that leave) in first.
      await new Promise((resolve) => setImmediate(resolve));
      this.#assignSlots();
      for (const resolve of this.#waiting.splice(0)) resolve();
      if (!(await this.#tick())) await woken;
    }
    this.#running = null;
    this.#model.backbone.cache.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #assignSlots(): void {
    for (const sequence of this.#sequences) {
      if (!sequence.isOver) continue;
      this.#sequences.delete(sequence);
      if (sequence.slot === null) continue;
      this.#model.backbone.cache.setLength(sequence.slot, 0);
      this.#freeSlots.push(sequence.slot);
      this.#freeSlots.sort((a, b) => a - b);
    }
    for (const sequence of this.#sequences) {
      if (sequence.slot === null) sequence.slot = this.#freeSlots.shift() ?? null;
    }
  }

  async #tick(): Promise<boolean> {
    const awaited = [...this.#sequences].filter((sequence) => sequence.slot !== null && sequence.isWaiting);
    const reading = awaited.filter((sequence) => !sequence.isPrefilled);
    const live = awaited.filter((sequence) => sequence.isPrefilled);
    if (reading.length > 0) await this.#runner.prefill(reading, live.length > 0);
    const begunAt = performance.now();
    const speaking = await this.#runner.stepBackbone(live);
    // Sequences whose prompts were completed in this tick take part at once.
    await this.#runner.sampleFrames([
      ...speaking,
      ...reading.filter((sequence) => sequence.isPrefilled && !sequence.isOver),
    ]);
    if (live.length > 0 && reading.length === 0) this.#times.record(live.length, performance.now() - begunAt);
    return awaited.length > 0;
  }
}

function closedError(): Error {
  return new Error("The model was closed.");
}

/** Weight of the newest tick in the moving average. */
const SMOOTHING = 0.2;
/** Assumed growth of a tick per further utterance until it is measured. */
const ASSUMED_GROWTH = 0.25;

export class TickTimes {
  readonly #averagesMs: number[] = [];

  record(count: number, ms: number): void {
    const before = this.#averagesMs[count] ?? ms;
    this.#averagesMs[count] = before + SMOOTHING * (ms - before);
  }

  /** Returns milliseconds, extrapolated from fewer utterances if not measured; 0 before any measurement. */
  estimate(count: number): number {
    const known = this.#averagesMs[count];
    if (known !== undefined) return known;
    return count === 0 ? 0 : this.estimate(count - 1) * (1 + ASSUMED_GROWTH);
  }
}

import { FRAME_S } from "../../audio/format.ts";
import { abortable } from "../../core/abortable.ts";
import { BusyError, type ModelSetup, type Pace } from "./codec-language-model.ts";
import { type FrameModel, ModelRunner } from "./model-runner.ts";
import { PrefixCache } from "./networks/kv-cache.ts";
import { Sequence, type SequenceState } from "./sequence.ts";

/** Blocks of a prompt that are read between two frames of others. */
const PREFILL_BLOCKS_PER_TICK: Readonly<Record<Pace, number>> = { realtime: 1, throughput: 4 };
/** Of keys and values of prompts that are kept. */
const MAX_PREFIX_BYTES = 256 * 2 ** 20;

/**
 * Computes the frames of several utterances together. Time goes by in ticks: in each, prompts are read a little further,
 * and everybody whose next frame is waited for gets it, by runs of the model's parts for all of them. Nothing that
 * one utterance is given depends on the others.
 */
export class FrameBatch {
  readonly #model: FrameModel;
  readonly #pace: Pace;
  readonly #runner: ModelRunner;
  readonly #times: TickTimes;
  readonly #sequences = new Set<Sequence>();
  readonly #freeSlots: number[];
  /** Of those who wait until one more is not too many. */
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
   * Lets an utterance in. When all slots are taken, it gets the next that is free.
   *
   * @throws what {@link admit} does
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
   * Finds out ahead of {@link join} whether it would let an utterance in.
   *
   * @param mayWait whether it waits until that is so, where the pace is that of real time and would be missed
   * @throws BusyError where it would be missed; the signal's reason
   */
  async admit(signal: AbortSignal, mayWait = false): Promise<void> {
    while (mayWait && this.#isFull()) await this.#nextChange(signal);
    this.#rejectIfFull();
  }

  /** Everybody who is in it fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const sequence of this.#sequences) sequence.fail(closedError());
    this.#wake();
    await this.#running;
  }

  get #activeCount(): number {
    return [...this.#sequences].filter(({ isOver }) => !isOver).length;
  }

  /** Whether the pace is that of real time, and with one more would be missed. */
  #isFull(): boolean {
    const count = this.#activeCount;
    return this.#pace === "realtime" && count > 0 && this.#times.estimate(count + 1) > FRAME_S * 1_000;
  }

  #rejectIfFull(): void {
    if (!this.#isFull()) return;
    throw new BusyError(
      `With ${this.#activeCount} being spoken already, one more would not be spoken as fast as it is heard.`,
    );
  }

  /** Resolves when somebody has left, or a tick was measured. */
  #nextChange(signal: AbortSignal): Promise<void> {
    return abortable(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && this.#sequences.size > 0) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      // What has come in meanwhile (another frame that is waited for, somebody who leaves) is seen first.
      await new Promise((resolve) => setImmediate(resolve));
      this.#assignSlots();
      for (const resolve of this.#waiting.splice(0)) resolve();
      if (!(await this.#tick())) await woken;
    }
    this.#running = null;
    this.#model.backbone.cache.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Takes the slots of those who left, and gives them to those who wait. */
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

  /** @returns whether there was anything to do */
  async #tick(): Promise<boolean> {
    const awaited = [...this.#sequences].filter((sequence) => sequence.slot !== null && sequence.isWaiting);
    const reading = awaited.filter((sequence) => !sequence.isPrefilled);
    const live = awaited.filter((sequence) => sequence.isPrefilled);
    if (reading.length > 0) await this.#runner.prefill(reading, live.length > 0);
    const begunAt = performance.now();
    const speaking = await this.#runner.stepBackbone(live);
    // Whose prompt was read just now is no later than the others.
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

/** How much a tick that is measured counts beside those before it. */
const SMOOTHING = 0.2;
/** What another utterance is thought to add to a tick, as a share of it, until that was measured. */
const ASSUMED_GROWTH = 0.25;

/** How long a tick takes, by the number of utterances that are spoken in it. */
export class TickTimes {
  /** In milliseconds. */
  readonly #averagesMs: number[] = [];

  record(count: number, ms: number): void {
    const before = this.#averagesMs[count] ?? ms;
    this.#averagesMs[count] = before + SMOOTHING * (ms - before);
  }

  /** In milliseconds; what was never measured is thought from fewer. 0 before anything was. */
  estimate(count: number): number {
    const known = this.#averagesMs[count];
    if (known !== undefined) return known;
    return count === 0 ? 0 : this.estimate(count - 1) * (1 + ASSUMED_GROWTH);
  }
}

import { FRAME_S } from "../../audio/format.ts";
import { abortable } from "../../model/abortable.ts";
import type { Backbone } from "./backbone.ts";
import type { DepthDecoder } from "./depth-decoder.ts";
import type { Frame, FrameDecoder } from "./frame-decoder.ts";
import { BusyError, type Pace, type Setup } from "./model.ts";
import { BLOCK_POSITIONS, PrefixCache } from "./prefix-cache.ts";
import { sampleCode } from "./sampler.ts";
import { Sequence, type SequenceState } from "./sequence.ts";
import { TickTimes } from "./tick-times.ts";

/** The rows that stand for codes at the inputs of the backbone and the depth decoder. */
export interface FrameEmbeddings {
  /** A code at the depth decoder's input: [width]. */
  ofCode(codebook: number, code: number): Float32Array;
  /** A frame at the backbone's input: [width], the caller's own. */
  ofFrame(frame: Frame): Float32Array;
  /** Has what is read for each frame at hand. */
  preload(): Promise<void>;
}

/** A model as far as all kinds of them are alike. */
export interface FrameModel {
  readonly width: number;
  /** Of a sequence at most. */
  readonly positions: number;
  readonly codebooks: number;
  /** Codes of a codebook after the first that may be sampled. */
  readonly codes: number;
  readonly backbone: Backbone;
  readonly depthDecoder: DepthDecoder;
  readonly decoder: FrameDecoder;
  readonly embeddings: FrameEmbeddings;
}

/** Blocks of a prompt that are read between two frames of others. */
const PREFILL_BLOCKS_PER_TICK: Readonly<Record<Pace, number>> = { realtime: 1, throughput: 4 };
/** Of keys and values of prompts that are kept. */
const PREFIX_BYTES = 256 * 2 ** 20;

/**
 * Computes the frames of several utterances together. Time goes by in ticks: in each, prompts are read a little further,
 * and everybody whose next frame is waited for gets it, by runs of the model's parts for all of them. Nothing that
 * one utterance is given depends on the others.
 */
export class FrameBatch {
  readonly #model: FrameModel;
  readonly #pace: Pace;
  readonly #prefixCache: PrefixCache;
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
    setup: Pick<Setup, "places" | "pace" | "prefixBytes">,
    times = new TickTimes(),
  ) {
    const { places = 1, pace = "throughput", prefixBytes = PREFIX_BYTES } = setup;
    this.#model = model;
    this.#pace = pace;
    this.#prefixCache = new PrefixCache(prefixBytes);
    this.#times = times;
    this.#freeSlots = Array.from({ length: places }, (_, slot) => slot);
  }

  /**
   * Lets an utterance in. When all slots are taken, it gets the next that is free.
   *
   * @throws what {@link admit} does
   */
  async join(state: SequenceState, signal: AbortSignal, mayWait = false): Promise<Sequence> {
    while (mayWait && this.#isFull()) await this.#change(signal);
    signal.throwIfAborted();
    if (this.#isClosed) throw closed();
    this.#refuseWhenFull();
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
    while (mayWait && this.#isFull()) await this.#change(signal);
    this.#refuseWhenFull();
  }

  /** Everybody who is in it fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const sequence of this.#sequences) sequence.fail(closed());
    this.#wake();
    await this.#running;
  }

  get #live(): number {
    return [...this.#sequences].filter(({ isOver }) => !isOver).length;
  }

  /** Whether the pace is that of real time, and with one more would be missed. */
  #isFull(): boolean {
    const count = this.#live;
    return this.#pace === "realtime" && count > 0 && this.#times.expected(count + 1) > FRAME_S * 1_000;
  }

  #refuseWhenFull(): void {
    if (!this.#isFull()) return;
    throw new BusyError(
      `With ${this.#live} being spoken already, one more would not be spoken as fast as it is heard.`,
    );
  }

  /** Resolves when somebody has left, or a tick was measured. */
  #change(signal: AbortSignal): Promise<void> {
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
    const awaited = [...this.#sequences].filter((sequence) => sequence.slot !== null && sequence.isAwaited);
    const reading = awaited.filter((sequence) => !sequence.isPrefilled);
    const live = awaited.filter((sequence) => sequence.isPrefilled);
    if (reading.length > 0) await this.#prefill(reading, live.length > 0);
    const begunAt = performance.now();
    const speaking = await this.#stepped(live);
    // Whose prompt was read just now is no later than the others.
    await this.#sampleFrames([
      ...speaking,
      ...reading.filter((sequence) => sequence.isPrefilled && !sequence.isOver),
    ]);
    if (live.length > 0 && reading.length === 0) this.#times.note(live.length, performance.now() - begunAt);
    return awaited.length > 0;
  }

  async #prefill(sequences: readonly Sequence[], areOthersSpeaking: boolean): Promise<void> {
    let left = areOthersSpeaking ? PREFILL_BLOCKS_PER_TICK[this.#pace] : Number.POSITIVE_INFINITY;
    for (const sequence of sequences) {
      while (left > 0 && !sequence.isPrefilled && !sequence.isOver) {
        await this.#failing([sequence], () => this.#prefillBlock(sequence));
        left--;
        // Who came meanwhile, and who leaves, is heard of between two blocks.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Reads one block of a prompt; those of its beginning that the prefix cache has are copied. */
  async #prefillBlock(sequence: Sequence): Promise<void> {
    const { backbone, width } = this.#model;
    const { cache } = backbone;
    const { prompt } = sequence.state;
    const slot = sequence.slot!;
    sequence.blockKeys ??= PrefixCache.keysOf(prompt, width);
    if (cache.lengthOf(slot) === 0) {
      cache.makeRoom(Math.min(prompt.length / width, this.#model.positions));
      // The newest row has to be read for what it gives.
      const whole = Math.ceil(prompt.length / width / BLOCK_POSITIONS) - 1;
      for (const key of sequence.blockKeys.slice(0, whole)) {
        const block = this.#prefixCache.get(key);
        if (block === undefined) break;
        cache.put(slot, cache.lengthOf(slot), block);
        cache.setLength(slot, cache.lengthOf(slot) + BLOCK_POSITIONS);
      }
    }
    const from = cache.lengthOf(slot);
    const rows = prompt.slice(from * width, (from + BLOCK_POSITIONS) * width);
    const { hidden, logits } = await backbone.read(slot, rows);
    const key = sequence.blockKeys[from / BLOCK_POSITIONS];
    if (key !== undefined) this.#prefixCache.set(key, cache.copied(slot, from, BLOCK_POSITIONS));
    if ((from + BLOCK_POSITIONS) * width >= prompt.length) {
      sequence.output = { hidden: hidden.slice(-width), logits };
      sequence.isPrefilled = true;
    }
  }

  /** Has the backbone read the rows of those whose last frame is not read yet. @returns who can go on */
  async #stepped(sequences: readonly Sequence[]): Promise<readonly Sequence[]> {
    const { backbone } = this.#model;
    const behind = sequences.filter((sequence) => sequence.output === null && !sequence.isOver);
    if (behind.length > 0) {
      await this.#failing(behind, async () => {
        for (const sequence of behind) backbone.rowOf(sequence.slot!).set(sequence.row!);
        const all = await backbone.step(behind.map((sequence) => sequence.slot!));
        for (const [at, sequence] of behind.entries()) sequence.output = all[at]!;
      });
    }
    return sequences.filter((sequence) => !sequence.isOver);
  }

  /** Samples the next frame of each, and hands it over with its sound. */
  async #sampleFrames(sequences: readonly Sequence[]): Promise<void> {
    const going: { readonly sequence: Sequence; readonly codes: number[] }[] = [];
    for (const sequence of sequences) {
      await this.#failing([sequence], async () => {
        const { logits } = sequence.output!;
        if (Number.isNaN(logits[0]!)) throw new Error(NO_NUMBERS);
        const code = sequence.state.sampleFirst(logits);
        if (typeof code === "number") going.push({ sequence, codes: [code] });
        else sequence.end(code);
      });
    }
    if (going.length === 0) return;
    const all = going.map(({ sequence }) => sequence);
    await this.#failing(all, async () => {
      await this.#sampleOthers(going);
      await this.#handOver(going.filter(({ sequence }) => !sequence.isOver));
    });
  }

  /** The codes of the other codebooks, one after the other, of all frames together. */
  async #sampleOthers(
    going: readonly { readonly sequence: Sequence; readonly codes: number[] }[],
  ): Promise<void> {
    const { depthDecoder, embeddings, codebooks, codes: known, width } = this.#model;
    for (const [place, { sequence, codes }] of going.entries()) {
      const pair = depthDecoder.pairOf(place);
      pair.set(sequence.output!.hidden);
      pair.set(embeddings.ofCode(0, codes[0]!), width);
    }
    for (let codebook = 1; codebook < codebooks; codebook++) {
      await depthDecoder.step(codebook - 1, going.length);
      for (const [place, { sequence, codes }] of going.entries()) {
        if (sequence.isOver) continue;
        // What goes wrong here is one's own: the others' places are not touched.
        await this.#failing([sequence], async () => {
          const { depthSampler, rng } = sequence.state;
          const logits = depthDecoder.logitsOf(place).subarray(0, known);
          if (Number.isNaN(logits[0]!)) throw new Error(NO_NUMBERS);
          const code = sampleCode(logits, depthSampler, rng);
          codes.push(code);
          if (codebook + 1 < codebooks) depthDecoder.rowOf(place).set(embeddings.ofCode(codebook, code));
        });
      }
    }
  }

  /** Decodes these frames, and gives them to those who wait. */
  async #handOver(going: readonly { readonly sequence: Sequence; readonly codes: Frame }[]): Promise<void> {
    const { decoder, backbone, positions } = this.#model;
    const taken = going.map(({ sequence, codes }) => ({ sequence, codes, ...sequence.state.take(codes) }));
    const heard = taken.filter(({ isHeard }) => isHeard);
    const sounds = await decoder.decodeTogether(
      heard.map(({ sequence, codes }) => ({ stream: sequence.state.sound, codes })),
    );
    for (const each of taken) {
      const { sequence, codes, stop } = each;
      if (sequence.isOver) continue;
      const isFull = backbone.cache.lengthOf(sequence.slot!) >= positions;
      const ending = stop ?? (isFull ? "length" : null);
      if (ending === null) {
        sequence.row = this.#model.embeddings.ofFrame(codes);
        sequence.state.addText?.(sequence.row);
        sequence.output = null;
      }
      const samples = each.isHeard ? sounds[heard.indexOf(each)]! : new Float32Array(0);
      sequence.give({ codes, samples }, ending);
    }
  }

  /** Does some work for these; what it throws is theirs. */
  async #failing(sequences: readonly Sequence[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      for (const sequence of sequences) sequence.fail(error);
    }
  }
}

const NO_NUMBERS = "The scores that the model computes are NaN: its weights are damaged.";

function closed(): Error {
  return new Error("The model was closed.");
}

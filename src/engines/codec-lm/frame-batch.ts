import { FRAME_S } from "../../audio/format.ts";
import { choose } from "./choosing.ts";
import type { FirstStack } from "./first-stack.ts";
import type { Frame, FrameDecoder } from "./frame-decoder.ts";
import type { InnerStack } from "./inner-stack.ts";
import { BusyError, type Pace, type Setup } from "./model.ts";
import { BLOCK_POSITIONS, PrefixBlocks } from "./prefix-blocks.ts";
import { type Member, Seat, type Voicing } from "./seat.ts";
import { TickTimes } from "./tick-times.ts";

/** The rows that stand for codes at the stacks' inputs. */
export interface FrameEmbeddings {
  /** A code at the inner stack's input: [width]. */
  ofCode(codebook: number, code: number): Float32Array;
  /** A frame at the first stack's input: [width], the caller's own. */
  ofFrame(frame: Frame): Float32Array;
  /** Has what is read for each frame at hand. */
  bringNear(): Promise<void>;
}

/** A model as far as all kinds of them are alike. */
export interface FrameModel {
  readonly width: number;
  /** Of a sequence at most. */
  readonly positions: number;
  readonly codebooks: number;
  /** Codes of a codebook after the first that may be chosen. */
  readonly codes: number;
  readonly first: FirstStack;
  readonly inner: InnerStack;
  readonly decoder: FrameDecoder;
  readonly embeddings: FrameEmbeddings;
}

/** Blocks of a prompt that are read between two frames of others. */
const BLOCKS_A_TICK: Readonly<Record<Pace, number>> = { realtime: 1, throughput: 4 };
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
  readonly #prefixes: PrefixBlocks;
  readonly #times = new TickTimes();
  readonly #members = new Set<Seat>();
  readonly #freeSlots: number[];
  #running: Promise<void> | null = null;
  #wake = (): void => {};
  #isClosed = false;

  constructor(model: FrameModel, setup: Pick<Setup, "places" | "pace" | "prefixBytes">) {
    const { places = 1, pace = "throughput", prefixBytes = PREFIX_BYTES } = setup;
    this.#model = model;
    this.#pace = pace;
    this.#prefixes = new PrefixBlocks(prefixBytes);
    this.#freeSlots = Array.from({ length: places }, (_, slot) => slot);
  }

  /**
   * Lets an utterance in. When all places are taken, it gets the next that is free.
   *
   * @throws BusyError where the pace is that of real time, and would be missed
   */
  join(voicing: Voicing, signal: AbortSignal): Member {
    signal.throwIfAborted();
    if (this.#isClosed) throw closed();
    this.refuseUnlessFast();
    const seat = new Seat(voicing, signal, () => this.#wake());
    this.#members.add(seat);
    this.#running ??= this.#run();
    this.#wake();
    return seat;
  }

  /** @throws BusyError where the pace is that of real time, and one more would miss it */
  refuseUnlessFast(): void {
    const count = [...this.#members].filter(({ isOver }) => !isOver).length;
    if (this.#pace !== "realtime" || count === 0) return;
    if (this.#times.expected(count + 1) <= FRAME_S * 1_000) return;
    throw new BusyError(
      `With ${count} being spoken already, one more would not be spoken as fast as it is heard.`,
    );
  }

  /** Everybody who is in it fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const seat of this.#members) seat.fail(closed());
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && this.#members.size > 0) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      // What has come in meanwhile (another frame that is waited for, somebody who leaves) is seen first.
      await new Promise((resolve) => setImmediate(resolve));
      this.#seat();
      if (!(await this.#tick())) await woken;
    }
    this.#running = null;
    this.#model.first.kept.clear();
  }

  /** Takes the places of those who left, and gives them to those who wait. */
  #seat(): void {
    for (const seat of this.#members) {
      if (!seat.isOver) continue;
      this.#members.delete(seat);
      if (seat.slot === null) continue;
      this.#model.first.kept.setLength(seat.slot, 0);
      this.#freeSlots.push(seat.slot);
      this.#freeSlots.sort((a, b) => a - b);
    }
    for (const seat of this.#members) {
      if (seat.slot === null) seat.slot = this.#freeSlots.shift() ?? null;
    }
  }

  /** @returns whether there was anything to do */
  async #tick(): Promise<boolean> {
    const awaited = [...this.#members].filter((seat) => seat.slot !== null && seat.isAwaited);
    const reading = awaited.filter((seat) => !seat.isRead);
    const live = awaited.filter((seat) => seat.isRead);
    if (reading.length > 0) await this.#readPrompts(reading, live.length > 0);
    const begunAt = performance.now();
    const speaking = await this.#stepped(live);
    // Whose prompt was read just now is no later than the others.
    await this.#chooseFrames([...speaking, ...reading.filter((seat) => seat.isRead && !seat.isOver)]);
    if (live.length > 0 && reading.length === 0) this.#times.note(live.length, performance.now() - begunAt);
    return awaited.length > 0;
  }

  async #readPrompts(seats: readonly Seat[], areOthersSpeaking: boolean): Promise<void> {
    let left = areOthersSpeaking ? BLOCKS_A_TICK[this.#pace] : Number.POSITIVE_INFINITY;
    for (const seat of seats) {
      while (left > 0 && !seat.isRead && !seat.isOver) {
        await this.#failing([seat], () => this.#readOn(seat));
        left--;
        // Who came meanwhile, and who leaves, is heard of between two blocks.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Reads one block of a prompt; those of its beginning that are kept are put in their places. */
  async #readOn(seat: Seat): Promise<void> {
    const { first, width } = this.#model;
    const { kept } = first;
    const { prompt } = seat.voicing;
    const slot = seat.slot!;
    seat.blockNames ??= PrefixBlocks.namesOf(prompt, width);
    if (kept.lengthOf(slot) === 0) {
      kept.makeRoom(Math.min(prompt.length / width, this.#model.positions));
      // The newest row has to be read for what it gives.
      const whole = Math.ceil(prompt.length / width / BLOCK_POSITIONS) - 1;
      for (const name of seat.blockNames.slice(0, whole)) {
        const block = this.#prefixes.get(name);
        if (block === undefined) break;
        kept.put(slot, kept.lengthOf(slot), block);
        kept.setLength(slot, kept.lengthOf(slot) + BLOCK_POSITIONS);
      }
    }
    const from = kept.lengthOf(slot);
    const rows = prompt.slice(from * width, (from + BLOCK_POSITIONS) * width);
    const { hidden, logits } = await first.read(slot, rows);
    const name = seat.blockNames[from / BLOCK_POSITIONS];
    if (name !== undefined) this.#prefixes.set(name, kept.copied(slot, from, BLOCK_POSITIONS));
    if ((from + BLOCK_POSITIONS) * width >= prompt.length) {
      seat.newest = { hidden: hidden.slice(-width), logits };
      seat.isRead = true;
    }
  }

  /** Has the first stack read the rows of those whose last frame is not read yet. @returns who can go on */
  async #stepped(seats: readonly Seat[]): Promise<readonly Seat[]> {
    const { first } = this.#model;
    const behind = seats.filter((seat) => seat.newest === null && !seat.isOver);
    if (behind.length > 0) {
      await this.#failing(behind, async () => {
        for (const seat of behind) first.rowOf(seat.slot!).set(seat.row!);
        const all = await first.step(behind.map((seat) => seat.slot!));
        for (const [at, seat] of behind.entries()) seat.newest = all[at]!;
      });
    }
    return seats.filter((seat) => !seat.isOver);
  }

  /** Chooses the next frame of each, and hands it over with its sound. */
  async #chooseFrames(seats: readonly Seat[]): Promise<void> {
    const going: { readonly seat: Seat; readonly codes: number[] }[] = [];
    for (const seat of seats) {
      await this.#failing([seat], async () => {
        const { logits } = seat.newest!;
        if (Number.isNaN(logits[0]!)) throw new Error(NO_NUMBERS);
        const chosen = seat.voicing.chooseFirst(logits);
        if (typeof chosen === "number") going.push({ seat, codes: [chosen] });
        else seat.end(chosen);
      });
    }
    if (going.length === 0) return;
    const all = going.map(({ seat }) => seat);
    await this.#failing(all, async () => {
      await this.#chooseOthers(going);
      await this.#handOver(going.filter(({ seat }) => !seat.isOver));
    });
  }

  /** The codes of the other codebooks, one after the other, of all frames together. */
  async #chooseOthers(going: readonly { readonly seat: Seat; readonly codes: number[] }[]): Promise<void> {
    const { inner, embeddings, codebooks, codes: known, width } = this.#model;
    for (const [place, { seat, codes }] of going.entries()) {
      const pair = inner.pairOf(place);
      pair.set(seat.newest!.hidden);
      pair.set(embeddings.ofCode(0, codes[0]!), width);
    }
    for (let codebook = 1; codebook < codebooks; codebook++) {
      await inner.step(codebook - 1, going.length);
      for (const [place, { seat, codes }] of going.entries()) {
        if (seat.isOver) continue;
        // What goes wrong here is one's own: the others' places are not touched.
        await this.#failing([seat], async () => {
          const { others, draws } = seat.voicing;
          const logits = inner.logitsOf(place).subarray(0, known);
          if (Number.isNaN(logits[0]!)) throw new Error(NO_NUMBERS);
          const code = choose(logits, others, draws);
          codes.push(code);
          if (codebook + 1 < codebooks) inner.rowOf(place).set(embeddings.ofCode(codebook, code));
        });
      }
    }
  }

  /** Decodes these frames, and gives them to those who wait. */
  async #handOver(going: readonly { readonly seat: Seat; readonly codes: Frame }[]): Promise<void> {
    const { decoder, first, positions } = this.#model;
    const taken = going.map(({ seat, codes }) => ({ seat, codes, ...seat.voicing.take(codes) }));
    const heard = taken.filter(({ isHeard }) => isHeard);
    const sounds = await decoder.decodeTogether(
      heard.map(({ seat, codes }) => ({ stream: seat.voicing.sound, codes })),
    );
    for (const each of taken) {
      const { seat, codes, stop } = each;
      if (seat.isOver) continue;
      const isFull = first.kept.lengthOf(seat.slot!) >= positions;
      const ending = stop ?? (isFull ? "length" : null);
      if (ending === null) {
        seat.row = this.#model.embeddings.ofFrame(codes);
        seat.voicing.addBeside?.(seat.row);
        seat.newest = null;
      }
      const samples = each.isHeard ? sounds[heard.indexOf(each)]! : new Float32Array(0);
      seat.give({ codes, samples }, ending);
    }
  }

  /** Does some work for these; what it throws is theirs. */
  async #failing(seats: readonly Seat[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      for (const seat of seats) seat.fail(error);
    }
  }
}

const NO_NUMBERS = "The scores that the model computes are NaN: its weights are damaged.";

function closed(): Error {
  return new Error("The model was closed.");
}

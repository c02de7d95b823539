import type { ServiceError } from "../contract/errors.ts";
import { idleTooLongError, keyFullError, serverFullError, shuttingDownError } from "./capacity-errors.ts";
import { FairQueue, KeyCounter, type Verdict, waitForAdmission } from "./fair-queue.ts";
import { RealTimeBudget } from "./real-time-budget.ts";
import {
  isNew,
  leadS,
  type NewUtterance,
  type QueueEntry,
  REST_MS,
  type SlotUtterance,
  urgency,
} from "./slot-utterance.ts";

export interface UtteranceSlotOptions {
  /** Utterances computed at once. */
  readonly concurrency: number;
  /** Utterances of one key that may be open at once, those without a slot included. */
  readonly keyConcurrency: number;
  /** Requests that may wait for a first slot, in total and per key. */
  readonly queueDepth: number;
  readonly keyQueueDepth: number;
  /** Longest wait for a first slot, in milliseconds. */
  readonly queueWaitMs: number;
  /** Whether every open utterance keeps a slot, so that no more are opened than there are slots. Default: false. */
  readonly keepsSlots?: boolean;
  /** Utterances computed at the same moment. Default: `concurrency`. */
  readonly threads?: number;
  readonly nowMs?: () => number;
}

/** Slot of an utterance. Another utterance may take it over; the next frame then waits for one again. */
export interface Slot {
  /** Marks that nothing is computed: the client has not asked for more, or the text is not there yet. */
  rest(): void;
  /** Gives the slot up at once, although the client asks for more. */
  pause(): void;
  /**
   * Asks to compute a frame. Returns `null` if it may begin, else a promise to wait for, which rejects with the
   * signal's reason. `aheadS`: seconds of audio beyond what a real-time listener has played.
   */
  work(aheadS: number): Promise<void> | null;
  /** Records speech that was handed over. `computeMs`: time that its thread took for it, if known. */
  record(audioS: number, computeMs?: number): void;
  release(): void;
}

/** Lead over its listener, in seconds, from which an utterance lets others go first. */
const AHEAD_S = 1;
/** For each slot two utterances may be open: one computed, one paused. */
const OPEN_PER_SLOT = 2;
/** Rest, in milliseconds, after which an utterance is ended if a newcomer has no room. */
const IDLE_MS = 5_000;
/** Wait, in milliseconds, after which a stream is refused for which the machine is too slow. A burst is served by then. */
const PATIENCE_MS = 600;
/** Interval of checks for resting utterances while others wait, in milliseconds. */
const LOOK_MS = 50;

export const SPEAKING = "utterances being spoken";

/**
 * Decides which utterances are computed, wait, or are refused. An utterance holds a slot only while something is
 * computed: a resting one loses it to one that waits, and so does, between two frames, one that is well ahead of its
 * listener or whose key has more slots than the other's. No client or key can starve others, and a lone one may have
 * everything. Streams are opened only while the measured speed suffices for all that are open.
 */
export class UtteranceSlots {
  readonly #options: UtteranceSlotOptions;
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<QueueEntry>();
  readonly #open = new Set<SlotUtterance>();
  readonly #openBy = new KeyCounter();
  readonly #activeBy = new KeyCounter();
  readonly #budget: RealTimeBudget;
  readonly #keepsSlots: boolean;
  readonly #maxOpen: number;
  #look: NodeJS.Timeout | undefined;
  #isServing = false;
  #isClosed = false;

  constructor(options: UtteranceSlotOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    const { concurrency, threads = concurrency, keepsSlots = false } = options;
    this.#keepsSlots = keepsSlots;
    this.#maxOpen = concurrency * (keepsSlots ? 1 : OPEN_PER_SLOT);
    this.#budget = new RealTimeBudget(threads, keepsSlots);
  }

  get taken(): number {
    return this.#activeBy.total;
  }

  get active(): number {
    return [...this.#open].filter(
      ({ state, restingSinceMs }) => state === "active" && restingSinceMs === null,
    ).length;
  }

  /** Utterances that have begun and wait: for a slot, their client, text, or to be less far ahead. */
  get paused(): number {
    return this.#open.size - this.active;
  }

  get queued(): number {
    return [...this.#queue].filter(isNew).length;
  }

  /** Returns why a further request of the key would be refused at once; `null` if it would not. */
  refusalFor(key: string): ServiceError | null {
    if (this.#isClosed) return shuttingDownError();
    const ofKey = this.#queue.of(key).filter(isNew).length;
    return ofKey > 0 && ofKey >= this.#options.keyQueueDepth ? keyFullError(SPEAKING) : null;
  }

  /**
   * Resolves with a slot. Rejects with a `ServiceError` if too many wait (429 for this key, 502 in total), if the wait
   * is too long, the machine too slow for a further stream or the server stops (502), and with the signal's reason.
   *
   * @param stop ends the utterance if it has rested for long and others have no room
   */
  async enter(
    key: string,
    signal: AbortSignal,
    stop: (reason: ServiceError) => void,
    { isBegun = false, isStreamed = false }: NewUtterance = {},
  ): Promise<Slot> {
    signal.throwIfAborted();
    if (this.#isClosed && !isBegun) throw shuttingDownError();
    const utterance: SlotUtterance = {
      key,
      signal,
      stop,
      isBegun,
      isStreamed,
      state: "new",
      isEnding: false,
      askedMs: this.#nowMs(),
      restingSinceMs: null,
      coming: null,
      entry: null,
      spokenS: 0,
      firstFrameMs: null,
    };
    await this.#turnOf(utterance, this.#options.queueWaitMs);
    return {
      rest: () => {
        utterance.restingSinceMs ??= this.#nowMs();
      },
      pause: () => {
        // The client did not cause this pause, so the utterance is not idle.
        utterance.restingSinceMs = null;
        if (utterance.state !== "active") return;
        this.#pause(utterance);
        this.#serve();
      },
      work: (aheadS) => this.#work(utterance, aheadS),
      record: (audioS, computeMs) => {
        utterance.firstFrameMs ??= this.#nowMs();
        utterance.spokenS += audioS;
        if (computeMs !== undefined) this.#budget.record(audioS, computeMs);
        if (this.#queue.size > 0) this.#serve();
      },
      release: () => this.#leave(utterance),
    };
  }

  /** Refuses requests that wait for a first slot and further ones. Begun utterances continue. */
  close(): void {
    this.#isClosed = true;
    for (const entry of [...this.#queue]) {
      if (isNew(entry) && !entry.utterance.isBegun) entry.refuse(shuttingDownError());
    }
  }

  #work(utterance: SlotUtterance, aheadS: number): Promise<void> | null {
    utterance.restingSinceMs = null;
    if (utterance.coming !== null) return utterance.coming;
    if (utterance.state === "active") {
      if (this.#queue.size === 0 || !this.#shouldYield(utterance, aheadS)) return null;
      this.#pause(utterance);
    }
    const coming = this.#turnOf(utterance).finally(() => {
      utterance.coming = null;
    });
    coming.catch(() => {});
    utterance.coming = coming;
    return coming;
  }

  /** Whether the next admissible utterance has a better claim to the slot. */
  #shouldYield({ key }: SlotUtterance, aheadS: number): boolean {
    for (const next of this.#queue.firsts()) {
      if (this.#verdict(next) !== "take") continue;
      if (aheadS >= AHEAD_S || this.#activeBy.of(key) > this.#activeBy.of(next.key) + 1) return true;
    }
    return false;
  }

  #turnOf(utterance: SlotUtterance, waitMs?: number): Promise<void> {
    const { key, signal } = utterance;
    const limit = waitMs === undefined ? {} : { limit: { waitMs, late: () => serverFullError(SPEAKING) } };
    return waitForAdmission<void>(
      { key, signal, ...limit },
      (waiter) => {
        const entry = { ...waiter, utterance };
        utterance.entry = entry;
        this.#queue.add(key, entry, (other) => urgency(entry) > urgency(other));
        this.#serve();
        if (utterance.state === "new") this.#refuseBeyondDepth(entry);
      },
      () => {
        if (utterance.entry !== null) this.#queue.remove(key, utterance.entry);
        utterance.entry = null;
        this.#serve();
      },
    );
  }

  #refuseBeyondDepth(entry: QueueEntry): void {
    const { queueDepth, keyQueueDepth } = this.#options;
    // A full queue drops the newest request of the key that has most in it.
    if (this.queued > queueDepth) this.#queue.lastOfLongest(isNew)?.refuse(serverFullError(SPEAKING));
    else if (this.#queue.of(entry.key).filter(isNew).length > keyQueueDepth)
      entry.refuse(keyFullError(SPEAKING));
  }

  #serve(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    while (this.#isSomebodyNext() && this.#hasRoom()) {
      const next = this.#queue.next(
        (entry) => this.#verdict(entry),
        ({ key }) => this.#activeBy.of(key),
      );
      // Leads shrink with time, so what could be opened a moment ago may not be any more.
      if (next === undefined) break;
      this.#activate(next.utterance);
      next.admit();
    }
    this.#isServing = false;
    if (this.#queue.size > 0) this.#look ??= setTimeout(() => this.#lookAround(), LOOK_MS);
    else {
      clearTimeout(this.#look);
      this.#look = undefined;
    }
  }

  #activate(utterance: SlotUtterance): void {
    if (utterance.state === "new") {
      this.#open.add(utterance);
      this.#openBy.add(utterance.key, 1);
    }
    utterance.state = "active";
    utterance.restingSinceMs = null;
    this.#activeBy.add(utterance.key, 1);
  }

  #isSomebodyNext(): boolean {
    for (const first of this.#queue.firsts()) if (this.#verdict(first) === "take") return true;
    return false;
  }

  #verdict({ utterance: { key, state } }: QueueEntry): Verdict {
    if (state !== "new") return "take";
    return this.#openBy.of(key) < this.#options.keyConcurrency && this.#mayOpen(key) ? "take" : "pass";
  }

  /** When the maximum is open, a key that has less than its share may still open one. */
  #mayOpen(key: string): boolean {
    const nowMs = this.#nowMs();
    const leadsS = [...this.#open].map((each) => leadS(each, nowMs));
    if (!this.#isFull && this.#budget.canTakeOne(leadsS)) return true;
    const maxOpen = Math.min(this.#maxOpen, this.#budget.speed);
    return !this.#keepsSlots && this.#openBy.of(key) < Math.floor(maxOpen / (this.#openBy.keys + 1));
  }

  get #isFull(): boolean {
    return this.#open.size >= this.#maxOpen;
  }

  /** Whether a slot is free, or can be taken from the utterance that has rested longest. */
  #hasRoom(): boolean {
    if (this.taken < this.#options.concurrency) return true;
    const longest = this.#longestResting(({ state }) => state === "active");
    if (longest === null || this.#nowMs() - longest.restingSinceMs! < REST_MS) return false;
    this.#pause(longest);
    return true;
  }

  #longestResting(isMeant: (utterance: SlotUtterance) => boolean): SlotUtterance | null {
    let longest: SlotUtterance | null = null;
    for (const each of this.#open) {
      if (each.restingSinceMs === null || !isMeant(each)) continue;
      if (longest === null || each.restingSinceMs < longest.restingSinceMs!) longest = each;
    }
    return longest;
  }

  #lookAround(): void {
    this.#look = undefined;
    this.#serve();
    this.#refuseLateStreams();
    if (!this.#isOpeningAwaited()) return;
    for (const { isEnding } of this.#open) if (isEnding) return;
    // Kept slots are never taken over by others, so a resting utterance blocks them.
    const idle = this.#longestResting(({ state }) => this.#keepsSlots || state === "paused");
    if (idle === null || this.#nowMs() - idle.restingSinceMs! < IDLE_MS) return;
    idle.isEnding = true;
    idle.stop(idleTooLongError());
  }

  /** Refuses streams that are too much for the machine, so that their clients can ask another server. */
  #refuseLateStreams(): void {
    // For a slot that others share, a stream waits as long as the settings allow.
    if (this.#isFull && !this.#keepsSlots) return;
    for (const entry of [...this.#queue]) {
      const { isBegun, isStreamed, askedMs } = entry.utterance;
      if (!isNew(entry) || isBegun || !isStreamed || this.#nowMs() - askedMs < PATIENCE_MS) continue;
      if (!this.#mayOpen(entry.key)) entry.refuse(serverFullError(SPEAKING));
    }
  }

  /** Whether a newcomer waits only for another utterance to end. */
  #isOpeningAwaited(): boolean {
    const { keyConcurrency } = this.#options;
    const waits = ({ key }: QueueEntry) => !this.#mayOpen(key) && this.#openBy.of(key) < keyConcurrency;
    return this.#isFull && [...this.#queue.firsts()].some((first) => isNew(first) && waits(first));
  }

  #pause(utterance: SlotUtterance): void {
    utterance.state = "paused";
    this.#activeBy.add(utterance.key, -1);
  }

  #leave(utterance: SlotUtterance): void {
    if (!this.#open.delete(utterance)) return;
    this.#openBy.add(utterance.key, -1);
    if (utterance.state === "active") this.#activeBy.add(utterance.key, -1);
    utterance.entry?.refuse(new Error("the slot was given back"));
    this.#serve();
  }
}

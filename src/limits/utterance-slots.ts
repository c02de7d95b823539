import type { ServiceError } from "../contract/errors.ts";
import { idleTooLongError, keyFullError, serverFullError, shuttingDownError } from "./capacity-errors.ts";
import { FairQueue, KeyCounter, type Verdict, type Waiter, waitForAdmission } from "./fair-queue.ts";

export interface UtteranceSlotOptions {
  /** Utterances computed at once. */
  readonly concurrency: number;
  /** Utterances of one key that may be open at once, those that gave their slot up among them. */
  readonly keyConcurrency: number;
  /** Requests that may wait for a first slot: of everybody, and of one key. */
  readonly queueDepth: number;
  readonly keyQueueDepth: number;
  /** Longest wait for a first slot, in milliseconds. */
  readonly queueWaitMs: number;
  /**
   * Whether what computes keeps a slot for an utterance as long as that is open: then no more are opened than there are
   * slots, and who gave its slot up will find it again. No unless told.
   */
  readonly keepsSlots?: boolean;
  /** What slots that are kept cost: then nobody waits for one that cannot come in time. */
  readonly price?: SlotPrice;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/** For how long slots are taken. */
export interface SlotPrice {
  /** Seconds of a slot for each second of speech, at least. */
  readonly perSecond: number;
  /** Longest wait for a first slot after which the first sound still comes in time, in milliseconds. */
  readonly patienceMs: number;
}

/** A slot among the utterances that are computed. It may go to another, and is then waited for again. */
export interface Slot {
  /** Nothing is computed just now: the client has not asked for more, or the words are not there yet. */
  rest(): void;
  /** Nothing will be computed for a while, though the client asks for it: the slot is anybody's, at once. */
  pause(): void;
  /**
   * A frame is about to be computed. `null` when that may begin, else a promise to wait for, which throws the signal's
   * reason. `aheadS`: seconds of audio given beyond what a listener in real time has heard.
   */
  work(aheadS: number): Promise<void> | null;
  /** Calling it twice is harmless. */
  release(): void;
}

/** A slot that has rested this long, in milliseconds, goes to whoever waits. */
const REST_MS = 500;
/** Who is this far ahead of its listener, in seconds, lets others go first. */
const AHEAD_S = 1;
/** For each slot two utterances may be open: one that is computed and one that gave its slot up. */
const OPEN_PER_SLOT = 2;
/** Where no further one may be open, one that has rested this long, in milliseconds, is ended for who waits. */
const IDLE_MS = 5_000;
/** How often those who rest are looked at while somebody waits, in milliseconds. */
const LOOK_MS = 100;

/** What is shared, for messages, as a keyed semaphore has it. */
export const SPEAKING = "utterances being spoken";

/**
 * Decides who is computed now, who waits, and who is told to come back. A slot is held only while something is computed
 * in it: who rests loses it to whoever waits, and so does, between two frames, who is well ahead of its listener or
 * whose key has more slots than the other that waits. No client and no key keeps others from being spoken for, and one
 * that is alone may have everything.
 */
export class UtteranceSlots {
  readonly #options: UtteranceSlotOptions;
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<QueueEntry>();
  readonly #open = new Set<Utterance>();
  readonly #openBy = new KeyCounter();
  readonly #activeBy = new KeyCounter();
  #look: NodeJS.Timeout | undefined;
  #isServing = false;
  #isClosed = false;

  constructor(options: UtteranceSlotOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** Places that somebody has, to compute in or to rest in. */
  get taken(): number {
    return this.#activeBy.total;
  }

  /** Utterances that are computed just now. */
  get active(): number {
    return count(this.#open, ({ state, restingSinceMs }) => state === "active" && restingSinceMs === null);
  }

  /** Utterances that have begun and wait: for a slot, for their client, for words, or to be less far ahead. */
  get paused(): number {
    return this.#open.size - this.active;
  }

  /** Requests that wait for their first slot. */
  get queued(): number {
    return count(this.#queue, isNew);
  }

  /** Why a further request of the key would be refused at once; `null` where it would not. */
  refusalFor(key: string): ServiceError | null {
    if (this.#isClosed) return shuttingDownError();
    const ofKey = count(this.#queue.of(key), isNew);
    return ofKey > 0 && ofKey >= this.#options.keyQueueDepth ? keyFullError(SPEAKING) : null;
  }

  /**
   * Resolves with a slot. Throws a `ServiceError` when too many wait (429 for too many of this key, 502 of all), when
   * the wait is too long or the server stops (502), and the signal's reason when that aborts. Where slots have a price, it
   * throws at once for whom none can be free in time: 429 where this key has them all.
   *
   * @param stop ends the utterance, when it has rested for long and others have no room
   * @param isBegun its words are written: a server that stops lets it finish
   * @param leastS seconds of speech that it will be at least
   */
  async enter(
    key: string,
    signal: AbortSignal,
    stop: (reason: ServiceError) => void,
    isBegun = false,
    leastS = 0,
  ): Promise<Slot> {
    signal.throwIfAborted();
    if (this.#isClosed && !isBegun) throw shuttingDownError();
    const { queueWaitMs, price } = this.#options;
    const utterance: Utterance = {
      key,
      signal,
      stop,
      state: "new",
      isBegun,
      isEnding: false,
      restingSinceMs: null,
      coming: null,
      entry: null,
      takesMs: 1_000 * leastS * (price?.perSecond ?? 0),
      sinceMs: null,
    };
    // What was spent on words that are written is not thrown away so soon.
    const waitMs = isBegun || price === undefined ? queueWaitMs : Math.min(queueWaitMs, price.patienceMs);
    await this.#turnOf(utterance, { waitMs, late: () => this.#fullFor(key) });
    return {
      rest: () => {
        utterance.restingSinceMs ??= this.#nowMs();
      },
      pause: () => {
        // It is not its client that keeps it: it is not idle.
        utterance.restingSinceMs = null;
        if (utterance.state !== "active") return;
        this.#pause(utterance);
        this.#serve();
      },
      work: (aheadS) => this.#work(utterance, aheadS),
      release: () => this.#leave(utterance),
    };
  }

  /** Refuses whoever waits for a first slot and whoever comes. Who has begun goes on. */
  close(): void {
    this.#isClosed = true;
    for (const entry of [...this.#queue]) {
      if (isNew(entry) && !entry.utterance.isBegun) entry.refuse(shuttingDownError());
    }
  }

  #work(utterance: Utterance, aheadS: number): Promise<void> | null {
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

  /** Whether the next who can go has more right to the slot. */
  #shouldYield({ key }: Utterance, aheadS: number): boolean {
    for (const next of this.#queue.firsts()) {
      if (this.#verdict(next) !== "take") continue;
      if (aheadS >= AHEAD_S || this.#activeBy.of(key) > this.#activeBy.of(next.key) + 1) return true;
    }
    return false;
  }

  /** Waits until the utterance is active. */
  #turnOf(utterance: Utterance, limit?: { waitMs: number; late: () => unknown }): Promise<void> {
    const { key, signal } = utterance;
    return waitForAdmission<void>(
      { key, signal, ...(limit === undefined ? {} : { limit }) },
      (waiter) => {
        const entry = { ...waiter, utterance };
        utterance.entry = entry;
        // Somebody listens already to who goes on.
        if (isNew(entry)) this.#queue.add(key, entry);
        else this.#queue.add(key, entry, isNew);
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
    const { queueDepth, keyQueueDepth, price } = this.#options;
    // Where the line is full, the key that has most in it gives way.
    if (this.queued > queueDepth) this.#queue.lastOfLongest(isNew)?.refuse(serverFullError(SPEAKING));
    else if (count(this.#queue.of(entry.key), isNew) > keyQueueDepth) entry.refuse(keyFullError(SPEAKING));
    else if (price !== undefined && !entry.utterance.isBegun) {
      const waitMs = this.#leastWaitMs(entry);
      if (waitMs > price.patienceMs) entry.refuse(this.#fullFor(entry.key, waitMs));
    }
  }

  /** The time until a slot can be free for a newcomer, at least: after what is spoken, and its key's that wait before it. */
  #leastWaitMs(entry: QueueEntry): number {
    const nowMs = this.#nowMs();
    const free = Array.from({ length: this.#options.concurrency }, () => 0);
    [...this.#open].forEach(({ sinceMs, takesMs }, at) => {
      free[at] = Math.max(0, (sinceMs ?? nowMs) + takesMs - nowMs);
    });
    for (const each of this.#queue.of(entry.key)) {
      free.sort((a, b) => a - b);
      if (each === entry) break;
      free[0]! += each.utterance.takesMs;
    }
    return free[0]!;
  }

  /** What is told where nobody can be let in: that it is this key itself that has every slot, or that others do. */
  #fullFor(key: string, retryAfterMs?: number): ServiceError {
    const { price, concurrency } = this.#options;
    const isOwn = price !== undefined && this.#openBy.of(key) >= concurrency;
    return isOwn ? keyFullError(SPEAKING, retryAfterMs) : serverFullError(SPEAKING, retryAfterMs);
  }

  #serve(): void {
    // Whoever is let in calls this once more.
    if (this.#isServing) return;
    this.#isServing = true;
    while (this.#isSomebodyNext() && this.#hasRoom()) {
      const next = this.#queue.next(
        (entry) => this.#verdict(entry),
        ({ key }) => this.#activeBy.of(key),
      )!;
      this.#activate(next.utterance);
      next.admit();
    }
    this.#isServing = false;
    clearTimeout(this.#look);
    if (this.#queue.size > 0) this.#look = setTimeout(() => this.#lookAround(), LOOK_MS);
  }

  #activate(utterance: Utterance): void {
    if (utterance.state === "new") {
      this.#open.add(utterance);
      this.#openBy.add(utterance.key, 1);
      utterance.sinceMs = this.#nowMs();
    }
    utterance.state = "active";
    utterance.restingSinceMs = null;
    this.#activeBy.add(utterance.key, 1);
  }

  #isSomebodyNext(): boolean {
    for (const first of this.#queue.firsts()) if (this.#verdict(first) === "take") return true;
    return false;
  }

  /** Whether it may have a slot that is free. */
  #verdict({ utterance: { key, state } }: QueueEntry): Verdict {
    if (state !== "new") return "take";
    return this.#openBy.of(key) < this.#options.keyConcurrency && this.#mayOpen(key) ? "take" : "pass";
  }

  /** Where as many are open as may be, a key that has less than its part of them may still open one. */
  #mayOpen(key: string): boolean {
    const { concurrency, keepsSlots = false } = this.#options;
    if (keepsSlots) return this.#open.size < concurrency;
    const maxOpen = OPEN_PER_SLOT * concurrency;
    return this.#open.size < maxOpen || this.#openBy.of(key) < Math.floor(maxOpen / (this.#openBy.keys + 1));
  }

  /** Whether a slot is free, or becomes so because the one that has rested longest has done so for long enough. */
  #hasRoom(): boolean {
    if (this.taken < this.#options.concurrency) return true;
    const longest = this.#longestResting(({ state }) => state === "active");
    if (longest === null || this.#nowMs() - longest.restingSinceMs! < REST_MS) return false;
    this.#pause(longest);
    return true;
  }

  #longestResting(isMeant: (utterance: Utterance) => boolean): Utterance | null {
    let longest: Utterance | null = null;
    for (const each of this.#open) {
      if (each.restingSinceMs === null || !isMeant(each)) continue;
      if (longest === null || each.restingSinceMs < longest.restingSinceMs!) longest = each;
    }
    return longest;
  }

  #lookAround(): void {
    this.#serve();
    if (!this.#isOpeningAwaited()) return;
    for (const { isEnding } of this.#open) if (isEnding) return;
    // Where slots are kept, nobody takes that of one who rests.
    const keepsSlots = this.#options.keepsSlots === true;
    const idle = this.#longestResting(({ state }) => keepsSlots || state === "paused");
    if (idle === null || this.#nowMs() - idle.restingSinceMs! < IDLE_MS) return;
    idle.isEnding = true;
    idle.stop(idleTooLongError());
  }

  /** Whether a newcomer waits for nothing but that another utterance ends. */
  #isOpeningAwaited(): boolean {
    for (const entry of this.#queue.firsts()) {
      const { key } = entry;
      if (!isNew(entry) || this.#mayOpen(key)) continue;
      if (this.#openBy.of(key) < this.#options.keyConcurrency) return true;
    }
    return false;
  }

  #pause(utterance: Utterance): void {
    utterance.state = "paused";
    this.#activeBy.add(utterance.key, -1);
  }

  #leave(utterance: Utterance): void {
    if (!this.#open.delete(utterance)) return;
    this.#openBy.add(utterance.key, -1);
    if (utterance.state === "active") this.#activeBy.add(utterance.key, -1);
    // It may still wait to go on: nobody will take the slot.
    utterance.entry?.refuse(new Error("the slot was given back"));
    this.#serve();
  }
}

/** An utterance that is open, or asks to be. */
interface Utterance {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly stop: (reason: ServiceError) => void;
  state: "new" | "active" | "paused";
  /** Its words were written before it asked for a slot. */
  readonly isBegun: boolean;
  /** It was told to end. */
  isEnding: boolean;
  /** Since when nothing is computed for it, in milliseconds; null while something is. */
  restingSinceMs: number | null;
  /** While it waits to go on. */
  coming: Promise<void> | null;
  entry: QueueEntry | null;
  /** For how long it takes a slot, in milliseconds, at least; 0 where nobody knows. */
  readonly takesMs: number;
  /** When it got its first slot, in milliseconds. */
  sinceMs: number | null;
}

interface QueueEntry extends Waiter<void> {
  readonly utterance: Utterance;
}

function isNew({ utterance }: QueueEntry): boolean {
  return utterance.state === "new";
}

function count<T>(items: Iterable<T>, isMeant: (item: T) => boolean): number {
  let found = 0;
  for (const item of items) if (isMeant(item)) found++;
  return found;
}

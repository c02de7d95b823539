import { keyFullError, serverFullError, shuttingDownError } from "./capacity-errors.ts";
import { FairQueue, KeyCounter, type Verdict, type Waiter, waitForAdmission } from "./fair-queue.ts";

export interface KeyedSemaphoreOptions {
  /** Name of the resource in messages: `turns being written`. */
  readonly what: string;
  /** Units in use at once, in total and per key. A request for more than that gets all of it. */
  readonly total: number;
  readonly perKey: number;
  /** Requests that may wait, in total and per key. */
  readonly queueDepth: number;
  readonly keyQueueDepth: number;
  /** Longest wait, in milliseconds. */
  readonly waitMs: number;
}

export interface Permit {
  readonly units: number;
  /** Gives back all units beyond this number; never takes more. */
  shrink(units: number): void;
  /** Idempotent. */
  release(): void;
}

/** Urgency of a request. */
export interface Priority {
  /** Returns the rank, from 0, the most urgent. It may change while the request waits. */
  readonly rank: () => number;
  /** Called while the request holds units and a more urgent one has to wait. */
  readonly onWanted?: () => void;
}

const EQUAL: Priority = { rank: () => 0 };
/** Milliseconds after which a waiting request gets rank 0, so that more urgent ones cannot starve it. */
const MAX_PASSED_MS = 1_000;

/** Part of the total that a key without units gets at once, even if there is no more. */
const GUARANTEED_SHARE = 1 / 16;

interface QueueEntry extends Waiter<Permit> {
  readonly units: number;
  readonly priority: Priority;
  readonly sinceMs: number;
}

/**
 * Limited resource shared between keys. Each key has a maximum. Waiting requests are admitted by rank; at equal rank
 * the keys take turns. A large request that is first in turn blocks smaller ones of other keys, so that it is not
 * starved; but a key that holds nothing may always take {@link GUARANTEED_SHARE}.
 */
export class KeyedSemaphore {
  readonly #options: KeyedSemaphoreOptions;
  readonly #queue = new FairQueue<QueueEntry>();
  readonly #used = new KeyCounter();
  readonly #use = new RecentUse();
  /** Requests that hold units and may give them up, with their keys. */
  readonly #holders = new Map<Priority, string>();
  #isServing = false;
  #isClosed = false;

  constructor(options: KeyedSemaphoreOptions) {
    this.#options = options;
  }

  get what(): string {
    return this.#options.what;
  }

  get used(): number {
    return this.#used.total;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Whether a request waits because too little is left in total, not because of its own key's maximum. */
  get isShort(): boolean {
    for (const { key, units } of this.#queue.firsts()) if (this.#fits(key, units) === "wait") return true;
    return false;
  }

  /**
   * Returns whether a key could use `more` units on average. Judges by each key's recent use (a decaying mean): a key
   * gets at least the total divided by the active keys, or whatever the others leave.
   */
  canSustain(key: string, more: number): boolean {
    const { total, perKey } = this.#options;
    const own = this.#use.meanOf(key);
    const share = total / (this.#use.activeKeys + (own === 0 ? 1 : 0));
    return own + more <= Math.min(perKey, Math.max(share, total - (this.#use.total - own)));
  }

  /**
   * Resolves once the key holds the units. Rejects with a `ServiceError` if too many wait (429 for this key, 502 in
   * total), if the wait is too long or the server stops (502), and with the signal's reason.
   */
  async enter(
    key: string,
    units: number,
    signal: AbortSignal,
    waitMs = this.#options.waitMs,
    priority = EQUAL,
  ): Promise<Permit> {
    signal.throwIfAborted();
    const { what, total, perKey, queueDepth, keyQueueDepth } = this.#options;
    if (this.#isClosed) throw shuttingDownError();
    const wanted = Math.min(units, total, perKey);
    const isLittle = this.#used.of(key) === 0 && wanted <= total * GUARANTEED_SHARE;
    const verdict = this.#fits(key, wanted);
    if (verdict === "take" && (isLittle || !this.isShort)) return this.#hold(key, wanted, priority);
    if (this.#queue.of(key).length >= keyQueueDepth) throw keyFullError(what);
    for (const [holder, owner] of this.#holders) {
      if (holder.rank() <= priority.rank() || (owner !== key && verdict !== "wait")) continue;
      // One gives way to each request.
      this.#holders.delete(holder);
      holder.onWanted?.();
      break;
    }
    let entry: QueueEntry | undefined;
    return waitForAdmission<Permit>(
      { key, signal, limit: { waitMs, late: () => serverFullError(what) } },
      (waiter) => {
        entry = { ...waiter, units: wanted, priority, sinceMs: performance.now() };
        this.#queue.add(key, entry);
        this.#serve();
        // A full queue drops the newest request of the key that has most in it.
        if (this.#queue.size > queueDepth) this.#queue.lastOfLongest()?.refuse(serverFullError(what));
      },
      () => {
        if (entry !== undefined) this.#queue.remove(key, entry);
        this.#serve();
      },
    );
  }

  /** Refuses all waiting and further requests. Units in use stay so. */
  close(): void {
    this.#isClosed = true;
    for (const entry of this.#queue.takeAll()) entry.refuse(shuttingDownError());
  }

  #fits(key: string, units: number): Verdict {
    const { total, perKey } = this.#options;
    if (this.#used.of(key) === 0 && units <= total * GUARANTEED_SHARE) return "take";
    if (this.#used.of(key) + units > perKey) return "pass";
    return this.#used.total + units > total ? "wait" : "take";
  }

  #serve(): void {
    // Admitting an entry calls this again.
    if (this.#isServing) return;
    this.#isServing = true;
    for (;;) {
      const nowMs = performance.now();
      const entry = this.#queue.next(
        ({ key, units }) => this.#fits(key, units),
        ({ priority, sinceMs }) => (nowMs - sinceMs < MAX_PASSED_MS ? priority.rank() : 0),
      );
      if (entry === undefined) break;
      entry.admit(this.#hold(entry.key, entry.units, entry.priority));
    }
    this.#isServing = false;
  }

  #hold(key: string, units: number, priority: Priority): Permit {
    let held = units;
    let sinceMs = performance.now();
    this.#used.add(key, held);
    if (priority.onWanted !== undefined) this.#holders.set(priority, key);
    const shrink = (to: number): void => {
      const less = held - to;
      if (less <= 0) return;
      const nowMs = performance.now();
      this.#use.add(key, held * (nowMs - sinceMs));
      sinceMs = nowMs;
      held = to;
      if (to === 0) this.#holders.delete(priority);
      this.#used.add(key, -less);
      this.#serve();
    };
    return {
      get units() {
        return held;
      },
      shrink,
      release: () => shrink(0),
    };
  }
}

/** Time constant of the mean, in milliseconds. */
const DECAY_MS = 30_000;
/** Mean below which a key counts as idle. */
const NEGLIGIBLE = 1e-4;

/** Recent use of each key, as an exponentially decaying mean. */
export class RecentUse {
  readonly #nowMs: () => number;
  readonly #keys = new Map<string, { mean: number; atMs: number }>();
  /** Number of keys beyond which idle ones are dropped. */
  #maxKeys = 1_000;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get activeKeys(): number {
    this.#forget();
    return this.#keys.size;
  }

  get total(): number {
    return [...this.#keys.keys()].reduce((sum, key) => sum + this.meanOf(key), 0);
  }

  meanOf(key: string): number {
    const known = this.#keys.get(key);
    if (known === undefined) return 0;
    return known.mean * Math.exp((known.atMs - this.#nowMs()) / DECAY_MS);
  }

  /** @param unitMs units times the milliseconds for which the key held them */
  add(key: string, unitMs: number): void {
    this.#keys.set(key, { mean: this.meanOf(key) + unitMs / DECAY_MS, atMs: this.#nowMs() });
    if (this.#keys.size <= this.#maxKeys) return;
    this.#forget();
    this.#maxKeys = Math.max(1_000, 2 * this.#keys.size);
  }

  #forget(): void {
    for (const key of this.#keys.keys()) if (this.meanOf(key) < NEGLIGIBLE) this.#keys.delete(key);
  }
}

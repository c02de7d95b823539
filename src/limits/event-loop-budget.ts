/** Most points that a budget holds, and points it regains per second. */
export interface BudgetOptions {
  readonly burst: number;
  readonly perS: number;
}

/**
 * Work that a connection may cause without a token of its key. A point is about 40 ns of the main thread: 20 ms at
 * once, then a quarter of a percent of its time.
 */
export const CONNECTION_BUDGET: BudgetOptions = { burst: 512 * 1024, perS: 64 * 1024 };
/** The same for a realtime session, whose audio may come in 200 events a second, and for all sessions of a key. */
export const SESSION_BUDGET: BudgetOptions = { burst: 2 * 2 ** 20, perS: 256 * 1024 };
const KEY_BUDGET: BudgetOptions = { burst: 8 * 2 ** 20, perS: 2 ** 20 };

/**
 * Bucket of points that may be overdrawn: work is charged when it is done, and the connection waits before its next
 * event.
 */
export class EventBudget {
  readonly #terms: BudgetOptions;
  readonly #nowMs: () => number;
  #points: number;
  #atMs: number;

  constructor(terms: BudgetOptions = CONNECTION_BUDGET, nowMs: () => number = () => performance.now()) {
    this.#terms = terms;
    this.#nowMs = nowMs;
    this.#points = terms.burst;
    this.#atMs = nowMs();
  }

  spend(points: number): void {
    this.#points = this.#left - points;
    this.#atMs = this.#nowMs();
  }

  /** Whole milliseconds, rounded up, until a point is available; 0 if one is. */
  get waitMs(): number {
    return Math.max(0, Math.ceil((1_000 * (1 - this.#left)) / this.#terms.perS));
  }

  get hasReserve(): boolean {
    return this.#left >= 0.75 * this.#terms.burst;
  }

  get #left(): number {
    const { burst, perS } = this.#terms;
    return Math.min(burst, this.#points + (perS * Math.max(0, this.#nowMs() - this.#atMs)) / 1_000);
  }
}

/** Budget of each key that has a long connection open. */
export class KeyBudgets {
  readonly #keys = new Map<string, { readonly budget: EventBudget; connections: number }>();

  get size(): number {
    return this.#keys.size;
  }

  /** Returns the key's budget, which is dropped once every connection that opened it has closed it. */
  open(key: string): { readonly budget: EventBudget; readonly close: () => void } {
    const held = this.#keys.get(key) ?? { budget: new EventBudget(KEY_BUDGET), connections: 0 };
    this.#keys.set(key, held);
    held.connections += 1;
    return {
      budget: held.budget,
      close: () => {
        held.connections -= 1;
        if (held.connections === 0) this.#keys.delete(key);
      },
    };
  }
}

/** Time that connections may take of one turn of the event loop, in milliseconds. */
const SLICE_MS = 1;

/**
 * Shares a part of every turn of the event loop among all long connections. They continue in the order in which they
 * asked until the part is used up; then everything else in the process runs. A connection with more to do asks again
 * and queues after the others.
 */
export class EventLoopShare {
  readonly #waiting: (() => void)[] = [];
  readonly #nowMs: () => number;
  #isGoingOn = false;
  #endsMs = 0;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isGoingOn) return;
      this.#isGoingOn = true;
      setImmediate(this.#begin);
    });
  }

  readonly #begin = (): void => {
    this.#endsMs = this.#nowMs() + SLICE_MS;
    this.#letGo();
  };

  /** The next tick runs only after all promises that the resolved one has led to. */
  readonly #letGo = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#isGoingOn = false;
      return;
    }
    next();
    process.nextTick(this.#goOn);
  };

  readonly #goOn = (): void => {
    if (this.#waiting.length > 0 && this.#nowMs() >= this.#endsMs) setImmediate(this.#begin);
    else this.#letGo();
  };
}

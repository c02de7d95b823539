/** Work in steps, each due at some time. */
export interface Task {
  /** Time when its next step should be done, in milliseconds. */
  readonly dueMs: number;
  readonly isRunnable: boolean;
  /** Key of the task: when time is short, keys share it equally. */
  readonly keyId: string;
  /** Does one step; never throws. */
  step(): Promise<void>;
}

/**
 * Runs tasks one step at a time, the earliest due first (Liu and Layland, 1973). While several are overdue, their
 * keys get equal time ({@link TimeShares}), however many tasks each has.
 */
export interface Scheduler {
  add(task: Task): void;
  remove(task: Task): void;
  /** Signals that a task may have become runnable. */
  wake(): void;
  /** Calls back between two steps; at once while idle. */
  between(callback: () => void): void;
  /**
   * Returns the wall time since the last call in which a task was runnable, in milliseconds; that of tasks that ran at
   * the same time is added up.
   */
  takeWorkMs(): number;
  /** Begins no further step; resolves when the running one is done. */
  stop(): Promise<void>;
}

/**
 * Lets the event loop turn once between two steps, so that new messages (an utterance that is due at once, a stop)
 * are seen before the next step is chosen.
 */
export function createScheduler(now: () => number = () => performance.now()): Scheduler {
  const shares = new TimeShares();
  const tasks = new Set<Task>();
  const callbacks: (() => void)[] = [];
  let stopped = false;
  let wake = (): void => {};
  let idleMs = 0;
  let takenMs = now();
  const running = run();

  async function run(): Promise<void> {
    while (!stopped) {
      for (const callback of callbacks.splice(0)) callback();
      const beganMs = now();
      const task = chooseTask(tasks, shares, beganMs);
      if (task === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        idleMs += now() - beganMs;
      } else {
        const isLate = task.dueMs <= beganMs;
        await task.step();
        if (isLate) shares.charge(task.keyId, now() - beganMs);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    add(task) {
      tasks.add(task);
      wake();
    },
    remove(task) {
      tasks.delete(task);
      for (const { keyId } of tasks) if (keyId === task.keyId) return;
      shares.forget(task.keyId);
    },
    wake() {
      wake();
    },
    between(callback) {
      callbacks.push(callback);
      wake();
    },
    takeWorkMs() {
      const sinceMs = takenMs + idleMs;
      takenMs = now();
      idleMs = 0;
      return Math.max(0, takenMs - sinceMs);
    },
    stop() {
      stopped = true;
      wake();
      return running;
    },
  };
}

function chooseTask(tasks: Iterable<Task>, shares: TimeShares, nowMs: number): Task | undefined {
  let chosen: Task | undefined;
  let chosenUsedMs = 0;
  for (const task of tasks) {
    if (!task.isRunnable) continue;
    // A task that is ahead of time competes only by its due time, after all overdue ones.
    const usedMs = task.dueMs <= nowMs ? shares.usedMs(task.keyId) : Number.POSITIVE_INFINITY;
    const isBetter = usedMs === chosenUsedMs ? task.dueMs < (chosen?.dueMs ?? 0) : usedMs < chosenUsedMs;
    if (chosen !== undefined && !isBetter) continue;
    chosen = task;
    chosenUsedMs = usedMs;
  }
  return chosen;
}

/**
 * Time used by each key. A new or returning key starts at the others' level, so that unused time is not saved up
 * (start-time fair queueing; Goyal, Vin and Cheng, 1996).
 */
export class TimeShares {
  readonly #usedMs = new Map<string, number>();
  #nowAtMs = 0;

  usedMs(key: string): number {
    return Math.max(this.#usedMs.get(key) ?? 0, this.#nowAtMs);
  }

  charge(key: string, ms: number): void {
    const startedAtMs = this.usedMs(key);
    this.#nowAtMs = startedAtMs;
    this.#usedMs.set(key, startedAtMs + ms);
  }

  forget(key: string): void {
    this.#usedMs.delete(key);
  }
}

/**
 * Runs the steps of all runnable tasks at the same time, for a model that computes them together in its own order.
 * The event loop turns between two runs of a graph, so callbacks need not wait for a step.
 */
export function createBatchScheduler(): Scheduler {
  const tasks = new Set<Task>();
  const running = new Map<Task, Promise<void>>();
  let isStopped = false;
  let workMs = 0;

  const begin = (task: Task): void => {
    if (isStopped || !tasks.has(task) || running.has(task) || !task.isRunnable) return;
    const beganMs = performance.now();
    const step = task.step().then(() => {
      workMs += performance.now() - beganMs;
      running.delete(task);
      begin(task);
    });
    running.set(task, step);
  };
  const beginAll = (): void => {
    for (const task of tasks) begin(task);
  };

  return {
    add(task) {
      tasks.add(task);
      begin(task);
    },
    remove(task) {
      tasks.delete(task);
    },
    wake: beginAll,
    between(callback) {
      callback();
    },
    takeWorkMs() {
      const takenMs = workMs;
      workMs = 0;
      return takenMs;
    },
    async stop() {
      isStopped = true;
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

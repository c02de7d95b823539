/** Work that comes in steps, each due at some time. */
export interface Task {
  /** When its next step should be done, in milliseconds. */
  readonly dueMs: number;
  readonly isRunnable: boolean;
  /** Does one step; never throws. */
  step(): Promise<void>;
}

/** Runs tasks one step at a time, the one that is due first each time (Liu and Layland, 1973). */
export interface Scheduler {
  add(task: Task): void;
  remove(task: Task): void;
  /** Some task may have become runnable. */
  wake(): void;
  /** Calls back between two steps: as soon as the one that runs is done, at once while there is nothing to do. */
  between(callback: () => void): void;
  /** Begins no further step; resolves when the one that runs is done. */
  stop(): Promise<void>;
}

/**
 * Between two steps the event loop goes round once, so that what has come in meanwhile (an utterance that is due at
 * once, a stop) is seen before the next is chosen.
 */
export function createScheduler(): Scheduler {
  const tasks = new Set<Task>();
  const callbacks: (() => void)[] = [];
  let stopped = false;
  let wake = (): void => {};
  const running = run();

  async function run(): Promise<void> {
    while (!stopped) {
      for (const callback of callbacks.splice(0)) callback();
      const task = dueFirst(tasks);
      if (task === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else await task.step();
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
    },
    wake() {
      wake();
    },
    between(callback) {
      callbacks.push(callback);
      wake();
    },
    stop() {
      stopped = true;
      wake();
      return running;
    },
  };
}

function dueFirst(tasks: Iterable<Task>): Task | undefined {
  let first: Task | undefined;
  for (const task of tasks) {
    if (task.isRunnable && (first === undefined || task.dueMs < first.dueMs)) first = task;
  }
  return first;
}
